// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"
	"slices"
)

const (
	bitmapBits = 12 // a bitmap is of 4,096 slots
	branchBits = 3  // a branch has 8 trees
	// height of the largest trees that may be a list: 32,768 slots, so that uint16 is enough
	listHeight = 1
	listMax    = 256 // a longer list would take more memory than a bitmap
)

// tree is a set of slots, at least one, out of a range. The range of a tree of height h has 4,096
// times 8 to the power of h slots and begins at a multiple of that. A change copies the nodes on
// the way from the root to the slot, so its cost grows with the logarithm of the range.
//
//	*list     up to listMax slots; in trees of height 0 and 1
//	*bitmap   more slots; in trees of height 0
//	*branch   more slots; in trees of height 1, and any number in higher ones
//
// A list that becomes too long turns into one of the other forms, and a tree that shrinks to half
// of listMax becomes a list again.
type tree interface {
	// with returns the tree, which has the given height, with another slot.
	with(owner uint64, height int, slot uint32) tree
	// without returns the tree without a slot that it has; nil when no slot remains.
	without(owner uint64, height int, slot uint32) tree
}

// The owner of a list, a bitmap or a branch may change it in place.
type (
	list struct {
		owner uint64
		// ascending; the low bits of each slot, which are its offset in a tree of listHeight
		slots []uint16
	}
	bitmap struct {
		owner uint64
		n     int
		words [1 << bitmapBits / 64]uint64
	}
	branch struct {
		owner uint64
		n     int
		trees [1 << branchBits]tree // nil: no slots
	}
)

// sizeOf returns the number of slots in the range of a tree.
func sizeOf(height int) int { return 1 << (bitmapBits + branchBits*height) }

// inList returns the bits of a slot that a list has.
func inList(slot uint32) uint16 { return uint16(slot) % (1 << (bitmapBits + branchBits*listHeight)) }

// firstOfList returns the slot that is 0 in a list whose range begins with first.
func firstOfList(first uint32) uint32 { return first - uint32(inList(first)) }

// in returns the address of the branch's subtree for the slot.
func (b *branch) in(height int, slot uint32) *tree {
	return &b.trees[slot>>(bitmapBits+branchBits*(height-1))%(1<<branchBits)]
}

// withSlot returns t, which may be nil, with another slot.
func withSlot(t tree, owner uint64, height int, slot uint32) tree {
	switch {
	case t != nil:
		return t.with(owner, height, slot)
	case height <= listHeight:
		return &list{owner, []uint16{inList(slot)}}
	}
	return (&branch{owner: owner}).with(owner, height, slot)
}

// has reports whether slot is in t, which may be nil.
func has(t tree, height int, slot uint32) bool {
	for ; ; height-- {
		switch in := t.(type) {
		case *list:
			_, found := slices.BinarySearch(in.slots, inList(slot))
			return found
		case *bitmap:
			return in.words[slot/64%uint32(len(in.words))]>>(slot%64)&1 != 0
		case *branch:
			t = *in.in(height, slot)
		default:
			return false
		}
	}
}

// eachOf yields every slot of t until yield returns false, and returns false then. t may be nil;
// its range begins with first.
func eachOf(t tree, height int, first uint32, yield func(uint32) bool) bool {
	switch in := t.(type) {
	case *list:
		first = firstOfList(first)
		for _, slot := range in.slots {
			if !yield(first + uint32(slot)) {
				return false
			}
		}
	case *bitmap:
		for i, word := range &in.words {
			for ; word != 0; word &= word - 1 {
				if !yield(first + uint32(i*64+bits.TrailingZeros64(word))) {
					return false
				}
			}
		}
	case *branch:
		for i, t := range &in.trees {
			if !eachOf(t, height-1, first+uint32(i*sizeOf(height-1)), yield) {
				return false
			}
		}
	}
	return true
}

// nextOf returns the first list or bitmap of t whose range doesn't begin before from, with the
// first slot of that range; or nil if there is none. t may be nil; its range begins with first.
func nextOf(t tree, height, first, from int) (in tree, begin, end int) {
	b, ok := t.(*branch)
	if !ok {
		if first < from {
			return nil, 0, 0
		}
		return t, first, first + sizeOf(height)
	}
	size := sizeOf(height - 1)
	for i := max(0, from-first) / size; i < len(b.trees) && in == nil; i++ {
		in, begin, end = nextOf(b.trees[i], height-1, first+i*size, from)
	}
	return in, begin, end
}

func (l *list) with(owner uint64, height int, slot uint32) tree {
	if len(l.slots) == listMax {
		var t tree = &branch{owner: owner}
		if height == 0 {
			t = &bitmap{owner: owner}
		}
		eachOf(l, height, 0, func(slot uint32) bool { t.with(owner, height, slot); return true })
		return t.with(owner, height, slot)
	}
	mine := l.owner == owner
	if !mine {
		l = &list{owner, l.slots}
	}
	at, _ := slices.BinarySearch(l.slots, inList(slot))
	l.slots = inserted(l.slots, at, inList(slot), mine)
	return l
}

func (l *list) without(owner uint64, _ int, slot uint32) tree {
	if len(l.slots) == 1 {
		return nil
	}
	mine := l.owner == owner
	if !mine {
		l = &list{owner, l.slots}
	}
	at, _ := slices.BinarySearch(l.slots, inList(slot))
	l.slots = removed(l.slots, at, mine)
	return l
}

func (b *bitmap) with(owner uint64, _ int, slot uint32) tree {
	b = b.own(owner)
	b.n++
	b.words[slot/64%uint32(len(b.words))] |= 1 << (slot % 64)
	return b
}

func (b *bitmap) without(owner uint64, height int, slot uint32) tree {
	b = b.own(owner)
	b.n--
	b.words[slot/64%uint32(len(b.words))] &^= 1 << (slot % 64)
	if b.n <= listMax/2 {
		return listOf(b, owner, height, slot, b.n)
	}
	return b
}

func (b *bitmap) own(owner uint64) *bitmap {
	if b.owner == owner {
		return b
	}
	return &bitmap{owner, b.n, b.words}
}

func (b *branch) with(owner uint64, height int, slot uint32) tree {
	b = b.own(owner)
	b.n++
	in := b.in(height, slot)
	*in = withSlot(*in, owner, height-1, slot)
	return b
}

func (b *branch) without(owner uint64, height int, slot uint32) tree {
	if b.n == 1 {
		return nil
	}
	b = b.own(owner)
	b.n--
	in := b.in(height, slot)
	*in = (*in).without(owner, height-1, slot)
	if height <= listHeight && b.n <= listMax/2 {
		return listOf(b, owner, height, slot, b.n)
	}
	return b
}

func (b *branch) own(owner uint64) *branch {
	if b.owner == owner {
		return b
	}
	return &branch{owner, b.n, b.trees}
}

// listOf returns a list of the n slots of t, in whose range slot is.
func listOf(t tree, owner uint64, height int, slot uint32, n int) tree {
	all := make([]uint16, 0, n)
	eachOf(t, height, slot-slot%uint32(sizeOf(height)), func(slot uint32) bool { all = append(all, inList(slot)); return true })
	return &list{owner, all}
}

// inserted returns s with e. If mine is true, s may be changed in place and may get spare capacity.
func inserted[E any](s []E, at int, e E, mine bool) []E {
	room := len(s) + 1
	if mine {
		if len(s) < cap(s) {
			return slices.Insert(s, at, e)
		}
		room += len(s) / 4
	}
	c := make([]E, len(s)+1, room)
	copy(c, s[:at])
	c[at] = e
	copy(c[at+1:], s[at:])
	return c
}

// removed returns s without an element. If mine is true, s is changed in place.
func removed[E any](s []E, at int, mine bool) []E {
	if mine {
		return slices.Delete(s, at, at+1)
	}
	c := make([]E, len(s)-1)
	copy(c, s[:at])
	copy(c[at:], s[at+1:])
	return c
}
