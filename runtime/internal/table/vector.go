// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	leafBits   = 5 // a leaf has 32 slots
	branchBits = 5 // a branch has 32 nodes below it
)

type vector struct {
	root   *branch
	height int // of root
}

// branch has branches below it, or leaves if its height is 1. Empty ones are nil.
type branch struct {
	owner    uint64 // number of the Txn that made it
	n        int    // objects below, at least 1
	leaves   *[1 << branchBits]*leaf
	branches *[1 << branchBits]*branch
}

type leaf struct {
	owner   uint64
	n       int
	objects [1 << leafBits]object.Object
}

// slotsIn returns the number of slots of a branch, or of a leaf, whose height is 0.
func slotsIn(height int) int { return 1 << (leafBits + branchBits*height) }

func childIndex(height int, slot uint32) uint32 {
	return slot >> (leafBits + branchBits*(height-1)) % (1 << branchBits)
}

func (v vector) get(slot uint32) object.Object {
	if l, _ := v.leafOf(slot); l != nil {
		return l.objects[slot%(1<<leafBits)]
	}
	return nil
}

// leafOf returns the leaf of slot, or nil if there is none. If slot is a multiple of empty, so many
// slots from there on are in the leaf or have no objects; empty is 0 behind the last node.
func (v vector) leafOf(slot uint32) (l *leaf, empty int) {
	b := v.root
	if b == nil || int(slot) >= slotsIn(v.height) {
		return nil, 0
	}
	for height := v.height; height > 1; height-- {
		if b = b.branches[childIndex(height, slot)]; b == nil {
			return nil, slotsIn(height - 1)
		}
	}
	return b.leaves[childIndex(1, slot)], slotsIn(0)
}

// nextLeaf returns the objects of the first leaf that doesn't begin before slot next, and sets next
// to the slot behind it. It returns nil if there is none.
func (v vector) nextLeaf(next *uint32) []object.Object {
	for {
		l, empty := v.leafOf(*next)
		*next += uint32(empty)
		switch {
		case l != nil:
			return l.objects[:]
		case empty == 0:
			return nil
		}
	}
}

// each yields every object with its slot, in the order of slots.
func (v vector) each(yield func(uint32, object.Object) bool) {
	next := uint32(0)
	for objs := v.nextLeaf(&next); objs != nil; objs = v.nextLeaf(&next) {
		for i, obj := range objs {
			if obj != nil && !yield(next-uint32(len(objs)-i), obj) {
				return
			}
		}
	}
}

// free returns the lowest free slot.
func (v vector) free() (slot uint32) {
	b := v.root
	if b.len() == slotsIn(v.height) {
		return uint32(b.len())
	}
	for height := v.height; b != nil; height-- {
		room := slotsIn(height - 1)
		if height == 1 {
			at := slices.IndexFunc(b.leaves[:], func(l *leaf) bool { return l.len() < room })
			slot += uint32(at * room)
			if l := b.leaves[at]; l != nil {
				slot += uint32(slices.Index(l.objects[:], nil))
			}
			return slot
		}
		at := slices.IndexFunc(b.branches[:], func(b *branch) bool { return b.len() < room })
		slot, b = slot+uint32(at*room), b.branches[at]
	}
	return slot
}

// set puts obj into slot, which has an object or is the lowest free one. A nil obj empties the
// slot.
func (v *vector) set(owner uint64, slot uint32, obj object.Object) {
	if v.root == nil {
		v.height = 1
	}
	if int(slot) >= slotsIn(v.height) {
		v.height++
		root := (*branch)(nil).own(owner, v.height)
		root.n, root.branches[0] = v.root.n, v.root
		v.root = root
	}
	if v.root = v.root.set(owner, v.height, slot, obj); v.root == nil {
		v.height = 0
	}
}

// set returns b, which may be nil, with obj in slot, or nil if no object is left.
func (b *branch) set(owner uint64, height int, slot uint32, obj object.Object) *branch {
	if obj == nil && b.len() <= 1 {
		return nil
	}
	b = b.own(owner, height)
	if height > 1 {
		at := &b.branches[childIndex(height, slot)]
		b.n -= (*at).len()
		*at = (*at).set(owner, height-1, slot, obj)
		b.n += (*at).len()
	} else {
		at := &b.leaves[childIndex(height, slot)]
		b.n -= (*at).len()
		*at = (*at).set(owner, slot, obj)
		b.n += (*at).len()
	}
	return b
}

func (l *leaf) set(owner uint64, slot uint32, obj object.Object) *leaf {
	switch {
	case obj == nil && l.len() <= 1:
		return nil
	case l == nil:
		l = &leaf{owner: owner}
	case l.owner != owner:
		own := *l
		l, own.owner = &own, owner
	}
	at := &l.objects[slot%(1<<leafBits)]
	if *at == nil {
		l.n++
	}
	if *at = obj; obj == nil {
		l.n--
	}
	return l
}

func (b *branch) len() int {
	if b == nil {
		return 0
	}
	return b.n
}

func (l *leaf) len() int {
	if l == nil {
		return 0
	}
	return l.n
}

// own returns b if owner may change it, or a copy; an empty branch if b is nil. A branch and its
// array are one allocation.
func (b *branch) own(owner uint64, height int) *branch {
	switch {
	case b != nil && b.owner == owner:
		return b
	case height == 1:
		own := &struct {
			branch
			room [1 << branchBits]*leaf
		}{branch: branch{owner: owner, n: b.len()}}
		if own.leaves = &own.room; b != nil {
			own.room = *b.leaves
		}
		return &own.branch
	}
	own := &struct {
		branch
		room [1 << branchBits]*branch
	}{branch: branch{owner: owner, n: b.len()}}
	if own.branches = &own.room; b != nil {
		own.room = *b.branches
	}
	return &own.branch
}
