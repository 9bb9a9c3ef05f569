// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Cursor iterates over a Set, some objects at a time. Loops over it can be compiled into the
// calling code. Then the processor fetches the next objects while it waits for one, which makes the
// loop several times as fast as one that calls a function for each object. The zero Cursor is at
// its end. A Cursor must not be copied once it has begun.
type Cursor struct {
	set     Set
	narrows bool // only objects with the labels are wanted
	labels  Labels

	// The objects that Next returns next: those of objs whose bit is set.
	objs []object.Object // of a leaf
	mask uint8

	// the next leaf of objects, or index in the posting's few slots; or the end of tree's range
	at    int
	tree  tree // a list or a bitmap of the posting's tree; nil: advance to the next one
	first int  // of tree's range
	slot  int  // the next index in the list, or slot of the bitmap
	one   [1]uint32
}

// Start begins an iteration over s. If labels isn't nil, most objects without the labels are left
// out.
func (c *Cursor) Start(s Set, labels *Labels) {
	c.set = s
	if labels != nil {
		c.labels, c.narrows = *labels, true
	}
	if s.posting != nil {
		c.one[0] = s.posting.one
	}
}

// AtOnce is the largest number of objects that Next returns.
const AtOnce = leafLen

// Next returns the next objects, or nil at the end. There may be nils among them. The slice must
// not be changed.
//
//go:noinline
func (c *Cursor) Next() []object.Object {
	for c.mask == 0 {
		if c.set.content == nil {
			return nil
		}
		lf := advance(c)
		if lf == nil {
			return nil
		}
		c.objs = lf.objs[:]
		if c.narrows {
			narrow(c, lf)
		}
	}
	from := bits.TrailingZeros8(c.mask)
	n := bits.TrailingZeros8(^(c.mask >> from))
	c.mask &^= (1<<n - 1) << from
	return c.objs[from : from+n]
}

// narrow removes objects from mask that are known not to have the labels.
func narrow(c *Cursor, lf *leaf) {
	has := lf.signatures()
	if has == nil {
		return
	}
	for mask := c.mask; mask != 0; mask &= mask - 1 {
		if i := bits.TrailingZeros8(mask); !c.labels.may(has[i]) {
			c.mask &^= 1 << i
		}
	}
}

// advance returns the next leaf that has objects of the set, and sets mask to them. It returns nil
// at the end.
func advance(c *Cursor) *leaf {
	leaves := &stateIn(c.set).objects.leaves
	switch p := c.set.posting; {
	case leaves.base == nil:
		return nil
	case p == nil:
		return nextLeaf(c, leaves)
	case p.n == 1:
		return nextSlots(c, leaves, &c.at, c.one[:], 0)
	case p.many.few != nil:
		return nextSlots(c, leaves, &c.at, p.many.few, 0)
	default:
		return nextOfTree(c, leaves, p.many)
	}
}

func nextLeaf(c *Cursor, leaves *array[leaf]) *leaf {
	for c.at < len(leaves.base.nodes) {
		n := at(leaves, uint32(c.at))
		c.at++
		if n != nil {
			c.mask = 1<<leafLen - 1
			return &n.c
		}
	}
	return nil
}

// nextSlots advances at to the next leaf with some of slots, which are ascending and relative to
// first.
func nextSlots[S uint16 | uint32](c *Cursor, leaves *array[leaf], at *int, slots []S, first uint32) *leaf {
	for *at < len(slots) {
		number, mask := (first+uint32(slots[*at]))>>leafBits, uint8(0)
		for ; *at < len(slots) && (first+uint32(slots[*at]))>>leafBits == number; *at++ {
			mask |= 1 << (slots[*at] % leafLen)
		}
		if lf := leafAt(c, leaves, number, mask); lf != nil {
			return lf
		}
	}
	return nil
}

func nextOfTree(c *Cursor, leaves *array[leaf], s *slots) *leaf {
	for {
		if c.tree == nil {
			in, first, end := nextOf(s.tree, s.height, 0, c.at)
			if in == nil {
				return nil
			}
			c.tree, c.first, c.at, c.slot = in, first, end, 0
		}
		switch t := c.tree.(type) {
		case *list:
			if lf := nextSlots(c, leaves, &c.slot, t.slots, firstOfList(uint32(c.first))); lf != nil {
				return lf
			}
		case *bitmap:
			if lf := nextBits(c, leaves, t); lf != nil {
				return lf
			}
		}
		c.tree = nil
	}
}

// nextBits advances c.slot to the next leaf with slots of b.
func nextBits(c *Cursor, leaves *array[leaf], b *bitmap) *leaf {
	for c.slot < 1<<bitmapBits {
		word := b.words[c.slot/64] >> (c.slot % 64)
		if word == 0 {
			c.slot = (c.slot/64 + 1) * 64
			continue
		}
		c.slot += bits.TrailingZeros64(word) / leafLen * leafLen
		number := (c.first + c.slot) >> leafBits
		mask := uint8(b.words[c.slot/64] >> (c.slot % 64)) // one bit for each slot of a leaf
		c.slot += leafLen
		if lf := leafAt(c, leaves, uint32(number), mask); lf != nil {
			return lf
		}
	}
	return nil
}

// leafAt sets mask and returns the leaf of that number. A slot may be empty, or the leaf missing:
// if a program has changed an object in the table, which is forbidden, and then removed it, its old
// keys stayed in the indexes.
func leafAt(c *Cursor, leaves *array[leaf], number uint32, mask uint8) *leaf {
	n := at(leaves, number)
	if n == nil {
		return nil
	}
	c.mask = mask
	return &n.c
}
