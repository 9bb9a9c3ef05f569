// SPDX-License-Identifier: Apache-2.0

package store

import (
	"iter"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// index is an Index without the type of its objects, compiled once for all kinds with the same type
// of keys.
type index[K comparable] struct {
	id   table.ID
	keys func(obj object.Object, dst []K) []K
}

// keysOf returns the keys of obj in buf, or in a larger slice of the index's own. If the key
// function returns a slice of the object instead, the keys are copied, because buf is written to
// later.
func (x *index[K]) keysOf(obj object.Object, buf []K) []K {
	buf = buf[:0]
	if x.keys == nil { // no store accepts such an index, but Lookup may be called
		return buf
	}
	keys := x.keys(obj, buf)
	if cap(keys) == 0 || cap(buf) > 0 && &keys[:1][0] == &buf[:1][0] {
		return keys
	}
	return append(buf, keys...)
}

func (x *index[K]) find(v *table.Version, key K) (table.Set, bool) {
	// The assertion of a nil key of an interface type fails and gives nil, as wanted.
	return v.Lookup(&x.id, table.Hash(key), func(other any) bool { k, _ := other.(K); return k == key })
}

func (x *index[K]) lookup(v *table.Version, namespace string, key K, yield func(object.Object) bool) {
	v.Missed(namespace)
	if set, ok := x.find(v, key); ok {
		set.And(v.Namespace(namespace), yield)
		return
	}
	var keys []K
	for obj := range v.Namespace(namespace).All {
		if keys = x.keysOf(obj, keys); slices.Contains(keys, key) && !yield(obj) {
			return
		}
	}
}

// capacity returns the capacity for a list of lookup's objects: their exact number, unless they are
// the intersection of two large sets.
func (x *index[K]) capacity(v *table.Version, namespace string, key K) int {
	set, _ := x.find(v, key)
	if namespace == "" {
		return set.Len()
	}
	return min(set.Len(), v.Namespace(namespace).Len(), 64)
}

func (x *index[K]) len(v *table.Version, key K) int {
	if set, ok := x.find(v, key); ok {
		v.Missed("")
		return set.Len()
	}
	n := 0
	x.lookup(v, "", key, func(object.Object) bool { n++; return true })
	return n
}

// allKeys isn't inlined: otherwise every kind would compile it again.
//
//go:noinline
func (x *index[K]) allKeys(v *table.Version) iter.Seq[K] {
	return func(yield func(K) bool) {
		v.Missed("")
		if keys, ok := v.IndexKeys(&x.id); ok {
			keys(func(key any) bool { k, _ := key.(K); return yield(k) })
			return
		}
		seen := map[K]struct{}{}
		var keys []K
		for obj := range v.All {
			keys = x.keysOf(obj, keys)
			for _, key := range keys {
				if _, ok := seen[key]; ok || key != key {
					continue
				}
				seen[key] = struct{}{}
				if !yield(key) {
					return
				}
			}
		}
	}
}
