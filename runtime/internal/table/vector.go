// SPDX-License-Identifier: Apache-2.0

package table

import (
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Leaves of 16 would make iterating a little faster, and each update 144 bytes larger.
const (
	leafBits = 3
	leafLen  = 1 << leafBits
)

// vector is a sparse persistent array of objects, in leaves of 8. Its zero value is empty; copying
// the struct takes a snapshot.
type vector struct{ leaves array[leaf] }

type leaf struct {
	objs   [leafLen]object.Object // at least one
	labels atomic.Pointer[signatures]
}

// get returns the object in slot i, or nil if there is none.
func (v *vector) get(i uint32) object.Object {
	if n := at(&v.leaves, i>>leafBits); n != nil {
		return n.c.objs[i%leafLen]
	}
	return nil
}

// slots yields every object with its slot until yield returns false.
func (v *vector) slots(yield func(uint32, object.Object) bool) {
	each(&v.leaves, func(i uint32, n *node[leaf]) bool {
		for l, obj := range &n.c.objs {
			if obj != nil && !yield(i<<leafBits+uint32(l), obj) {
				return false
			}
		}
		return true
	})
}

// set puts obj into slot i, whether the slot is taken or not.
func (v *vector) set(owner uint64, i uint32, obj object.Object, spare **link[leaf]) {
	v.own(owner, i, spare).objs[i%leafLen] = obj
}

// clear empties slot i, which must be taken.
func (v *vector) clear(owner uint64, i uint32, spare **link[leaf]) {
	n := at(&v.leaves, i>>leafBits)
	rest := n.c.objs
	rest[i%leafLen] = nil
	if rest == [leafLen]object.Object{} {
		drop(&v.leaves, owner, i>>leafBits, spare)
		return
	}
	v.own(owner, i, spare).objs[i%leafLen] = nil
}

// own returns the leaf of slot i, to be changed.
func (v *vector) own(owner uint64, i uint32, spare **link[leaf]) *leaf {
	n, old := own(&v.leaves, owner, i>>leafBits, spare)
	if old != nil {
		n.c.objs = old.objs
	}
	return &n.c
}
