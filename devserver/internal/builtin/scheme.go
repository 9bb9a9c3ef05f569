// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// schemeOf makes the scheme once, and not for programs that import this package without using it.
var schemeOf = sync.OnceValue(newScheme)

func newScheme() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, coordinationv1.AddToScheme,
		discoveryv1.AddToScheme, eventsv1.AddToScheme, admissionregistrationv1.AddToScheme, autoscalingv1.AddToScheme,
		addEvents, addInternal, addDefaults,
	} {
		utilruntime.Must(add(s)) // fails only for types that contradict each other
	}
	v1 := schema.GroupVersion{Version: "v1"}
	s.AddUnversionedTypes(v1, &metav1.Status{}, &metav1.APIVersions{}, &metav1.APIGroupList{}, &metav1.APIGroup{}, &metav1.APIResourceList{})
	return s
}

// addInternal makes each v1 type the internal version of its kind as well, and registers the kind's
// selectable fields.
func addInternal(s *runtime.Scheme) error {
	versions := map[string]schema.GroupVersion{autoscalingv1.GroupName: autoscalingv1.SchemeGroupVersion}
	for _, k := range kinds() {
		versions[k.gv.Group] = k.gv
		s.AddKnownTypes(schema.GroupVersion{Group: k.gv.Group, Version: runtime.APIVersionInternal}, k.object, k.list)
		if err := s.AddFieldLabelConversionFunc(k.gvk(s), k.fieldLabel); err != nil {
			return err
		}
		if k.also.Empty() {
			continue
		}
		versions[k.also.Group] = k.also
		if err := s.AddFieldLabelConversionFunc(k.also.WithKind(k.gvk(s).Kind), newEventLabel); err != nil {
			return err
		}
	}
	s.AddKnownTypes(schema.GroupVersion{Group: autoscalingv1.GroupName, Version: runtime.APIVersionInternal}, &autoscalingv1.Scale{})
	for _, gv := range versions {
		if err := s.SetVersionPriority(gv); err != nil {
			return err
		}
	}
	return nil
}

func (k *kind) gvk(s *runtime.Scheme) schema.GroupVersionKind {
	names, _, err := s.ObjectKinds(k.object)
	utilruntime.Must(err)
	for _, name := range names {
		if name.GroupVersion() == k.gv {
			return name
		}
	}
	panic(fmt.Sprintf("%T is not a kind of %s", k.object, k.gv))
}

func (k *kind) fieldLabel(label, value string) (string, string, error) {
	known := label == "metadata.name" || label == "metadata.namespace" && !k.cluster
	if !known && k.selectable != nil {
		known = k.selectable(k.newObject()).Has(label)
	}
	if !known {
		return "", "", fmt.Errorf("field label not supported: %s", label)
	}
	return label, value, nil
}

func newEventLabel(label, value string) (string, string, error) {
	name, known := newEventLabels[label]
	if !known {
		return "", "", fmt.Errorf("field label not supported: %s", label)
	}
	return name, value, nil
}
