// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"fmt"
	"slices"
	"sync"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
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
		authenticationv1.AddToScheme, authorizationv1.AddToScheme, autoscalingv2.AddToScheme, certificatesv1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme,
		rbacv1.AddToScheme, schedulingv1.AddToScheme, storagev1.AddToScheme,
		addEvents, addAutoscalers, addInternal, addDefaults,
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
	versions := map[string][]schema.GroupVersion{} // of each group, the preferred one first
	serve := func(gv schema.GroupVersion) {
		if !slices.Contains(versions[gv.Group], gv) {
			versions[gv.Group] = append(versions[gv.Group], gv)
		}
	}
	for _, k := range kinds() {
		serve(k.gv)
		s.AddKnownTypes(schema.GroupVersion{Group: k.gv.Group, Version: runtime.APIVersionInternal}, k.object, k.list)
		if err := s.AddFieldLabelConversionFunc(k.gvk(s), k.fieldLabel); err != nil {
			return err
		}
		if k.alias.Empty() {
			continue
		}
		serve(k.alias)
		label := k.aliasLabel
		if label == nil {
			label = k.fieldLabel
		}
		if err := s.AddFieldLabelConversionFunc(k.alias.WithKind(k.gvk(s).Kind), label); err != nil {
			return err
		}
	}
	internal := func(group string, objs ...runtime.Object) {
		s.AddKnownTypes(schema.GroupVersion{Group: group, Version: runtime.APIVersionInternal}, objs...)
	}
	internal(autoscalingv1.GroupName, &autoscalingv1.Scale{})
	internal(authenticationv1.GroupName, &authenticationv1.TokenRequest{})
	internal(corev1.GroupName, &corev1.Binding{})
	internal(policyv1.GroupName, &policyv1.Eviction{})
	for _, r := range reviews() {
		internal(r.gv.Group, r.object)
		serve(r.gv)
	}
	for _, gvs := range versions {
		if err := s.SetVersionPriority(gvs...); err != nil {
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
	known := label == "metadata.name" || label == "metadata.namespace" && !k.clusterScoped
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
