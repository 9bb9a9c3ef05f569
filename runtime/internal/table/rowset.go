// SPDX-License-Identifier: Apache-2.0

package table

import "github.com/informer-gen/informer-gen/runtime/object"

// Row is the slot of an object in its table plus one; 0 is no row. An object has one Row from the
// Set that inserts its key to the Delete that removes it. This package says "row" only of this
// number, "slot" of the number without the one, and "position" of an index in an array.
type Row uint32

// Find returns the object under key and its row, or nil and 0 if there is none.
func (v *Version) Find(key object.Key) (object.Object, Row) {
	s := stateOf(v)
	if s == nil {
		return nil, 0
	}
	at, obj := s.find(key, Hash(key), false)
	return obj, at
}

// RowSet is a set of rows. The zero RowSet is empty.
type RowSet struct {
	bits []uint64
	n    int
}

// Add adds a row, which must not be 0.
func (m *RowSet) Add(p Row) {
	word, bit := int(p-1)/64, uint64(1)<<((p-1)%64)
	for word >= len(m.bits) {
		m.bits = append(m.bits, 0)
	}
	if m.bits[word]&bit == 0 {
		m.bits[word] |= bit
		m.n++
	}
}

// Has reports whether a row was added.
func (m *RowSet) Has(p Row) bool {
	word := int(p-1) / 64
	return p > 0 && word < len(m.bits) && m.bits[word]>>((p-1)%64)&1 != 0
}

// Len returns the number of rows.
func (m *RowSet) Len() int { return m.n }

// KeepAll does what Keep does, for all rows of m, and costs much less. Each row must have had an
// object when the Txn began, or before.
//
//go:noinline
func (x Txn) KeepAll(m *RowSet) {
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
