// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"
	"slices"

	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	spanBits = 12 // 4,096 slots
	fewMax   = 128
	spanFew  = 256 // from here on a list of uint16 takes more than a bitmap
)

// posting is one key of an index and the slots of the objects that have it, at least one. Most keys of most indexes have
// one object, so that case takes 32 bytes and nothing else.
//
//	n = 1            one
//	n ≤ fewMax       many.few: slots, ascending
//	n > fewMax       many.spans, ascending: of each 4,096 slots that has any, a list of its few slots or a bitmap
//
// A posting that goes down to half of a limit takes the smaller form again.
type posting struct {
	key  any
	n    uint32
	one  uint32
	many *slots
}

// slots is the larger half of a posting. Who owns it owns the posting too: they are made together.
type slots struct {
	owner uint64
	few   []uint32 // with room behind it, it is owner's; without, perhaps not
	spans []span
}

type span struct {
	number uint32
	n      uint32
	few    []uint16 // ascending; with room behind it, it is the posting's owner's; without, perhaps not
	bits   *spanSet
}

type spanSet struct {
	owner uint64
	words [1 << spanBits / 64]uint64
}

// allOf yields the object of every slot until yield returns false. They are all over the place, so it reads some at once, which
// the processor then fetches at once.
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

// and yields the object of every slot that other has too until yield returns false.
func and(p, other *posting, objects *vector, yield func(object.Object) bool) {
	p.slots(func(slot uint32) bool {
		if !other.has(slot) {
			return true
		}
		obj := objects.get(slot)
		return obj == nil || yield(obj)
	})
}

// slots yields every slot until yield returns false.
func (p *posting) slots(yield func(uint32) bool) {
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
		for i := range p.many.spans {
			if !p.many.spans[i].slots(yield) {
				return
			}
		}
	}
}

func (s *span) slots(yield func(uint32) bool) bool {
	first := s.number << spanBits
	for _, slot := range s.few {
		if !yield(first + uint32(slot)) {
			return false
		}
	}
	if s.bits == nil {
		return true
	}
	for i, word := range s.bits.words {
		for ; word != 0; word &= word - 1 {
			if !yield(first + uint32(i*64+bits.TrailingZeros64(word))) {
				return false
			}
		}
	}
	return true
}

func (p *posting) has(slot uint32) bool {
	switch {
	case p.n == 1:
		return p.one == slot
	case p.many.few != nil:
		_, found := slices.BinarySearch(p.many.few, slot)
		return found
	}
	at, found := p.many.find(slot >> spanBits)
	return found && p.many.spans[at].has(slot)
}

// placesOf yields every slot of p and its object until yield returns false. It copies the slots, which readers of many objects
// should not.
func placesOf(p *posting, objects *vector, yield func(uint32, object.Object) bool) {
	all := []uint32{p.one}
	if p.n > 1 {
		all = p.many.few
	}
	if p.n > 1 && p.many.few == nil {
		all = make([]uint32, 0, p.n)
		for i := range p.many.spans {
			all = p.many.spans[i].appendTo(all)
		}
	}
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
		return newPosting(p.key, 2, slots{owner: owner, few: few})
	}
	if p.many.few != nil {
		at, found := slices.BinarySearch(p.many.few, slot)
		if found {
			return p
		}
		mine := p.many.owner == owner
		p = p.own(owner)
		p.n++
		p.many.few = inserted(p.many.few, at, slot, mine)
		if p.n > fewMax {
			p.many.spread(owner)
		}
		return p
	}
	at, found := p.many.find(slot >> spanBits)
	if found && p.many.spans[at].has(slot) {
		return p
	}
	mine := p.many.owner == owner
	p = p.own(owner)
	p.n++
	if !found {
		p.many.spans = slices.Insert(p.many.spans, at, span{number: slot >> spanBits})
	}
	p.many.spans[at].add(owner, slot, mine)
	return p
}

// without returns the posting without slot: p itself when slot isn't in it, or when owner owns p; nil when no slot is
// left.
func (p *posting) without(owner uint64, slot uint32) *posting {
	if p.n == 1 {
		if p.one == slot {
			return nil
		}
		return p
	}
	if p.many.few != nil {
		at, found := slices.BinarySearch(p.many.few, slot)
		if !found {
			return p
		}
		if p.n == 2 {
			return &posting{key: p.key, n: 1, one: p.many.few[1-at]}
		}
		p = p.own(owner)
		p.n--
		p.many.few = removed(p.many.few, at)
		return p
	}
	at, found := p.many.find(slot >> spanBits)
	if !found || !p.many.spans[at].has(slot) {
		return p
	}
	p = p.own(owner)
	p.n--
	if p.many.spans[at].n == 1 {
		p.many.spans = slices.Delete(p.many.spans, at, at+1)
	} else {
		p.many.spans[at].remove(owner, slot)
	}
	if p.n <= fewMax/2 {
		p.many.gather(int(p.n))
	}
	return p
}

// own returns p, which has more than one slot, or a copy that owner may change.
func (p *posting) own(owner uint64) *posting {
	if p.many.owner == owner {
		return p
	}
	spans := slices.Clone(p.many.spans)
	for i := range spans {
		spans[i].few = slices.Clip(spans[i].few)
	}
	return newPosting(p.key, p.n, slots{owner: owner, few: slices.Clip(p.many.few), spans: spans})
}

// newPosting makes a posting of more than one slot, both halves in one piece.
func newPosting(key any, n uint32, many slots) *posting {
	p := &struct {
		posting
		slots
	}{posting{key: key, n: n}, many}
	p.posting.many = &p.slots
	return &p.posting
}

func (s *slots) find(number uint32) (at int, found bool) {
	lo, hi := 0, len(s.spans)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if s.spans[mid].number < number {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < len(s.spans) && s.spans[lo].number == number
}

// spread turns few into spans.
func (s *slots) spread(owner uint64) {
	for _, slot := range s.few {
		if n := len(s.spans); n == 0 || s.spans[n-1].number != slot>>spanBits {
			s.spans = append(s.spans, span{number: slot >> spanBits})
		}
		s.spans[len(s.spans)-1].add(owner, slot, true)
	}
	s.few = nil
}

// gather turns spans of n slots into few.
func (s *slots) gather(n int) {
	s.few = make([]uint32, 0, n)
	for i := range s.spans {
		s.few = s.spans[i].appendTo(s.few)
	}
	s.spans = nil
}

func (s *span) appendTo(dst []uint32) []uint32 {
	first := s.number << spanBits
	for _, slot := range s.few {
		dst = append(dst, first+uint32(slot))
	}
	if s.bits != nil {
		for i, word := range s.bits.words {
			for ; word != 0; word &= word - 1 {
				dst = append(dst, first+uint32(i*64+bits.TrailingZeros64(word)))
			}
		}
	}
	return dst
}

func (s *span) has(slot uint32) bool {
	slot %= 1 << spanBits
	if s.bits != nil {
		return s.bits.words[slot/64]>>(slot%64)&1 != 0
	}
	_, found := slices.BinarySearch(s.few, uint16(slot))
	return found
}

// add adds a slot that isn't there. With more, others are likely to follow.
func (s *span) add(owner uint64, slot uint32, more bool) {
	slot %= 1 << spanBits
	s.n++
	if s.bits == nil {
		at, _ := slices.BinarySearch(s.few, uint16(slot))
		s.few = inserted(s.few, at, uint16(slot), more)
		if s.n > spanFew {
			s.bits = &spanSet{owner: owner}
			for _, slot := range s.few {
				s.bits.words[slot/64] |= 1 << (slot % 64)
			}
			s.few = nil
		}
		return
	}
	s.ownBits(owner)
	s.bits.words[slot/64] |= 1 << (slot % 64)
}

// remove removes a slot that is there, with others.
func (s *span) remove(owner uint64, slot uint32) {
	slot %= 1 << spanBits
	s.n--
	if s.bits == nil {
		at, _ := slices.BinarySearch(s.few, uint16(slot))
		s.few = removed(s.few, at)
		return
	}
	s.ownBits(owner)
	s.bits.words[slot/64] &^= 1 << (slot % 64)
	if s.n <= spanFew/2 {
		few := make([]uint16, 0, s.n)
		for i, word := range s.bits.words {
			for ; word != 0; word &= word - 1 {
				few = append(few, uint16(i*64+bits.TrailingZeros64(word)))
			}
		}
		s.few, s.bits = few, nil
	}
}

func (s *span) ownBits(owner uint64) {
	if s.bits.owner != owner {
		s.bits = &spanSet{owner: owner, words: s.bits.words}
	}
}

// inserted inserts e. Where there is room behind s it is put there, which is for the owner alone to do. Else s is copied, with
// some room if there are more to come.
func inserted[E any](s []E, at int, e E, more bool) []E {
	if len(s) < cap(s) {
		s = s[:len(s)+1]
		copy(s[at+1:], s[at:])
		s[at] = e
		return s
	}
	room := len(s) + 1
	if more {
		room += len(s) / 4
	}
	c := make([]E, len(s)+1, room)
	copy(c, s[:at])
	c[at] = e
	copy(c[at+1:], s[at:])
	return c
}

func removed[E any](s []E, at int) []E {
	if len(s) < cap(s) {
		return append(s[:at], s[at+1:]...)
	}
	c := make([]E, len(s)-1)
	copy(c, s[:at])
	copy(c[at:], s[at+1:])
	return c
}
