// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	leafBits   = 5 // a leaf has 32 slots
	branchBits = 6 // a branch has 64 nodes below it
)

// vector has objects by their slots. It is a radix tree; its zero value is empty, and copying the
// struct takes a snapshot. A change copies the nodes between the root and the slot, except those
// that the same Txn has made.
type vector struct {
	root   *part
	height int // of root; a leaf has height 0
}

// part is a node of a vector: a leaf, or a branch.
type part struct {
	owner   uint64          // the Txn that made it, and may change it until it is published
	n       int             // objects in it or below, at least 1
	objects []object.Object // of a leaf, by slot; nil where there is none
	parts   []*part         // of a branch; nil where there are no objects
}

// slotsIn returns the number of slots of a node.
func slotsIn(height int) int { return 1 << (leafBits + branchBits*height) }

// below returns the index of the node below a branch in which slot is.
func below(height int, slot uint32) uint32 {
	return slot >> (leafBits + branchBits*(height-1)) % (1 << branchBits)
}

// get returns the object in slot, or nil if there is none.
func (v vector) get(slot uint32) object.Object {
	p := v.root
	if p == nil || int(slot) >= slotsIn(v.height) {
		return nil
	}
	for height := v.height; height > 0; height-- {
		if p = p.parts[below(height, slot)]; p == nil {
			return nil
		}
	}
	return p.objects[slot%(1<<leafBits)]
}

// each yields every object with its slot, in the order of slots, until yield returns false.
func (v vector) each(yield func(uint32, object.Object) bool) {
	next := uint32(0)
	for leaf := v.leaf(&next); leaf != nil; leaf = v.leaf(&next) {
		for i, obj := range leaf {
			if obj != nil && !yield(next-uint32(len(leaf)-i), obj) {
				return
			}
		}
	}
}

// leaf returns the objects of the first leaf that doesn't begin before slot next, and sets next to
// the slot behind it. It returns nil if there is none.
func (v vector) leaf(next *uint32) []object.Object {
	for v.root != nil && int(*next) < slotsIn(v.height) {
		p, height := v.root, v.height
		for p != nil && height > 0 {
			p, height = p.parts[below(height, *next)], height-1
		}
		*next += uint32(slotsIn(height))
		if p != nil {
			return p.objects
		}
	}
	return nil
}

// free returns the lowest slot that has no object.
func (v vector) free() (slot uint32) {
	p := v.root
	if p.len() == slotsIn(v.height) {
		return uint32(p.len())
	}
	for height := v.height; p != nil; height-- {
		if height == 0 {
			return slot + uint32(slices.Index(p.objects, nil))
		}
		at := slices.IndexFunc(p.parts, func(p *part) bool { return p.len() < slotsIn(height-1) })
		slot, p = slot+uint32(at*slotsIn(height-1)), p.parts[at]
	}
	return slot
}

// set puts obj into slot, which has an object or is the lowest free one. A nil obj empties the
// slot.
func (v *vector) set(owner uint64, slot uint32, obj object.Object) {
	if int(slot) >= slotsIn(v.height) {
		v.height++
		root := (*part)(nil).own(owner, v.height)
		root.n, root.parts[0] = v.root.n, v.root
		v.root = root
	}
	if v.root = v.root.set(owner, v.height, slot, obj); v.root == nil {
		v.height = 0
	}
}

// set returns p, which may be nil, with obj in slot; nil if no object is left.
func (p *part) set(owner uint64, height int, slot uint32, obj object.Object) *part {
	if obj == nil && p.len() <= 1 {
		return nil
	}
	p = p.own(owner, height)
	if height == 0 {
		at := &p.objects[slot%(1<<leafBits)]
		if *at == nil {
			p.n++
		}
		if *at = obj; obj == nil {
			p.n--
		}
		return p
	}
	at := &p.parts[below(height, slot)]
	before := (*at).len()
	*at = (*at).set(owner, height-1, slot, obj)
	p.n += (*at).len() - before
	return p
}

// len returns the number of objects in p, which may be nil.
func (p *part) len() int {
	if p == nil {
		return 0
	}
	return p.n
}

// own returns p, which may be nil, or a copy or an empty node that the owner may change.
func (p *part) own(owner uint64, height int) *part {
	if p != nil && p.owner == owner {
		return p
	}
	// in one allocation
	var own *part
	if height == 0 {
		leaf := &struct {
			part
			room [1 << leafBits]object.Object
		}{}
		own, leaf.objects = &leaf.part, leaf.room[:]
	} else {
		branch := &struct {
			part
			room [1 << branchBits]*part
		}{}
		own, branch.parts = &branch.part, branch.room[:]
	}
	own.owner = owner
	if p != nil {
		own.n = p.n
		copy(own.objects, p.objects)
		copy(own.parts, p.parts)
	}
	return own
}
