// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/informer-gen/informer-gen/runtime/object"

// Place is the slot of an object in its table plus one; 0 is no place. An object has one Place from
// the Set that inserts its key to the Delete that removes it. This package says "place" only of
// this number, "slot" of the number without the one, and "position" of an index in an array.
type Place uint32

// Find returns the object under key and its place, or nil and 0 if there is none.
func (v *Version) Find(key object.Key) (object.Object, Place) {
	s := stateOf(v)
	if s == nil {
		return nil, 0
	}
	at, obj := s.find(key, Hash(key), false)
	return obj, at
}

// PlaceSet is a set of places. The zero PlaceSet is empty.
type PlaceSet struct {
	bits []uint64
	n    int
}

// Add adds a place, which must not be 0.
func (m *PlaceSet) Add(p Place) {
	word, bit := int(p-1)/64, uint64(1)<<((p-1)%64)
	for word >= len(m.bits) {
		m.bits = append(m.bits, 0)
	}
	if m.bits[word]&bit == 0 {
		m.bits[word] |= bit
		m.n++
	}
}

// Has reports whether a place was added.
func (m *PlaceSet) Has(p Place) bool {
	word := int(p-1) / 64
	return p > 0 && word < len(m.bits) && m.bits[word]>>((p-1)%64)&1 != 0
}

// Len returns the number of places.
func (m *PlaceSet) Len() int { return m.n }

// KeepAll does what Keep does, for all places of m, and costs much less. Each place must have had
// an object when the Txn began, or before.
//
//go:noinline
func (x Txn) KeepAll(m *PlaceSet) {
	if !x.Open() || !writerOf(x).replacing {
		return
	}
	w := writerOf(x)
	for len(w.kept) < len(m.bits) {
		w.kept = append(w.kept, 0)
	}
	for i, bits := range m.bits {
		w.kept[i] |= bits
	}
}
