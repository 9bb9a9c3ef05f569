// SPDX-License-Identifier: Apache-2.0

package store

import (
	"iter"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Reader reads the objects of a store. It may be used by any number of goroutines.
type Reader[T object.Object] interface {
	// Snapshot returns the newest published state. It never waits.
	Snapshot() *Snapshot[T]
}

// View returns a Reader of t's versions. All of t's objects must be Ts.
func View[T object.Object](t *table.Table) Reader[T] { return (*view[T])(t) }

type view[T object.Object] table.Table

func (v *view[T]) Snapshot() *Snapshot[T] { return (*Snapshot[T])((*table.Table)(v).Version()) }

// Snapshot is one immutable state of a store, held by a pointer: a nil *Snapshot is empty. It may
// be used by any number of goroutines, and none of its methods waits.
//
// Its methods have pointer receivers, and there are few, because each package that has a lister
// compiles them for each kind.
type Snapshot[T object.Object] table.Version

// Get returns the object under key, and whether there is one.
func (s *Snapshot[T]) Get(key object.Key) (T, bool) {
	obj, ok := versionOf(s).Get(key)
	if !ok {
		versionOf(s).Missed(key.Namespace)
	}
	if p, is := any(&obj).(*T); is { // see listUntyped
		return *p, ok
	}
	t, _ := obj.(T)
	return t, ok
}

// Len returns the number of objects.
func (s *Snapshot[T]) Len() int { return versionOf(s).Len() }

// ResourceVersion returns the resourceVersion of the state: it has all changes up to that version
// and none after it. It is "" until the first sync. In an informer of several namespaces, each
// namespace has a version of its own; the result is the oldest of them, or "" until all have one,
// and the state has all changes up to it.
func (s *Snapshot[T]) ResourceVersion() string { return versionOf(s).ResourceVersion() }

// NamespaceResourceVersion returns the resourceVersion of one namespace: the state has all changes
// in it up to that version and none after it. It equals [Snapshot.ResourceVersion], except in an
// informer of several namespaces. There it is "" for a namespace that has not been synced, or that
// the informer doesn't read.
func (s *Snapshot[T]) NamespaceResourceVersion(namespace string) string {
	return versionOf(s).NamespaceResourceVersion(namespace)
}

// All yields every object.
func (s *Snapshot[T]) All() iter.Seq[T] { return s.Namespace("") }

// Namespace yields every object of one namespace, or of all for "".
func (s *Snapshot[T]) Namespace(namespace string) iter.Seq[T] {
	return func(yield func(T) bool) {
		// A case for object.Object, as in List, would slow down loops over all other T.
		c := scan{version: versionOf(s), namespace: namespace}
		for objs := c.next(); objs != nil; objs = c.next() {
			for _, obj := range objs {
				if t, ok := obj.(T); ok && !yield(t) {
					return
				}
			}
		}
	}
}

// NamespaceLen returns the number of objects in one namespace, or in all for "".
func (s *Snapshot[T]) NamespaceLen(namespace string) int {
	return versionOf(s).Namespace(namespace).Len()
}

// Namespaces yields the name of every namespace that has an object, none for cluster-scoped
// objects. The names keep no memory of objects alive.
func (s *Snapshot[T]) Namespaces() iter.Seq[string] { return versionOf(s).Namespaces }

// Select yields every object whose labels match the selector; a nil selector matches everything.
func (s *Snapshot[T]) Select(selector labels.Selector) iter.Seq[T] {
	return func(yield func(T) bool) { s.Scan("", selector, yield) }
}

// List returns the objects of one namespace, or of all for "", whose labels match the selector; a
// nil selector matches everything. The slice is the caller's own.
func (s *Snapshot[T]) List(namespace string, selector labels.Selector) []T {
	var list []T
	if p, ok := any(&list).(*[]object.Object); ok {
		*p = listUntyped(versionOf(s), namespace, selector)
		return list
	}
	list = make([]T, 0, listCapacity(versionOf(s), namespace, selector))
	s.Scan(namespace, selector, func(obj T) bool {
		list = append(list, obj)
		return true
	})
	return list
}

// Scan calls yield with each object that List would return, until yield returns false. It is small
// enough for the compiler to inline it, and yield with it.
func (s *Snapshot[T]) Scan(namespace string, selector labels.Selector, yield func(T) bool) {
	c := scan{version: versionOf(s), namespace: namespace, selector: selector}
	for objs := c.next(); objs != nil; objs = c.next() {
		for _, obj := range objs {
			if t, ok := obj.(T); ok && !yield(t) {
				return
			}
		}
	}
}

// listUntyped is List where T is object.Object, as in code that knows no kinds. Generic code
// converts an object to an interface type T by searching its methods; this function doesn't.
func listUntyped(v *table.Version, namespace string, selector labels.Selector) []object.Object {
	all := make([]object.Object, 0, listCapacity(v, namespace, selector))
	c := scan{version: v, namespace: namespace, selector: selector}
	for objs := c.next(); objs != nil; objs = c.next() {
		for _, obj := range objs {
			if obj != nil {
				all = append(all, obj)
			}
		}
	}
	return all
}

// versionOf is not a method: otherwise every kind would compile it.
func versionOf[T object.Object](s *Snapshot[T]) *table.Version { return (*table.Version)(s) }
