// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Predictor finds the parts of objects one after the other, for one goroutine. For each object: Begin.
// For each site in it: Try. If it says so, Predict from what follows in the input; if that gives
// nothing, find the end of the value and Find it; if that gives nothing either, decode the value,
// and Enter it if Find said so.
//
// It also has the short strings that repeat: String. They are its own. A Predictor that lives as long
// as its source therefore saves more than one for each stream.
//
// A nil Predictor shares nothing.
type Predictor struct {
	// Set once at construction.
	table *Table
	sites []*site
	parts bool

	stats   []*[chunk]siteStats // of sites, nil until one of them is used
	strings interner
	latest  *latest // nil until one is used
	counts  Counts

	entering  []pendingPart // values that are decoded for the table, one in the other
	collector collector

	// Two ways to guess which part comes: that of the object before, and the one that came after
	// the same part last time. The first one is right where objects that are alike come together,
	// as in a list; the second one anywhere, unless the part is one that quite different objects
	// have.
	before, now []*Part // of the object before, and of this one
	size        int     // of those in now
	unlisted    int     // parts of this object that are not in now
	at          int     // in before
	prev        *Part   // the last part of this object that says what follows
}

// pendingPart is a value that is decoded for the table: how many parts were in now, and were left out,
// when that began.
type pendingPart struct{ now, unlisted int }

// Counts says what a Predictor did.
type Counts struct {
	Predicted int // parts that were found by prediction
	Found     int // parts that were found by hash
	Missed    int // values that were not found
	Entered   int // of them, those that became parts
	Skipped   int // values that weren't looked for, because too little repeats at their sites
	Strings   int // strings that were found
}

// siteStats is what a Predictor knows of a site.
type siteStats struct {
	leave uint16 // how often not to try
	pause uint16 // what leave was last
	tries uint8  // of this window
	hits  uint8
	noise uint8 // how badly parts are predicted here by those before
}

// chunk is how many states are made at a time. Most types have many fields that nobody uses.
const chunk = 16

const (
	window   = 32   // tries after which a site is judged
	enough   = 2    // hits of a window that pay for it
	minLeave = 128  // visits
	maxLeave = 4096 // visits, so that a change of what comes is noticed
)

// NewPredictor returns a Predictor for objects with sites, which has taken little memory yet. With parts
// false it finds strings only: then nobody can see that anything is shared. A nil Table gives a nil
// Predictor.
func (t *Table) NewPredictor(sites *Sites, parts bool) *Predictor {
	if t == nil {
		return nil
	}
	return &Predictor{table: t, sites: sites.list, parts: parts && t.bound > 0, stats: make([]*[chunk]siteStats, (sites.Len()+chunk-1)/chunk)}
}

// Counts returns what the Predictor did so far.
func (t *Predictor) Counts() Counts { return t.counts }

// statsOf returns what is known of a site.
func (t *Predictor) statsOf(site int) *siteStats {
	if c := t.stats[site/chunk]; c != nil {
		return &c[site%chunk]
	}
	c := new([chunk]siteStats)
	t.stats[site/chunk] = c
	return &c[site%chunk]
}

// Begin begins an object.
func (t *Predictor) Begin() {
	if t == nil {
		return
	}
	if len(t.now) > 0 {
		t.before, t.now = t.now, t.before[:0]
	}
	t.at, t.prev, t.entering = 0, nil, t.entering[:0]
	t.size, t.unlisted = 0, 0
}

// Try reports whether to look for a part at the site. It is called once for each value there.
func (t *Predictor) Try(site int) bool {
	if t == nil || !t.parts {
		return false
	}
	s := t.statsOf(site)
	if s.leave > 0 {
		s.leave--
		t.counts.Skipped++
		return false
	}
	return true
}

// Predict returns a part of the site with which input begins, or nil. If the caller uses it, it
// calls Follow; it doesn't if input goes on in a way that makes the value another one.
func (t *Predictor) Predict(site int, input []byte) *Part {
	here := t.sites[site]
	for i := t.at; i < len(t.before) && i < t.at+lookAhead; i++ {
		if p := t.before[i]; p.site == here {
			t.at = i + 1
			if p.begins(input) && t.table.sound(p) {
				return p
			}
			break
		}
	}
	if t.prev != nil {
		if p := t.prev.next.Load(); p != nil && p.site == here && p.begins(input) && t.table.sound(p) {
			return p
		}
	}
	return nil
}

const (
	lookAhead  = 8   // how many parts of the object before this one may lack
	maxAhead   = 512 // how many parts of an object are remembered for the next one
	aheadShare = 32  // and how small a part of the table's bound they take
)

// Follow says that a part that Predict returned for the site is used.
func (t *Predictor) Follow(site int, p *Part) {
	s := t.statsOf(site)
	t.counts.Predicted++
	s.judge(true)
	t.used(s, p)
}

// Find returns the part of the site with these bytes, or nil; then enter reports whether the value
// is decoded for Enter, which is called next for this site, or never for this object.
func (t *Predictor) Find(site int, raw []byte) (p *Part, enter bool) {
	s, here := t.statsOf(site), t.sites[site]
	if len(raw) > t.table.maxPart {
		t.counts.Missed++
		s.judge(false)
		return nil, false
	}
	hash := t.hash(here, raw)
	if p = t.table.find(here, hash, layout.View(raw)); p != nil && !t.table.sound(p) {
		p = nil
	}
	s.judge(p != nil)
	if p == nil {
		t.counts.Missed++
		if enter = t.table.seenBefore(hash) && !t.table.givenUp(here); enter {
			t.entering = append(t.entering, pendingPart{len(t.now), t.unlisted})
		}
		return nil, enter
	}
	t.counts.Found++
	t.used(s, p)
	return p, false
}

// Enter makes a part of the value at field, decoded from raw, at a site for which Find said so,
// unless it takes too much memory. It sets field to an equal value if another goroutine was
// quicker. Nothing changes the value from now on.
func (t *Predictor) Enter(site int, raw []byte, field layout.Pointer) {
	here := t.sites[site]
	last := len(t.entering) - 1
	begin := t.entering[last]
	t.entering = t.entering[:last]
	if t.unlisted > begin.unlisted {
		return // some of the parts within are not known
	}
	p := t.table.newPart(&t.collector, here, t.hash(here, raw), raw, field)
	if p == nil {
		return
	}
	// Parts within are other objects', too. What was changed there must not be what this part has
	// to look like.
	for _, inner := range t.now[begin.now:] {
		if !t.table.compare(inner, t.table.round.Load()) {
			return
		}
	}
	p = t.table.enter(p)
	p.Put(field)
	t.counts.Entered++
	t.used(t.statsOf(site), p)
}

func (t *Predictor) hash(s *site, raw []byte) uint64 {
	return maphash.Bytes(t.table.seed, raw) ^ s.salt
}

// noisy is the noise from which on a site's parts don't lead to what follows.
const (
	noisy    = 8
	maxNoise = 64
)

// used keeps the part for another generation, and notes it for the next guess.
func (t *Predictor) used(s *siteStats, p *Part) {
	if p.epoch.Load() != t.table.epoch.Load() {
		t.table.renew(p)
	}
	if size := t.size + p.size(); len(t.now) < maxAhead && size <= t.table.bound/aheadShare {
		t.now, t.size = append(t.now, p), size
	} else {
		t.unlisted++
	}
	if t.prev != nil {
		switch next := t.prev.next.Load(); {
		case next == p:
			if s.noise > 0 {
				s.noise--
			}
		case next != nil && next.site == p.site:
			if s.noise += 2; s.noise >= maxNoise {
				s.noise = noisy - 2 // what is noisy may get better
			}
			fallthrough
		default:
			if s.noise >= noisy {
				return
			}
			t.prev.next.Store(p)
		}
	}
	t.prev = p
}

// judge counts a try, and leaves the site alone for a while if tries don't pay.
func (s *siteStats) judge(hit bool) {
	s.tries++
	if hit {
		s.hits++
	}
	if s.tries < window {
		return
	}
	if s.hits >= enough {
		s.pause = 0
	} else {
		s.pause = min(max(2*s.pause, minLeave), maxLeave)
		s.leave = s.pause
	}
	s.tries, s.hits = 0, 0
}

// String returns the string with the bytes b from among those that repeat at the site. Without one
// it returns false, and it is for the caller to make the string.
func (t *Predictor) String(site int, b []byte) (string, bool) {
	if t == nil || len(b) == 0 || len(b) > maxStringLen {
		return "", len(b) == 0
	}
	s := t.statsOf(site)
	if s.leave > 0 {
		s.leave--
		return "", false
	}
	text, ok := t.strings.get(b)
	s.judge(ok)
	if ok {
		t.counts.Strings++
	}
	return text, ok
}
