// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// Table holds the parts of the objects of one source. It is safe for concurrent use: finding takes
// no lock.
//
// The memory of its parts is bounded. It forgets in two generations: when the parts used in the
// current generation take half of the bound, a new generation begins, and parts last used before
// the previous one are forgotten. Objects with such a part keep it. A value decoded from more than
// a 128th of the bound, or taking more than a 16th of it, is never kept.
type Table struct {
	// Set once at construction.
	seed    maphash.Seed
	bound   int
	maxPart int // maximum encoded bytes of a part

	// Changed under mu, read without.
	current, previous atomic.Pointer[index]   // by generation
	generation        atomic.Uint32           // counts generations
	seen              atomic.Pointer[seenSet] // hashes of values seen once

	checks  // has its own synchronization
	targets targets

	mu    sync.Mutex // guards the fields below
	bytes int        // of parts in current
}

// New returns a Table whose parts take at most maxBytes, including their values; with 0 it keeps
// none. It allocates memory as needed.
func New(maxBytes int) *Table {
	t := &Table{seed: maphash.MakeSeed(), bound: maxBytes, maxPart: maxBytes / 128}
	t.current.Store(newIndex(0))
	t.previous.Store(newIndex(0))
	t.seen.Store(newSeenSet(0))
	t.created = time.Now()
	return t
}

func (t *Table) find(s *site, hash uint64, raw string) *Part {
	p := t.current.Load().find(s, hash, raw)
	if p == nil {
		p = t.previous.Load().find(s, hash, raw)
	}
	return p
}

func (t *Table) enter(p *Part) *Part {
	t.mu.Lock()
	defer t.mu.Unlock()
	if equal := t.find(p.site, p.hash, p.raw); equal != nil && t.isUnchanged(equal) {
		return equal
	}
	t.addLocked(p)
	return p
}

func (t *Table) renew(p *Part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.generation.Load() != t.generation.Load() {
		t.addLocked(p)
	}
}

func (t *Table) addLocked(p *Part) {
	size := p.size()
	if t.bytes+size > t.bound/2 && t.bytes > 0 {
		t.startGenerationLocked()
	}
	p.generation.Store(t.generation.Load())
	x := t.current.Load()
	if 2*x.n >= len(x.slots) {
		x = x.grow()
		t.current.Store(x)
	}
	x.add(p)
	t.bytes += size
}

func (t *Table) startGenerationLocked() {
	t.generation.Add(1)
	t.previous.Store(t.current.Load())
	t.current.Store(newIndex(0))
	t.bytes = 0
}

func (t *Table) seenBefore(hash uint64) bool {
	seen := t.seen.Load()
	if seen.full() {
		seen = t.growSeen(seen)
	}
	return seen.seen(hash)
}

func (t *Table) growSeen(full *seenSet) *seenSet {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen.Load() == full {
		t.seen.Store(newSeenSet(min(max(4*len(full.slots), minSeen), maxSeen)))
	}
	return t.seen.Load()
}
