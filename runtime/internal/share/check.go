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
	created       time.Time
	round         atomic.Uint64
	roundStart    atomic.Int64  // the round's start, since created
	cost          atomic.Int64  // comparisons of this round so far, in estimated nanoseconds
	changeCount   atomic.Uint64 // changed parts and targets
	checkMu       sync.Mutex    // guards lastCheck and lastDuration
	lastCheck     time.Time     // end of the last comparison of all parts
	lastDuration  time.Duration // of that comparison
	changesBySite sync.Map      // number of changed parts of a site, by *site
}

const (
	// changedMark, instead of a round, marks a changed part.
	changedMark = math.MaxUint64
	// roundFactor is the duration of a round as a multiple of its comparisons.
	roundFactor = 50
	// maxChanges bounds a site's changed parts. Beyond it the site gets no more: a program changes
	// them systematically.
	maxChanges = 16
)

// StartRound begins a round: from now on each part is compared before it is used.
func (t *Table) StartRound() { t.startRoundAt(time.Since(t.created)) }

// BytesArrived records that bytes have come from the server, and whether after a pause. A nil Table
// is fine.
func (t *Table) BytesArrived(now time.Time, paused bool) {
	if t == nil {
		return
	}
	if at := now.Sub(t.created); paused || int64(at)-t.roundStart.Load() >= roundFactor*t.cost.Load() {
		t.startRoundAt(at)
	}
}

func (t *Table) startRoundAt(at time.Duration) {
	t.roundStart.Store(int64(at))
	t.cost.Store(0)
	t.round.Add(1)
}

// isUnchanged reports whether a part is unchanged. It compares the part once in a round.
func (t *Table) isUnchanged(p *Part) bool {
	round := t.round.Load()
	return p.checkedRound.Load() == round || t.compare(p, round)
}

func (t *Table) compare(p *Part, round uint64) bool {
	before := p.checkedRound.Load()
	if before == changedMark {
		return false
	}
	t.cost.Add(int64(p.regions.cost()))
	if p.regions.matches(t.seed, p.checksum) {
		return p.checkedRound.CompareAndSwap(before, round) || p.checkedRound.Load() != changedMark
	}
	if p.checkedRound.Swap(changedMark) != changedMark {
		t.changeCount.Add(1)
		n, _ := t.changesBySite.LoadOrStore(p.site, new(atomic.Int32))
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

func (t *Table) changedTooOften(s *site) bool {
	if t.changeCount.Load() == 0 {
		return false
	}
	n, ok := t.changesBySite.Load(s)
	return ok && n.(*atomic.Int32).Load() >= maxChanges
}

// Intact reports whether no change was found since the Table was made.
func (t *Table) Intact() bool { return t.changeCount.Load() == 0 }

// Check begins a round, compares all parts and targets of the Table, except forgotten ones, with
// their originals, and returns Intact. If called very often, it mostly returns Intact at once, so
// that comparing takes a small share of the time.
func (t *Table) Check() bool {
	t.checkMu.Lock()
	defer t.checkMu.Unlock()
	begin := time.Now()
	if !t.lastCheck.IsZero() && begin.Sub(t.lastCheck) < t.lastDuration*roundFactor/2 {
		return t.Intact()
	}
	t.StartRound()
	round := t.round.Load()
	for _, x := range []*index{t.current.Load(), t.previous.Load()} {
		for p := range x.parts() {
			if p.checkedRound.Load() != round {
				t.compare(p, round)
			}
		}
	}
	t.targets.compare(&t.changeCount)
	t.lastCheck = time.Now()
	t.lastDuration = t.lastCheck.Sub(begin)
	return t.Intact()
}

// newPart returns a part for the value at field, or nil if it takes too much memory.
func (t *Table) newPart(c *collector, s *site, hash uint64, raw []byte, field layout.Pointer) *Part {
	p := &Part{site: s, hash: hash, raw: string(raw)}
	p.checkedRound.Store(t.round.Load())
	var ok bool
	if p.regions, ok = c.collect(s.fieldRef(), field, t.bound/16); !ok {
		return nil
	}
	if s.form == Slice {
		p.value = *layout.As[layout.Slice](field)
	} else {
		p.value.Data = *layout.As[layout.Pointer](field)
	}
	p.checksum = p.regions.checksum(t.seed)
	return p
}
