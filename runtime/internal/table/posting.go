// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const fewMax = 128

// posting is one key of an index and the slots of the objects that have it, at least one. Most keys
// of most indexes have one object, so a posting of one slot takes only 32 bytes.
//
//	n = 1            one
//	n ≤ fewMax       many.few: slots, ascending
//	n > fewMax       many.tree
//
// A posting that shrinks to half of fewMax has few slots again. What a Version has in it may differ
// from its slots by late changes: method at returns a posting without any.
type posting struct {
	key  any
	n    uint32
	one  uint32
	many *slots
}

// slots is the larger half of a posting. Its owner owns the posting, too: they are made together.
type slots struct {
	owner  uint64
	few    []uint32
	tree   tree
	height int                  // of tree; its range begins with 0
	late   atomic.Pointer[late] // nil: no changes after these slots
}

// allOf yields the object of every slot until yield returns false. The objects are scattered in
// memory, so it reads some at a time, which the processor then fetches at the same time.
func allOf(slots []uint32, objects *vector, yield func(object.Object) bool) {
	var objs [32]object.Object
	for len(slots) > 0 {
		n := min(len(slots), len(objs))
		for i, slot := range slots[:n] {
			objs[i] = objects.get(slot)
		}
		slots = slots[n:]
		for _, obj := range objs[:n] {
			if obj != nil && !yield(obj) {
				return
			}
		}
	}
}

// and yields the object of every slot that p and other both have, until yield returns false.
func and(p, other *posting, objects *vector, yield func(object.Object) bool) {
	p.each(func(slot uint32) bool {
		if !other.has(slot) {
			return true
		}
		obj := objects.get(slot)
		return obj == nil || yield(obj)
	})
}

// each yields every slot until yield returns false.
func (p *posting) each(yield func(uint32) bool) {
	switch {
	case p.n == 1:
		yield(p.one)
	case p.many.few != nil:
		for _, slot := range p.many.few {
			if !yield(slot) {
				return
			}
		}
	default:
		eachOf(p.many.tree, p.many.height, 0, yield)
	}
}

func (p *posting) has(slot uint32) bool {
	switch {
	case p.n == 1:
		return p.one == slot
	case p.many.few != nil:
		_, found := slices.BinarySearch(p.many.few, slot)
		return found
	}
	return p.many.has(slot)
}

// slotsOf yields every slot of p and its object until yield returns false. It copies the slots, so
// that p may be changed meanwhile.
func slotsOf(p *posting, objects *vector, yield func(uint32, object.Object) bool) {
	all := make([]uint32, 0, p.n)
	p.each(func(slot uint32) bool { all = append(all, slot); return true })
	for _, slot := range all {
		if obj := objects.get(slot); obj != nil && !yield(slot, obj) {
			return
		}
	}
}

// with returns the posting with slot: p itself when slot is in it already, or when owner owns p.
func (p *posting) with(owner uint64, slot uint32) *posting {
	if p.n == 1 {
		if p.one == slot {
			return p
		}
		few := []uint32{min(p.one, slot), max(p.one, slot)}
		return newPosting(p.key, 2, owner, few)
	}
	if p.many.few == nil {
		if p.many.has(slot) {
			return p
		}
		p = p.own(owner)
		p.many.add(int(p.n), slot)
		p.n++
		return p
	}
	at, found := slices.BinarySearch(p.many.few, slot)
	if found {
		return p
	}
	mine := p.many.owner == owner
	p = p.own(owner)
	p.n++
	p.many.few = inserted(p.many.few, at, slot, mine)
	if p.n > fewMax {
		few := p.many.few
		p.many.few = nil
		for i, slot := range few {
			p.many.add(i, slot)
		}
	}
	return p
}

// without returns the posting without slot: p itself when slot isn't in it, or when owner owns p;
// nil when no slot remains.
func (p *posting) without(owner uint64, slot uint32) *posting {
	if p.n == 1 {
		if p.one == slot {
			return nil
		}
		return p
	}
	if p.many.few == nil {
		if !p.many.has(slot) {
			return p
		}
		p = p.own(owner)
		p.n--
		p.many.tree = p.many.tree.without(owner, p.many.height, slot)
		if p.n <= fewMax/2 {
			few := make([]uint32, 0, p.n)
			p.each(func(slot uint32) bool { few = append(few, slot); return true })
			p.many.few, p.many.tree, p.many.height = few, nil, 0
		}
		return p
	}
	at, found := slices.BinarySearch(p.many.few, slot)
	switch {
	case !found:
		return p
	case p.n == 2:
		return &posting{key: p.key, n: 1, one: p.many.few[1-at]}
	}
	mine := p.many.owner == owner
	p = p.own(owner)
	p.n--
	p.many.few = removed(p.many.few, at, mine)
	return p
}

// own returns p, or a copy, that owner may change, except for the slice of few slots. p has more
// than one slot.
func (p *posting) own(owner uint64) *posting {
	if p.many.owner == owner {
		return p
	}
	own := newPosting(p.key, p.n, owner, p.many.few)
	own.many.tree, own.many.height = p.many.tree, p.many.height
	return own
}

// newPosting makes a posting of more than one slot, in one allocation.
func newPosting(key any, n uint32, owner uint64, few []uint32) *posting {
	p := &struct {
		posting
		slots
	}{posting{key: key, n: n}, slots{owner: owner, few: few}}
	p.posting.many = &p.slots
	return &p.posting
}

// has reports whether slot is in the tree.
func (s *slots) has(slot uint32) bool {
	return int(slot) < sizeOf(s.height) && has(s.tree, s.height, slot)
}

// add adds a slot to the tree, which has n others. If the tree's range is too small, the tree
// becomes the first subtree of a higher one.
func (s *slots) add(n int, slot uint32) {
	for int(slot) >= sizeOf(s.height) {
		s.height++
		if _, isList := s.tree.(*list); s.tree != nil && !(isList && s.height <= listHeight) {
			b := &branch{owner: s.owner, n: n}
			b.trees[0] = s.tree
			s.tree = b
		}
	}
	s.tree = withSlot(s.tree, s.owner, s.height, slot)
}
