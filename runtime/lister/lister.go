// SPDX-License-Identifier: Apache-2.0

// Package lister reads objects from a [store.Reader] by namespace, name and label selector, as
// client-go's listers do. Generated listers embed its types.
//
// Every call reads the newest snapshot. It never waits and starts no goroutine. For several
// consistent reads, take one snapshot and read it. Objects are shared and must not be changed.
//
// An informer that has not synced does not know which objects exist. Until its first sync, List,
// and Get of a missing object, return an error that wraps informer.ErrNotSynced and has the reason;
// it does not satisfy apierrors.IsNotFound. The other methods return the objects that have arrived,
// and the first such read is logged. After the first sync neither happens any more, even if the
// informer is stopped. informer.WithEmptyBeforeSync turns this off. A store made without an
// informer counts as synced.
package lister

import (
	"fmt"
	"iter"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Lister reads all objects of one resource. It is safe for concurrent use.
type Lister[T object.Object] interface {
	// List returns every object whose labels match the selector; nil matches everything. The caller
	// owns the slice, but shares the objects. The error wraps informer.ErrNotSynced; it is nil once
	// the informer has synced.
	List(selector labels.Selector) ([]T, error)
	// All yields every object of the newest snapshot at the start of the loop.
	All() iter.Seq[T]
	// Snapshot returns the newest snapshot.
	Snapshot() *store.Snapshot[T]
}

// NamespaceLister reads the objects of one namespace of a resource. It is safe for concurrent use.
type NamespaceLister[T object.Object] interface {
	// List is like List of [Lister], for the objects of the namespace. The error is nil once the
	// informer has synced the namespace.
	List(selector labels.Selector) ([]T, error)
	// All yields every object of the namespace in the newest snapshot at the start of the loop.
	All() iter.Seq[T]
	// Get returns the object of this name. If there is none, the error satisfies
	// apierrors.IsNotFound and names the resource; if the informer has not synced, it wraps
	// informer.ErrNotSynced instead.
	Get(name string) (T, error)
}

// ClusterLister reads the objects of a cluster-scoped resource. It is safe for concurrent use.
type ClusterLister[T object.Object] interface {
	Lister[T]
	// Get returns the object of this name. Its errors are those of [NamespaceLister].
	Get(name string) (T, error)
}

// Resource reads the objects of one resource: of all namespaces, as returned by [New], or of one,
// as returned by [Resource.Namespace]. It is a [Lister], a [NamespaceLister] and a [ClusterLister].
type Resource[T object.Object] struct {
	_ [0]func() // not comparable: otherwise every kind would compile a comparison

	reader    store.Reader[T]
	resource  schema.GroupResource
	namespace string
}

// New returns a lister of reader's objects. resource, with its plural name, appears in errors. New
// isn't inlined: otherwise every kind would compile it again.
//
//go:noinline
func New[T object.Object](reader store.Reader[T], resource schema.GroupResource) *Resource[T] {
	return &Resource[T]{reader: reader, resource: resource}
}

// Namespace returns the lister of one namespace, or of all for "", whatever r's namespace is.
func (r *Resource[T]) Namespace(namespace string) *Resource[T] {
	return &Resource[T]{reader: r.reader, resource: r.resource, namespace: namespace}
}

// InNamespace returns the namespace of r; "" means all of them.
func (r *Resource[T]) InNamespace() string { return r.namespace }

// List implements Lister and NamespaceLister.
func (r *Resource[T]) List(selector labels.Selector) ([]T, error) {
	if err := notSynced((*table.Version)(r.Snapshot()), r.resource, object.Key{Namespace: r.namespace}); err != nil {
		return nil, err
	}
	// Not the snapshot checked above: the informer may have synced since.
	return r.Snapshot().List(r.namespace, selector), nil
}

// All implements Lister and NamespaceLister. It isn't inlined: otherwise every kind would compile
// the function it returns.
//
//go:noinline
func (r *Resource[T]) All() iter.Seq[T] {
	return func(yield func(T) bool) { r.Snapshot().Scan(r.namespace, nil, yield) }
}

// Get implements [NamespaceLister] and [ClusterLister]. A lister of all namespaces finds only
// cluster-scoped objects, since several namespaces may have an object of the name.
func (r *Resource[T]) Get(name string) (T, error) {
	key := object.Key{Namespace: r.namespace, Name: name}
	version := (*table.Version)(r.Snapshot())
	obj, ok := version.Get(key)
	if !ok {
		if err := notSynced(version, r.resource, key); err != nil {
			return *new(T), err
		}
		if obj, ok = (*table.Version)(r.Snapshot()).Get(key); !ok {
			return *new(T), apierrors.NewNotFound(r.resource, name)
		}
	}
	t, _ := obj.(T)
	return t, nil
}

// Snapshot implements [Lister]. It returns the objects of all namespaces, even if r is the lister
// of one. The snapshot of the zero Resource is empty.
func (r *Resource[T]) Snapshot() *store.Snapshot[T] {
	if r.reader == nil {
		return nil
	}
	return r.reader.Snapshot()
}

// notSynced returns the error of a Get of a key, or of a List of its namespace, if the version may
// lack objects. It isn't generic: otherwise every kind would compile it.
func notSynced(version *table.Version, resource schema.GroupResource, key object.Key) error {
	err := version.NotSynced(key.Namespace)
	switch {
	case err == nil:
		return nil
	case key.Name == "":
		return fmt.Errorf("list %s: %w", resource.String(), err)
	}
	return fmt.Errorf("get %s %q: %w", resource.String(), key, err)
}
