// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/informer-gen/informer-gen/runtime/object"

// Set is a subset of the objects of one Version. The zero Set is empty.
type Set struct {
	content content // nil: empty
	index   *index  // nil: all objects of content
	number  uint32  // of a key of the index
}

// Len returns the number of objects.
//
//go:noinline
func (s Set) Len() int {
	switch {
	case s.content == nil:
		return 0
	case s.index == nil:
		return stateIn(s).objects.root.len()
	}
	return count(s.index.entries, s.number)
}

// All yields every object once.
func (s Set) All(yield func(object.Object) bool) {
	if s.index != nil {
		objects := &stateIn(s).objects
		each(s.index.entries, s.number, func(slot uint32) bool {
			obj := objects.get(slot) // nil in the case described in [Cursor.Next]
			return obj == nil || yield(obj)
		})
		return
	}
	var c Cursor
	c.Start(s)
	for objs := c.Next(); objs != nil; objs = c.Next() {
		for _, obj := range objs {
			if obj != nil && !yield(obj) {
				return
			}
		}
	}
}

// And yields every object also in other, a Set of the same Version, once. Its time depends on the
// smaller of the two Sets, and it reads only the objects in both.
func (s Set) And(other Set, yield func(object.Object) bool) {
	switch {
	case s.content == nil || other.content == nil:
	case s.index == nil:
		other.All(yield)
	case other.index == nil:
		s.All(yield)
	case s.Len() > other.Len():
		other.And(s, yield)
	default:
		s.filter(func(slot uint32) bool {
			_, both := other.index.entries.Get(uint64(entryOf(other.number, slot)))
			return both
		}, yield)
	}
}

// filter yields the objects of s, a Set of an index, whose slots satisfy keep.
func (s Set) filter(keep func(slot uint32) bool, yield func(object.Object) bool) {
	objects := &stateIn(s).objects
	each(s.index.entries, s.number, func(slot uint32) bool {
		if !keep(slot) {
			return true
		}
		// nil in the case described in [Cursor.Next]
		obj := objects.get(slot)
		return obj == nil || yield(obj)
	})
}

// stateIn returns the state of s, which must not be zero.
func stateIn(s Set) *versionState { return s.content.(*versionState) }
