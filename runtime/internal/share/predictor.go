// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Predictor finds the parts of objects one after the other, for one goroutine. The caller calls
// Begin for each object, and Try for each value at a site. If Try returns true, it calls Predict
// with the rest of the input. If that returns nil, it finds the end of the value and calls Find. If
// that returns nil, too, it decodes the value, and calls Enter if Find asked for it.
//
// It also finds short strings that repeat, by String. These are its own, not the Table's. So a
// Predictor that lives as long as its source saves more memory than one for each stream.
//
// A nil Predictor shares nothing.
type Predictor struct {
	// Set once at construction.
	table *Table
	sites *Sites
	parts bool

	known   []*site             // of sites, when a site was looked up last
	stats   []*[chunk]siteStats // by site; as long as needed, nil until a site of the chunk is used
	strings interner
	latest  *latest // nil until a scalar is used
	counts  Counts

	entering  []pendingPart // values that are being decoded for the table, nested
	collector collector

	// There are two predictions of the next part: the part that the previous object has there, and
	// the part that followed the present part last time. The first is right where similar objects
	// come together, as in a list. The second is right anywhere, unless very different objects have
	// the present part.
	before, now []*Part // parts of the previous object, and of this one
	size        int     // bytes of those in now
	unlisted    int     // number of parts of this object that are not in now
	at          int     // index in before
	prev        *Part   // the last part of this object that leads to a next one
}

// pendingPart is a value that is being decoded for the table: the number of parts in now, and of
// unlisted ones, when that began.
type pendingPart struct{ now, unlisted int }

// Counts counts the results of a Predictor.
type Counts struct {
	Predicted int // parts that were found by prediction
	Found     int // parts that were found by hash
	Missed    int // values that were not found
	Entered   int // missed values that became parts
	Skipped   int // values that weren't looked up, because too little repeats at their sites
	Strings   int // strings that were found
}

// siteStats are a Predictor's statistics of a site.
type siteStats struct {
	leave uint16 // number of tries to skip
	pause uint16 // the last value of leave
	tries uint8  // tries in this window
	hits  uint8
	noise uint8 // how badly previous parts predict the part here
}

// chunk is the number of siteStats that are allocated at a time. Sites are those of all types, of
// which a Predictor meets few.
const chunk = 16

const (
	window   = 32   // tries after which a site is judged
	enough   = 2    // hits in a window that are worth its tries
	minLeave = 128  // visits
	maxLeave = 4096 // visits, so that a site is tried again when the objects change
)

// NewPredictor returns a Predictor for objects with sites. It takes little memory before its first
// use. With parts false it finds strings only, whose sharing a program can't notice. A nil Table
// returns a nil Predictor.
func (t *Table) NewPredictor(sites *Sites, parts bool) *Predictor {
	if t == nil {
		return nil
	}
	return &Predictor{table: t, sites: sites, parts: parts && t.bound > 0}
}

// Counts returns the counts so far.
func (t *Predictor) Counts() Counts { return t.counts }

// statsOf returns the statistics of a site.
func (t *Predictor) statsOf(site int) *siteStats {
	if s := t.usedStats(site); s != nil {
		return s
	}
	at := site / chunk
	if short := at + 1 - len(t.stats); short > 0 {
		t.stats = append(t.stats, make([]*[chunk]siteStats, short)...)
	}
	t.stats[at] = new([chunk]siteStats)
	return &t.stats[at][site%chunk]
}

// usedStats returns the statistics of a site, or nil if its chunk is unused. It is small enough to
// be inlined.
func (t *Predictor) usedStats(site int) *siteStats {
	if at := site / chunk; at < len(t.stats) && t.stats[at] != nil {
		return &t.stats[at][site%chunk]
	}
	return nil
}

// site returns the site with a number, of a part.
func (t *Predictor) site(number int) *site {
	if number >= len(t.known) {
		t.known = t.sites.all()
	}
	return t.known[number]
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

// Try reports whether to look for a part at the site. It must be called once for each value there.
func (t *Predictor) Try(site int) bool {
	if t == nil || !t.parts {
		return false
	}
	s := t.usedStats(site)
	if s == nil {
		s = t.statsOf(site)
	}
	if s.leave > 0 {
		s.leave--
		t.counts.Skipped++
		return false
	}
	return true
}

// Predict returns a part of the site whose bytes input begins with, or nil. A caller that uses the
// part calls Follow. It must not use the part if the bytes after it belong to the value, too.
func (t *Predictor) Predict(site int, input []byte) *Part {
	here := t.site(site)
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
	lookAhead  = 8   // how many parts of the previous object this one may lack
	maxAhead   = 512 // how many parts of an object are listed for the next one
	aheadShare = 32  // they take at most the table's bound divided by this
)

// Follow records that the caller uses a part that Predict returned for the site.
func (t *Predictor) Follow(site int, p *Part) {
	s := t.statsOf(site)
	t.counts.Predicted++
	s.judge(true)
	t.used(s, p)
}

// Find returns the part of the site with these bytes, or nil. If it is nil, enter reports whether
// the caller should decode the value for Enter. The caller then calls Enter for this site next, or
// calls it for this object no more.
func (t *Predictor) Find(site int, raw []byte) (p *Part, enter bool) {
	s, here := t.statsOf(site), t.site(site)
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

// Enter makes a part of the value at field, which was decoded from raw after Find returned enter,
// unless it takes too much memory. If another goroutine was quicker, it sets field to that
// goroutine's equal value. The value must not be changed from now on.
func (t *Predictor) Enter(site int, raw []byte, field layout.Pointer) {
	here := t.site(site)
	last := len(t.entering) - 1
	begin := t.entering[last]
	t.entering = t.entering[:last]
	if t.unlisted > begin.unlisted {
		return // some parts in it are not listed
	}
	p := t.table.newPart(&t.collector, here, t.hash(here, raw), raw, field)
	if p == nil {
		return
	}
	// Parts in this one may be shared with other objects, and a program may have changed them
	// there. Such a change must not get into this part's checksum.
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

// noisy is the noise from which on parts of a site don't predict the next part.
const (
	noisy    = 8
	maxNoise = 64
)

// used keeps the part for another generation, and records it for the next prediction.
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
				s.noise = noisy - 2 // gives a noisy site another chance
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

// judge counts a try, and makes Try skip the site for a while if there are too few hits.
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

// String returns the string with the bytes b if it repeats. Otherwise it returns false, and the
// caller makes the string.
func (t *Predictor) String(site int, b []byte) (string, bool) {
	if t == nil || len(b) == 0 || len(b) > maxStringLen {
		return "", len(b) == 0
	}
	s := t.usedStats(site)
	if s == nil {
		s = t.statsOf(site)
	}
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
