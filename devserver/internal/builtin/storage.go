// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"context"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

func (k *kind) newObject() runtime.Object { return newLike(k.object) }
func (k *kind) newList() runtime.Object   { return newLike(k.list) }

func newLike(obj runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
}

func (k *kind) attributes(obj runtime.Object) (labels.Set, fields.Set, error) {
	set := fields.Set{}
	if k.selectable != nil {
		set = k.selectable(obj)
	}
	set["metadata.name"] = accessor(obj).GetName()
	if !k.clusterScoped {
		set["metadata.namespace"] = accessor(obj).GetNamespace()
	}
	return accessor(obj).GetLabels(), set, nil
}

type mainStorage struct {
	*registry.Store
	kind *kind
}

var (
	_ rest.StandardStorage    = mainStorage{}
	_ rest.ShortNamesProvider = mainStorage{}
	_ rest.CategoriesProvider = mainStorage{}
)

func newMainStorage(k *kind, options generic.RESTOptionsGetter) (mainStorage, error) {
	s := newStrategy(k)
	resource := schema.GroupResource{Group: k.gv.Group, Resource: k.resource}
	store := &registry.Store{
		NewFunc:                   k.newObject,
		NewListFunc:               k.newList,
		DefaultQualifiedResource:  resource,
		SingularQualifiedResource: schema.GroupResource{Group: k.gv.Group, Resource: k.singular},
		CreateStrategy:            s,
		UpdateStrategy:            s,
		DeleteStrategy:            s,
		ResetFieldsStrategy:       s,
		BeginUpdate:               keepKind,
		ReturnDeletedObject:       k.gracePeriod != nil || k.resource == "namespaces",
		TableConvertor:            k.columns,
	}
	if k.ttl > 0 {
		store.TTLFunc = func(runtime.Object, uint64, bool) (uint64, error) { return k.ttl, nil }
	}
	if err := store.CompleteWithOptions(&generic.StoreOptions{RESTOptions: options, AttrFunc: k.attributes}); err != nil {
		return mainStorage{}, fmt.Errorf("make the storage of %s: %w", resource, err)
	}
	return mainStorage{store, k}, nil
}

// keepKind sets apiVersion and kind to the stored ones. An object read from the storage has them;
// an applied one has not. The store would take that for a change.
func keepKind(_ context.Context, obj, old runtime.Object, _ *metav1.UpdateOptions) (registry.FinishFunc, error) {
	obj.GetObjectKind().SetGroupVersionKind(old.GetObjectKind().GroupVersionKind())
	return func(context.Context, bool) {}, nil
}

func (s mainStorage) ShortNames() []string { return s.kind.shortNames }

func (s mainStorage) Categories() []string {
	if s.kind.inCategoryAll {
		return []string{"all"}
	}
	return nil
}

type statusStorage struct{ store *registry.Store }

var (
	_ rest.Patcher             = statusStorage{}
	_ rest.ResetFieldsStrategy = statusStorage{}
	_ rest.TableConvertor      = statusStorage{}
)

func newStatusStorage(main *registry.Store, k *kind) statusStorage {
	store := *main
	store.UpdateStrategy = statusStrategy{newStrategy(k)}
	store.ResetFieldsStrategy = statusStrategy{newStrategy(k)}
	return statusStorage{&store}
}

func (s statusStorage) New() runtime.Object { return s.store.New() }
func (s statusStorage) Destroy()            {} // the main storage does it

func (s statusStorage) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	return s.store.Get(ctx, name, options)
}

func (s statusStorage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, create rest.ValidateObjectFunc, update rest.ValidateObjectUpdateFunc, _ bool, options *metav1.UpdateOptions) (runtime.Object, bool, error) {
	// never created by a write of its status
	return s.store.Update(ctx, name, info, create, update, false, options)
}

func (s statusStorage) GetResetFields() map[fieldpath.APIVersion]*fieldpath.Set {
	return s.store.GetResetFields()
}

func (s statusStorage) ConvertToTable(ctx context.Context, obj, options runtime.Object) (*metav1.Table, error) {
	return s.store.ConvertToTable(ctx, obj, options)
}
