// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"fmt"
	"reflect"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// scaleStorage serves the subresource scale: the replicas of an object with other fields.
type scaleStorage struct {
	store *registry.Store
	gv    schema.GroupVersion
}

var (
	_ rest.Patcher                  = scaleStorage{}
	_ rest.GroupVersionKindProvider = scaleStorage{}
)

func (s scaleStorage) New() runtime.Object { return &autoscalingv1.Scale{} }
func (s scaleStorage) Destroy()            {}

func (s scaleStorage) GroupVersionKind(schema.GroupVersion) schema.GroupVersionKind {
	return autoscalingv1.SchemeGroupVersion.WithKind("Scale")
}

func (s scaleStorage) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	obj, err := s.store.Get(ctx, name, options)
	if err != nil {
		return nil, err
	}
	return scaleOf(obj)
}

func (s scaleStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	obj, _, err := s.store.Update(ctx, name, scaleUpdate{info, s.gv},
		func(ctx context.Context, obj runtime.Object) error {
			scale, err := scaleOf(obj)
			if err != nil {
				return err
			}
			return create(ctx, scale)
		},
		func(ctx context.Context, obj, old runtime.Object) error {
			scale, err := scaleOf(obj)
			if err != nil {
				return err
			}
			before, err := scaleOf(old)
			if err != nil {
				return err
			}
			return update(ctx, scale, before)
		}, false, options)
	if err != nil {
		return nil, false, err
	}
	scale, err := scaleOf(obj)
	return scale, false, err
}

func (s scaleStorage) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return rest.NewDefaultTableConvertor(autoscalingv1.Resource("scales")).ConvertToTable(ctx, obj, options)
}

func scaleOf(obj runtime.Object) (*autoscalingv1.Scale, error) {
	spec, _ := partOf(obj, "Spec")
	status, _ := partOf(obj, "Status")
	scale := &autoscalingv1.Scale{
		ObjectMeta: metav1.ObjectMeta{
			Name: accessor(obj).GetName(), Namespace: accessor(obj).GetNamespace(), UID: accessor(obj).GetUID(),
			ResourceVersion: accessor(obj).GetResourceVersion(), CreationTimestamp: accessor(obj).GetCreationTimestamp(),
		},
		Spec:   autoscalingv1.ScaleSpec{Replicas: 1},
		Status: autoscalingv1.ScaleStatus{Replicas: int32(status.FieldByName("Replicas").Int())},
	}
	if replicas := spec.FieldByName("Replicas").Interface().(*int32); replicas != nil {
		scale.Spec.Replicas = *replicas
	}
	selector, err := metav1.LabelSelectorAsSelector(spec.FieldByName("Selector").Interface().(*metav1.LabelSelector))
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("read spec.selector: %w", err))
	}
	scale.Status.Selector = selector.String()
	return scale, nil
}

type scaleUpdate struct {
	rest.UpdatedObjectInfo
	gv schema.GroupVersion
}

func (u scaleUpdate) UpdatedObject(ctx context.Context, old runtime.Object) (runtime.Object, error) {
	replicas := fieldpath.MakePathOrDie("spec", "replicas")
	managers := managedfields.NewScaleHandler(accessor(old).GetManagedFields(), u.gv, managedfields.ResourcePathMappings{u.gv.String(): replicas})
	before, err := scaleOf(old)
	if err != nil {
		return nil, err
	}
	if before.ManagedFields, err = managers.ToSubresource(); err != nil {
		return nil, err
	}
	updated, err := u.UpdatedObjectInfo.UpdatedObject(ctx, before)
	if err != nil {
		return nil, err
	}
	scale, ok := updated.(*autoscalingv1.Scale)
	if !ok {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("expected a Scale and got %T", updated))
	}
	if n := scale.Spec.Replicas; n < 0 {
		return nil, apierrors.NewInvalid(autoscalingv1.SchemeGroupVersion.WithKind("Scale").GroupKind(), scale.Name,
			field.ErrorList{field.Invalid(field.NewPath("spec", "replicas"), n, "must be at least 0")})
	}
	obj := old.DeepCopyObject()
	spec, _ := partOf(obj, "Spec")
	spec.FieldByName("Replicas").Set(reflect.ValueOf(&scale.Spec.Replicas))
	accessor(obj).SetResourceVersion(scale.ResourceVersion)
	fields, err := managers.ToParent(scale.ManagedFields)
	if err != nil {
		return nil, err
	}
	accessor(obj).SetManagedFields(fields)
	return obj, nil
}
