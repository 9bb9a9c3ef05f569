// SPDX-License-Identifier: Apache-2.0

package share

import (
	"hash/maphash"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Finder finds the parts of objects one after the other, for one goroutine. The caller calls Begin
// for each object, and ShouldTry for each value at a site. If ShouldTry returns true, it finds the
// end of the value and calls Find. If that returns nil, it decodes the value, and calls Enter if
// Find asked for it.
//
// String finds repeated short strings among the Finder's own, not the Table's. So a Finder that
// lives as long as its source saves more memory than one for each stream.
//
// A nil Finder shares nothing.
type Finder struct {
	// Set once at construction.
	table       *Table
	sites       *Sites
	sharesParts bool

	siteList []*site                  // of sites, at the last look-up of a site
	stats    []*[statsChunk]siteStats // by site; nil until a site of the chunk is used
	strings  interner

	enterMarks []int   // values being decoded for the table, nested: length of innerParts before
	innerParts []*Part // parts found in them
	collector  collector
}

type siteStats struct {
	skips     uint16 // number of tries to skip
	lastSkips uint16 // the skips after the last window
	tries     uint8  // tries in this window
	hits      uint8
}

// statsChunk is the number of siteStats allocated at a time. A Finder meets few of the sites of all
// types.
const statsChunk = 16

const (
	window   = 32   // tries before a site is judged
	minHits  = 2    // hits that make a window's tries worthwhile
	minSkips = 128  // visits
	maxSkips = 4096 // visits, so that a site is tried again when the objects change
)

// NewFinder returns a Finder for objects with sites. It takes little memory before its first use.
// With parts false it finds only strings. A nil Table returns a nil Finder.
func (t *Table) NewFinder(sites *Sites, parts bool) *Finder {
	if t == nil {
		return nil
	}
	return &Finder{table: t, sites: sites, sharesParts: parts && t.bound > 0}
}

func (f *Finder) statsOf(site int) *siteStats {
	if s := f.usedStats(site); s != nil {
		return s
	}
	at := site / statsChunk
	if short := at + 1 - len(f.stats); short > 0 {
		f.stats = append(f.stats, make([]*[statsChunk]siteStats, short)...)
	}
	f.stats[at] = new([statsChunk]siteStats)
	return &f.stats[at][site%statsChunk]
}

// usedStats returns the statistics of a site, or nil if its chunk is unused. It is small enough to
// be inlined.
func (f *Finder) usedStats(site int) *siteStats {
	if at := site / statsChunk; at < len(f.stats) && f.stats[at] != nil {
		return &f.stats[at][site%statsChunk]
	}
	return nil
}

func (f *Finder) site(number int) *site {
	if number >= len(f.siteList) {
		f.siteList = f.sites.all()
	}
	return f.siteList[number]
}

// Begin begins an object.
func (f *Finder) Begin() {
	if f == nil {
		return
	}
	clear(f.innerParts)
	f.enterMarks, f.innerParts = f.enterMarks[:0], f.innerParts[:0]
}

// ShouldTry reports whether to look for a part at the site. It must be called once for each value
// there.
func (f *Finder) ShouldTry(site int) bool {
	if f == nil || !f.sharesParts {
		return false
	}
	s := f.usedStats(site)
	if s == nil {
		s = f.statsOf(site)
	}
	if s.skips > 0 {
		s.skips--
		return false
	}
	return true
}

// Find returns the part of the site with these bytes, or nil. If it is nil, enter reports whether
// the caller should decode the value for Enter. The caller then calls Enter for this site next, or
// calls it for this object no more.
func (f *Finder) Find(site int, raw []byte) (p *Part, enter bool) {
	stats, s := f.statsOf(site), f.site(site)
	if len(raw) > f.table.maxPart {
		stats.record(false)
		return nil, false
	}
	hash := f.hash(s, raw)
	if p = f.table.find(s, hash, layout.View(raw)); p != nil && !f.table.isUnchanged(p) {
		p = nil
	}
	stats.record(p != nil)
	if p == nil {
		if enter = f.table.seenBefore(hash) && !f.table.changedTooOften(s); enter {
			f.enterMarks = append(f.enterMarks, len(f.innerParts))
		}
		return nil, enter
	}
	f.touch(p)
	return p, false
}

// Enter makes a part of the value at field, decoded from raw after Find returned enter, unless it
// takes too much memory. If another goroutine was quicker, it sets field to that goroutine's equal
// value. The value must not be changed from now on.
func (f *Finder) Enter(site int, raw []byte, field layout.Pointer) {
	s := f.site(site)
	last := len(f.enterMarks) - 1
	begin := f.enterMarks[last]
	f.enterMarks = f.enterMarks[:last]
	p := f.table.newPart(&f.collector, s, f.hash(s, raw), raw, field)
	if p == nil {
		return
	}
	// A program may have changed inner parts through other objects. Such a change must not get into
	// this part's checksum.
	for _, inner := range f.innerParts[begin:] {
		if !f.table.compare(inner, f.table.round.Load()) {
			return
		}
	}
	p = f.table.enter(p)
	p.Put(field)
	f.touch(p)
}

func (f *Finder) hash(s *site, raw []byte) uint64 {
	return maphash.Bytes(f.table.seed, raw) ^ s.salt
}

func (f *Finder) touch(p *Part) {
	if p.generation.Load() != f.table.generation.Load() {
		f.table.renew(p)
	}
	if len(f.enterMarks) > 0 {
		f.innerParts = append(f.innerParts, p)
	}
}

// record counts a try, and makes ShouldTry skip the site for a while if there are too few hits.
func (s *siteStats) record(hit bool) {
	s.tries++
	if hit {
		s.hits++
	}
	if s.tries < window {
		return
	}
	if s.hits >= minHits {
		s.lastSkips = 0
	} else {
		s.lastSkips = min(max(2*s.lastSkips, minSkips), maxSkips)
		s.skips = s.lastSkips
	}
	s.tries, s.hits = 0, 0
}

// String returns the string with the bytes b if it repeats. Otherwise it returns false, and the
// caller makes the string.
func (f *Finder) String(site int, b []byte) (string, bool) {
	if f == nil || len(b) == 0 || len(b) > maxStringLen {
		return "", len(b) == 0
	}
	s := f.usedStats(site)
	if s == nil {
		s = f.statsOf(site)
	}
	if s.skips > 0 {
		s.skips--
		return "", false
	}
	text, ok := f.strings.get(b)
	s.record(ok)
	return text, ok
}
