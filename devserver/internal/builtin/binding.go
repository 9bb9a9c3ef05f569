// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
)

// bindingStorage serves the subresource binding of Pods. Schedulers create it to choose a node;
// it has no other verb.
type bindingStorage struct{ store *registry.Store }

var _ rest.NamedCreater = bindingStorage{}

// anyUpdate is a strategy that accepts every change.
type anyUpdate struct{ strategy }

func (anyUpdate) PrepareForUpdate(context.Context, runtime.Object, runtime.Object) {}
func (anyUpdate) ValidateUpdate(context.Context, runtime.Object, runtime.Object) field.ErrorList {
	return nil
}

// withAnyUpdate returns the store for writes by the server itself.
func withAnyUpdate(main *registry.Store) *registry.Store {
	store := *main
	store.UpdateStrategy = anyUpdate{main.UpdateStrategy.(strategy)}
	return &store
}

func (s bindingStorage) New() runtime.Object { return &corev1.Binding{} }
func (s bindingStorage) Destroy()            {}

// Create sets the node of a Pod without one.
func (s bindingStorage) Create(ctx context.Context, name string, obj runtime.Object, valid rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	binding := obj.(*corev1.Binding)
	invalid := func(err *field.Error) error {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Binding").GroupKind(), name, field.ErrorList{err})
	}
	at := field.NewPath("target")
	switch {
	case binding.Target.Kind != "" && binding.Target.Kind != "Node":
		return nil, invalid(field.NotSupported(at.Child("kind"), binding.Target.Kind, []string{"Node", "<empty>"}))
	case binding.Target.Name == "":
		return nil, invalid(field.Required(at.Child("name"), ""))
	}
	if valid != nil {
		if err := valid(ctx, obj); err != nil {
			return nil, err
		}
	}
	bind := func(_ context.Context, _, old runtime.Object) (runtime.Object, error) {
		pod := old.(*corev1.Pod).DeepCopy()
		conflict := func(format string, args ...any) error {
			return apierrors.NewConflict(corev1.Resource("pods/binding"), name, fmt.Errorf(format, args...))
		}
		switch {
		case binding.UID != "" && binding.UID != pod.UID:
			return nil, conflict("precondition failed: UID in precondition: %v, UID in object meta: %v", binding.UID, pod.UID)
		case pod.DeletionTimestamp != nil:
			return nil, conflict("pod %s is being deleted, cannot be assigned to a host", name)
		case pod.Spec.NodeName != "":
			return nil, conflict("pod %v is already assigned to node %q", name, pod.Spec.NodeName)
		case len(pod.Spec.SchedulingGates) > 0:
			return nil, conflict("pod %v has non-empty .spec.schedulingGates", name)
		}
		pod.Spec.NodeName = binding.Target.Name
		pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{
			Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now(),
		})
		return pod, nil
	}
	_, _, err := s.store.Update(ctx, name, rest.DefaultUpdatedObjectInfo(nil, bind), rest.ValidateAllObjectFunc, rest.ValidateAllObjectUpdateFunc, false, &metav1.UpdateOptions{DryRun: options.DryRun})
	if err != nil {
		return nil, err
	}
	return &metav1.Status{Status: metav1.StatusSuccess}, nil
}
