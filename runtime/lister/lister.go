// SPDX-License-Identifier: Apache-2.0

// Package lister reads objects as client-go's listers do, by namespace, name and label selector, from a store.Reader.
// Generated listers embed what is here.
//
// Every call reads the newest snapshot at that moment and never waits; no goroutine is started. For several reads that
// must be consistent with each other, take one Snapshot and read that. Objects are shared and must not be changed.
package lister

import (
	"iter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Lister reads all objects of one resource. It may be used by any number of goroutines.
type Lister[T object.Object] interface {
	// List returns every object whose labels match the selector; a nil selector matches everything. The error is always
	// nil: it keeps the shape of client-go's listers. The slice is the caller's own, the objects are shared.
	List(selector labels.Selector) ([]T, error)
	// All yields every object of the snapshot that is newest when the loop begins.
	All() iter.Seq[T]
	// Snapshot returns the newest snapshot.
	Snapshot() store.Snapshot[T]
}

// NamespaceLister reads the objects of one namespace of a resource. It may be used by any number of goroutines.
type NamespaceLister[T object.Object] interface {
	// List returns every object of the namespace whose labels match the selector; a nil selector matches everything.
	// The error is always nil. The slice is the caller's own, the objects are shared.
	List(selector labels.Selector) ([]T, error)
	// All yields every object of the namespace in the snapshot that is newest when the loop begins.
	All() iter.Seq[T]
	// Get returns the object of this name. If there is none, the error satisfies apierrors.IsNotFound and names the
	// resource.
	Get(name string) (T, error)
}

// ClusterLister reads the objects of a cluster-scoped resource. It may be used by any number of goroutines.
type ClusterLister[T object.Object] interface {
	Lister[T]
	// Get returns the object of this name. If there is none, the error satisfies apierrors.IsNotFound and names the
	// resource.
	Get(name string) (T, error)
}

// Resource is all objects of one resource: a Lister, and a ClusterLister where the resource is cluster-scoped.
type Resource[T object.Object] struct {
	reader   store.Reader[T]
	resource schema.GroupResource
}

// New returns a lister of reader's objects. resource, with the plural name, appears in the errors of Get.
func New[T object.Object](reader store.Reader[T], resource schema.GroupResource) Resource[T] {
	return Resource[T]{reader, resource}
}

// List implements Lister.
func (r Resource[T]) List(selector labels.Selector) ([]T, error) {
	return r.Snapshot().List("", selector), nil
}

// All implements Lister.
func (r Resource[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { r.Snapshot().Scan("", nil, yield) }
}

// Snapshot implements Lister. The snapshot of the zero Resource is empty.
func (r Resource[T]) Snapshot() store.Snapshot[T] {
	if r.reader == nil {
		return store.Snapshot[T]{}
	}
	return r.reader.Snapshot()
}

// Namespace returns a lister of one namespace. For "" it is the lister of cluster-scoped objects: Get finds objects
// without a namespace, List and All return all objects, whatever their namespace.
func (r Resource[T]) Namespace(namespace string) Scope[T] { return Scope[T]{r, namespace} }

// Get implements ClusterLister: it finds objects without a namespace only.
func (r Resource[T]) Get(name string) (T, error) { return r.Namespace("").Get(name) }

// Scope is the objects of one namespace: a NamespaceLister.
type Scope[T object.Object] struct {
	all       Resource[T]
	namespace string
}

// List implements NamespaceLister.
func (s Scope[T]) List(selector labels.Selector) ([]T, error) {
	return s.all.Snapshot().List(s.namespace, selector), nil
}

// All implements NamespaceLister.
func (s Scope[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { s.all.Snapshot().Scan(s.namespace, nil, yield) }
}

// Get implements NamespaceLister.
func (s Scope[T]) Get(name string) (T, error) {
	obj, ok := s.all.Snapshot().Get(object.Key{Namespace: s.namespace, Name: name})
	return obj, found(ok, s.all.resource, name)
}

func found(ok bool, resource schema.GroupResource, name string) error {
	if ok {
		return nil
	}
	return apierrors.NewNotFound(resource, name)
}
