// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math/bits"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Row is the slot of an object in its table plus one; 0 is no row. An object keeps its Row from the
// Set that inserts its key to the Delete that removes it. In this package, "row" means only this
// number, "slot" the number without the one, and "position" an index into an array.
type Row uint32

// Find returns the object under key and its row, or nil and 0 if there is none.
func (v *Version) Find(key object.Key) (object.Object, Row) {
	s := stateOf(v)
	if s == nil {
		return nil, 0
	}
	slot, obj := s.find(key, Hash(key))
	if obj == nil {
		return nil, 0
	}
	return obj, Row(slot + 1)
}

// RowSet is a set of rows. The zero RowSet is empty.
type RowSet struct {
	bits []uint64
	n    int
}

// Add adds a row, which must not be 0.
func (s *RowSet) Add(row Row) {
	word, bit := int(row-1)/64, uint64(1)<<((row-1)%64)
	for word >= len(s.bits) {
		s.bits = append(s.bits, 0)
	}
	if s.bits[word]&bit == 0 {
		s.bits[word] |= bit
		s.n++
	}
}

// Has reports whether row was added.
func (s *RowSet) Has(row Row) bool {
	word := int(row-1) / 64
	return row > 0 && word < len(s.bits) && s.bits[word]>>((row-1)%64)&1 != 0
}

// Len returns the number of rows.
func (s *RowSet) Len() int { return s.n }

// KeepAll is Keep for all rows of s, at much less cost. Each row must have had an object when the
// Txn began, or before.
//
//go:noinline
func (x Txn) KeepAll(s *RowSet) {
	if !x.Open() || !writerOf(x).replacing {
		return
	}
	kept := &writerOf(x).kept
	kept.bits = append(kept.bits, make([]uint64, max(0, len(s.bits)-len(kept.bits)))...)
	for i, has := range s.bits {
		kept.n += bits.OnesCount64(has &^ kept.bits[i])
		kept.bits[i] |= has
	}
}
