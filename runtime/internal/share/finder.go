// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Finder finds the parts of objects one after the other, for one goroutine. The caller calls Begin
// for each object, and Try for each value at a site. If Try returns true, it finds the end of the
// value and calls Find. If that returns nil, it decodes the value, and calls Enter if Find asked
// for it.
//
// String finds repeated short strings among the Finder's own, not the Table's. So a Finder that
// lives as long as its source saves more memory than one for each stream.
//
// A nil Finder shares nothing.
type Finder struct {
	// Set once at construction.
	table *Table
	sites *Sites
	parts bool

	known   []*site             // of sites, at the last look-up of a site
	stats   []*[chunk]siteStats // by site; as long as needed, nil until a site of the chunk is used
	strings interner

	entering  []int   // values being decoded for the table, nested: length of inner before
	inner     []*Part // parts found in them
	collector collector
}

type siteStats struct {
	leave uint16 // number of tries to skip
	pause uint16 // the last value of leave
	tries uint8  // tries in this window
	hits  uint8
}

// chunk is the number of siteStats allocated at a time. A Finder meets few of the sites of all
// types.
const chunk = 16

const (
	window   = 32   // tries after which a site is judged
	enough   = 2    // hits in a window that are worth its tries
	minLeave = 128  // visits
	maxLeave = 4096 // visits, so that a site is tried again when the objects change
)

// NewFinder returns a Finder for objects with sites. It takes little memory before its first use.
// With parts false it finds only strings. A nil Table returns a nil Finder.
func (t *Table) NewFinder(sites *Sites, parts bool) *Finder {
	if t == nil {
		return nil
	}
	return &Finder{table: t, sites: sites, parts: parts && t.bound > 0}
}

func (t *Finder) statsOf(site int) *siteStats {
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
func (t *Finder) usedStats(site int) *siteStats {
	if at := site / chunk; at < len(t.stats) && t.stats[at] != nil {
		return &t.stats[at][site%chunk]
	}
	return nil
}

func (t *Finder) site(number int) *site {
	if number >= len(t.known) {
		t.known = t.sites.all()
	}
	return t.known[number]
}

// Begin begins an object.
func (t *Finder) Begin() {
	if t == nil {
		return
	}
	clear(t.inner)
	t.entering, t.inner = t.entering[:0], t.inner[:0]
}

// Try reports whether to look for a part at the site. It must be called once for each value there.
func (t *Finder) Try(site int) bool {
	if t == nil || !t.parts {
		return false
	}
	s := t.usedStats(site)
	if s == nil {
		s = t.statsOf(site)
	}
	if s.leave > 0 {
		s.leave--
		return false
	}
	return true
}

// Find returns the part of the site with these bytes, or nil. If it is nil, enter reports whether
// the caller should decode the value for Enter. The caller then calls Enter for this site next, or
// calls it for this object no more.
func (t *Finder) Find(site int, raw []byte) (p *Part, enter bool) {
	s, here := t.statsOf(site), t.site(site)
	if len(raw) > t.table.maxPart {
		s.judge(false)
		return nil, false
	}
	hash := t.hash(here, raw)
	if p = t.table.find(here, hash, layout.View(raw)); p != nil && !t.table.sound(p) {
		p = nil
	}
	s.judge(p != nil)
	if p == nil {
		if enter = t.table.seenBefore(hash) && !t.table.givenUp(here); enter {
			t.entering = append(t.entering, len(t.inner))
		}
		return nil, enter
	}
	t.used(p)
	return p, false
}

// Enter makes a part of the value at field, decoded from raw after Find returned enter, unless it
// takes too much memory. If another goroutine was quicker, it sets field to that goroutine's equal
// value. The value must not be changed from now on.
func (t *Finder) Enter(site int, raw []byte, field layout.Pointer) {
	here := t.site(site)
	last := len(t.entering) - 1
	begin := t.entering[last]
	t.entering = t.entering[:last]
	p := t.table.newPart(&t.collector, here, t.hash(here, raw), raw, field)
	if p == nil {
		return
	}
	// A program may have changed inner parts through other objects. Such a change must not get into
	// this part's checksum.
	for _, inner := range t.inner[begin:] {
		if !t.table.compare(inner, t.table.round.Load()) {
			return
		}
	}
	p = t.table.enter(p)
	p.Put(field)
	t.used(p)
}

func (t *Finder) hash(s *site, raw []byte) uint64 {
	return maphash.Bytes(t.table.seed, raw) ^ s.salt
}

func (t *Finder) used(p *Part) {
	if p.epoch.Load() != t.table.epoch.Load() {
		t.table.renew(p)
	}
	if len(t.entering) > 0 {
		t.inner = append(t.inner, p)
	}
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
func (t *Finder) String(site int, b []byte) (string, bool) {
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
	return text, ok
}
