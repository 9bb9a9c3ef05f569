// SPDX-License-Identifier: Apache-2.0

package store

import (
	"iter"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// AnyIndex is an index of Ts with keys of any type. Only *[Index] implements it.
type AnyIndex[T object.Object] interface {
	// Bind is for this module: it returns a new table.Index, which keeps the index up to date in
	// one table.
	Bind() table.Index
	indexes(T)
}

// NamespacedKey is a key within a namespace. Use it for indexes whose keys depend on the namespace,
// such as references to objects of the same namespace. To look up a plain key in one namespace, use
// [Index.LookupIn].
type NamespacedKey[K comparable] struct {
	Namespace string
	Key       K
}

// Index finds objects by keys computed from them. It is a definition without objects: usually a
// package variable, given to any number of stores and informers, and used by any number of
// goroutines.
//
// A store can't have two different Indexes of the same name; adding the same Index again does
// nothing.
type Index[T object.Object, K comparable] struct{ untyped *index[K] }

// NewIndex defines an index. keys appends the keys of obj to dst and returns the result, like
// append; it may append nothing, and repeated keys count once. A key that isn't equal to itself,
// such as NaN, is not indexed.
//
// keys must depend on obj only, must not change obj, and must not keep dst. It may return one of
// obj's own slices instead of dst. The keys are copied, with their strings. So a key in a store, or
// yielded by Keys, keeps no memory of an object alive, unless it has a pointer.
//
// keys is called by one goroutine at a time for each store, with the old and the new state of each
// changed object. It is also called by any goroutine that looks up a key in a Snapshot without the
// index. If it panics or calls runtime.Goexit during a write to a [Store], the write is undone, and
// the panic passes through. If it panics in an informer, the informer keeps the object without keys
// in this index, logs the panic and calls the error handler.
func NewIndex[T object.Object, K comparable](name string, keys func(obj T, dst []K) []K) *Index[T, K] {
	x := &index[K]{id: table.ID{Name: name}}
	if keys != nil {
		x.keys = func(obj object.Object, dst []K) []K { return keys(obj.(T), dst) }
	}
	return &Index[T, K]{x}
}

// Name returns the index's name, which is unique within a store.
func (x *Index[T, K]) Name() string { return x.untyped.id.Name }

// Lookup yields every object of s that has key, each once. In a Snapshot without this index it
// reads every object.
func (x *Index[T, K]) Lookup(s *Snapshot[T], key K) iter.Seq[T] {
	return x.LookupIn(s, "", key)
}

// List returns the objects that Lookup yields. The slice is the caller's own.
func (x *Index[T, K]) List(s *Snapshot[T], key K) []T { return x.ListIn(s, "", key) }

// LookupIn is Lookup among the objects of one namespace, or of all for "". Its time is proportional
// to the number of objects in the namespace or of objects with key, whichever is smaller.
func (x *Index[T, K]) LookupIn(s *Snapshot[T], namespace string, key K) iter.Seq[T] {
	return func(yield func(T) bool) {
		x.untyped.lookup(versionOf(s), namespace, key, func(obj object.Object) bool { return yield(obj.(T)) })
	}
}

// ListIn returns the objects that LookupIn yields. The slice is the caller's own.
func (x *Index[T, K]) ListIn(s *Snapshot[T], namespace string, key K) []T {
	list := make([]T, 0, x.untyped.capacity(versionOf(s), namespace, key))
	x.untyped.lookup(versionOf(s), namespace, key, func(obj object.Object) bool { list = append(list, obj.(T)); return true })
	return list
}

// Len returns the number of objects of s that have key. If s has the index, it reads no objects.
func (x *Index[T, K]) Len(s *Snapshot[T], key K) int { return x.untyped.len(versionOf(s), key) }

// Keys yields every key of the objects of s, each once.
func (x *Index[T, K]) Keys(s *Snapshot[T]) iter.Seq[K] { return x.untyped.allKeys(versionOf(s)) }

// Bind implements AnyIndex; it returns nil for a nil Index.
func (x *Index[T, K]) Bind() table.Index {
	if x == nil {
		return nil
	}
	return &binding[K]{index: x.untyped}
}

func (x *Index[T, K]) indexes(T) {}
