// SPDX-License-Identifier: Apache-2.0

package table

import "math/bits"

// slotSet is a bitmap of the slots that are taken, and finds the lowest free one. It is the
// writer's, not part of a Version. Its zero value has all slots free.
//
// levels[0] has a bit for every slot. A bit of levels[i+1] is set when all 64 bits of the word
// below it in levels[i] are set. So no word of the last level is full. Slots beyond the end of a
// level are free.
type slotSet struct{ levels [][]uint64 }

// take marks the lowest free slot as taken and returns it.
func (s *slotSet) take() uint32 {
	at := 0
	for level := len(s.levels) - 1; level >= 0; level-- {
		word := uint64(0)
		if words := s.levels[level]; at < len(words) {
			word = words[at]
		}
		at = at<<6 + bits.TrailingZeros64(^word)
	}
	s.add(uint32(at))
	return uint32(at)
}

// add marks a slot as taken.
func (s *slotSet) add(slot uint32) {
	at, full := int(slot), true
	for level := 0; full; level++ {
		if level == len(s.levels) {
			s.levels = append(s.levels, nil)
		}
		words := s.levels[level]
		for at>>6 >= len(words) {
			words = append(words, 0)
		}
		s.levels[level] = words
		words[at>>6] |= 1 << (at & 63)
		at >>= 6
		full = words[at] == ^uint64(0)
	}
}

// remove marks a slot as free.
func (s *slotSet) remove(slot uint32) {
	at := int(slot)
	for _, words := range s.levels {
		if at>>6 >= len(words) {
			return
		}
		words[at>>6] &^= 1 << (at & 63)
		at >>= 6
	}
}
