// SPDX-License-Identifier: Apache-2.0

package share

import (
	"iter"
	"math/rand/v2"
	"sync/atomic"
)

// index is a hash table of parts. One goroutine at a time adds, any number find.
type index struct {
	// a power of two, at least half empty; length 0 is possible while the index is empty
	slots []atomic.Pointer[Part]
	n     int // number of parts; used by the adding goroutine
}

const minIndex = 64

func newIndex(slots int) *index { return &index{slots: make([]atomic.Pointer[Part], slots)} }

func (x *index) find(s *site, hash uint64, raw string) *Part {
	if len(x.slots) == 0 {
		return nil
	}
	for i := int(hash); ; i++ {
		p := x.slots[i&(len(x.slots)-1)].Load()
		if p == nil || p.hash == hash && p.site == s && p.raw == raw && p.checkedRound.Load() != changedMark {
			return p
		}
	}
}

func (x *index) add(p *Part) {
	i := int(p.hash)
	for x.slots[i&(len(x.slots)-1)].Load() != nil {
		i++
	}
	x.slots[i&(len(x.slots)-1)].Store(p)
	x.n++
}

func (x *index) grow() *index {
	larger := newIndex(max(2*len(x.slots), minIndex))
	for p := range x.parts() {
		if p.checkedRound.Load() != changedMark {
			larger.add(p)
		}
	}
	return larger
}

func (x *index) parts() iter.Seq[*Part] {
	return func(yield func(*Part) bool) {
		for i := range x.slots {
			if p := x.slots[i].Load(); p != nil && !yield(p) {
				return
			}
		}
	}
}

// seenSet is a lossy set of hashes seen once.
type seenSet struct {
	slots []atomic.Uint32 // a power of two
	n     atomic.Int64    // hashes added
}

const (
	minSeen = 256
	maxSeen = 16 << 10
)

func newSeenSet(n int) *seenSet { return &seenSet{slots: make([]atomic.Uint32, n)} }

// seen reports whether the hash was seen before, and records it in one of its two slots. If both
// are taken, chance decides, so that alternating hashes don't drive each other out forever.
func (m *seenSet) seen(hash uint64) bool {
	at, mark := hash&uint64(len(m.slots)-2), uint32(hash>>32)|1
	first, second := m.slots[at].Load(), m.slots[at+1].Load()
	if first == mark || second == mark {
		return true
	}
	if first != 0 && (second == 0 || rand.Uint64()&1 == 0) {
		at++
	}
	m.slots[at].Store(mark)
	m.n.Add(1)
	return false
}

func (m *seenSet) full() bool {
	return len(m.slots) < maxSeen && m.n.Load() >= int64(len(m.slots))
}
