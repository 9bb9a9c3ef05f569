// SPDX-License-Identifier: Apache-2.0

package share

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// checks sees to it that no object gets a part that a program has changed through another object
// that has it. A part is compared with what it was before it is used, once in a round. A round
// begins with a response, and when bytes arrive after a pause, or after some time, of which
// comparing takes a small part. So a change from before the server has sent an object is seen,
// unless that part was compared a moment before the change.
type checks struct {
	made    time.Time
	round   atomic.Uint64
	began   atomic.Int64  // the round, since made
	cost    atomic.Int64  // of the round so far: about how many nanoseconds it took
	damage  atomic.Uint64 // parts and targets that were changed
	all     sync.Mutex    // guards what follows
	ended   time.Time     // when all parts were compared last
	took    time.Duration // how long that took
	spoiled sync.Map      // how often parts of a site were changed, by *site
}

const (
	// changed is no round.
	changed = math.MaxUint64
	// worth is how much longer a round is than its checks take.
	worth = 50
	// maxChanges is how often parts of a site may be changed before it has none any more: there is
	// a program at work that goes on.
	maxChanges = 16
)

// Round begins a round: from now on each part is compared before it is used.
func (t *Table) Round() { t.nextRound(time.Since(t.made)) }

// Arrived says that bytes have come from the server at a time, after a pause or not. A round may
// begin with it. A nil Table is fine.
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

// sound reports whether a part is what it should be, as far as the round demands to know.
func (t *Table) sound(p *Part) bool {
	round := t.round.Load()
	return p.checked.Load() == round || t.compare(p, round)
}

// compare reports whether a part is what it should be.
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

// cost is about how many nanoseconds it takes to compare the memory.
func (m *regions) cost() (ns int) {
	ns = 10 + 6*len(m.blocks) + m.size/20
	for i := range m.maps {
		ns += 30 + 20*m.maps[i].n
	}
	return ns
}

// givenUp reports whether a site gets no more parts.
func (t *Table) givenUp(s *site) bool {
	if t.damage.Load() == 0 {
		return false
	}
	n, ok := t.spoiled.Load(s)
	return ok && n.(*atomic.Int32).Load() >= maxChanges
}

// Intact reports whether nothing was found to be changed since the Table was made.
func (t *Table) Intact() bool { return t.damage.Load() == 0 }

// Check compares everything that the Table has with what it was, begins a round with that, and
// returns Intact. What the Table has forgotten can't be compared. If it is called again and again,
// it takes a small part of the time and returns what is known.
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

// newPart returns a part of the value at field, or nil if it takes too much.
func (t *Table) newPart(c *collector, s *site, hash uint64, raw []byte, field layout.Pointer) *Part {
	p := &Part{site: s, hash: hash, raw: string(raw)}
	p.checked.Store(t.round.Load())
	if s.typ == nil {
		return p
	}
	var ok bool
	if p.regions, ok = c.collect(s.field(), field, t.bound/16); !ok {
		return nil
	}
	if s.kind == Slice {
		p.value = *layout.As[layout.Slice](field)
	} else {
		p.value.Data = *layout.As[layout.Pointer](field)
	}
	p.checksum = p.regions.read(t.seed)
	return p
}
