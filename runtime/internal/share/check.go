// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// checks compares parts with their originals, in rounds: see the package's comment.
type checks struct {
	made    time.Time
	round   atomic.Uint64
	began   atomic.Int64  // the round's start, since made
	cost    atomic.Int64  // comparisons of this round so far, in estimated nanoseconds
	damage  atomic.Uint64 // changed parts and targets
	all     sync.Mutex    // guards ended and took
	ended   time.Time     // of the last comparison of all parts
	took    time.Duration // by that comparison
	spoiled sync.Map      // number of changed parts of a site, by *site
}

const (
	// changed, instead of a round, marks a changed part.
	changed = math.MaxUint64
	// worth is the duration of a round as a multiple of its comparisons.
	worth = 50
	// maxChanges bounds a site's changed parts. Beyond it the site gets no more: a program changes
	// them systematically.
	maxChanges = 16
)

// Round begins a round: from now on each part is compared before it is used.
func (t *Table) Round() { t.nextRound(time.Since(t.made)) }

// Arrived records that bytes have come from the server, and whether after a pause. A nil Table is
// fine.
func (t *Table) Arrived(now time.Time, paused bool) {
	if t == nil {
		return
	}
	if at := now.Sub(t.made); paused || int64(at)-t.began.Load() >= worth*t.cost.Load() {
		t.nextRound(at)
	}
}

func (t *Table) nextRound(at time.Duration) {
	t.began.Store(int64(at))
	t.cost.Store(0)
	t.round.Add(1)
}

// sound reports whether a part is unchanged. It compares the part once in a round.
func (t *Table) sound(p *Part) bool {
	round := t.round.Load()
	return p.checked.Load() == round || t.compare(p, round)
}

func (t *Table) compare(p *Part, round uint64) bool {
	before := p.checked.Load()
	if before == changed {
		return false
	}
	t.cost.Add(int64(p.regions.cost()))
	if p.regions.is(t.seed, p.checksum) {
		return p.checked.CompareAndSwap(before, round) || p.checked.Load() != changed
	}
	if p.checked.Swap(changed) != changed {
		t.damage.Add(1)
		n, _ := t.spoiled.LoadOrStore(p.site, new(atomic.Int32))
		n.(*atomic.Int32).Add(1)
	}
	return false
}

func (m *regions) cost() (ns int) {
	ns = 10 + 6*len(m.blocks) + m.size/20
	for i := range m.maps {
		ns += 30 + 20*m.maps[i].n
	}
	return ns
}

func (t *Table) givenUp(s *site) bool {
	if t.damage.Load() == 0 {
		return false
	}
	n, ok := t.spoiled.Load(s)
	return ok && n.(*atomic.Int32).Load() >= maxChanges
}

// Intact reports whether no change was found since the Table was made.
func (t *Table) Intact() bool { return t.damage.Load() == 0 }

// Check begins a round, compares all parts and targets of the Table, except forgotten ones, with
// their originals, and returns Intact. If called very often, it mostly returns Intact at once, so
// that comparing takes a small share of the time.
func (t *Table) Check() bool {
	t.all.Lock()
	defer t.all.Unlock()
	begin := time.Now()
	if !t.ended.IsZero() && begin.Sub(t.ended) < t.took*worth/2 {
		return t.Intact()
	}
	t.Round()
	round := t.round.Load()
	for _, x := range []*index{t.current.Load(), t.previous.Load()} {
		for p := range x.parts() {
			if p.checked.Load() != round {
				t.compare(p, round)
			}
		}
	}
	t.targets.compare(&t.damage)
	t.ended = time.Now()
	t.took = t.ended.Sub(begin)
	return t.Intact()
}

// newPart returns a part for the value at field, or nil if it takes too much memory.
func (t *Table) newPart(c *collector, s *site, hash uint64, raw []byte, field layout.Pointer) *Part {
	p := &Part{site: s, hash: hash, raw: string(raw)}
	p.checked.Store(t.round.Load())
	var ok bool
	if p.regions, ok = c.collect(s.field(), field, t.bound/16); !ok {
		return nil
	}
	if s.form == Slice {
		p.value = *layout.As[layout.Slice](field)
	} else {
		p.value.Data = *layout.As[layout.Pointer](field)
	}
	p.checksum = p.regions.read(t.seed)
	return p
}
