// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// Adopter adopts objects one after the other. It serves one goroutine.
type Adopter struct {
	// Set once at construction.
	program *Program
	finder  *share.Finder

	// Results of write, used by read.
	buf         []byte
	depth       int
	longStrings int // strings written as their address
	parts       []part
	entries     []keyedValue

	// State of read.
	nextPart    int // part
	text        layout.Text
	maps        []int      // parts that are maps without entries yet
	lastCopies  []lastCopy // by site: the part of the object that was copied last
	copiedSites []int      // sites with a lastCopy
	reuseFrom   int        // parts before it are not reused
	from        layout.Slice
	word        uint64 // the target of a pointer

	values []*layout.Scratch // of map entries, by map number
	used   []*layout.Scratch // values that are not empty
}

// part is a value that may be shared, behind a pointer, a slice or a map.
type part struct {
	field      *field
	site       int
	start, end int // its written form, in buf
	next       int // the number of the next part outside this one
	// it contains a long string: the part is not in the table, whose bound doesn't count the string
	hasLongString bool

	// Of a map.
	entries, n int            // the first entry, and their number
	newMap     layout.Pointer // the map, set by read: one word
}

type keyedValue struct {
	key   string
	value layout.Pointer // to a copy of it
}

type lastCopy struct {
	start, end int // in buf; 0: no part
	value      layout.Slice
}

// NewAdopter returns an Adopter whose objects share their parts with those of all Adopters of the
// table.
func (p *Program) NewAdopter(table *share.Table) *Adopter {
	return &Adopter{
		program: p, finder: table.NewFinder(&p.sites, true), lastCopies: make([]lastCopy, p.sites.Len()), values: make([]*layout.Scratch, p.maps),
	}
}

// Is reports whether the Adopter belongs to p.
func (a *Adopter) Is(p *Program) bool { return a.program == p }

// Adopt returns a copy of the object at p for the cache. The caller ensures that the object is of
// the Program's type; Adopt doesn't change it. It returns nil if the object is too large or too
// deep, or refers to itself; the caller then keeps the object itself.
func (a *Adopter) Adopt(p layout.Pointer) layout.Pointer {
	root := a.program.root
	var adopted layout.Pointer
	if a.write(root, p) {
		adopted = root.typ.New()
		root.typ.Copy(adopted, p)
		a.finder.Begin()
		start := a.mark()
		a.read(root, adopted)
		a.finish(start)
	}
	a.reset()
	return adopted
}

// Bounds of the scratch memory kept for the next object.
const (
	keepBytes = 64 << 10
	keepParts = 1 << 11
)

func (a *Adopter) reset() {
	a.text.Drop(layout.TextMark{})
	for _, s := range a.used {
		s.Drop(0)
	}
	for _, site := range a.copiedSites {
		a.lastCopies[site] = lastCopy{}
	}
	clear(a.parts)
	clear(a.entries)
	a.buf, a.parts, a.entries, a.used, a.copiedSites, a.maps = a.buf[:0], a.parts[:0], a.entries[:0], a.used[:0], a.copiedSites[:0], a.maps[:0]
	a.depth, a.longStrings, a.nextPart, a.reuseFrom = 0, 0, 0, 0
	if cap(a.buf) > keepBytes {
		a.buf = nil
	}
	if cap(a.parts) > keepParts || cap(a.entries) > keepParts {
		a.parts, a.entries = nil, nil
	}
}

type mark struct {
	text layout.TextMark
	maps int
}

func (a *Adopter) mark() mark { return mark{a.text.Mark(), len(a.maps)} }

func (a *Adopter) finish(since mark) {
	a.text.Set(since.text)
	for _, k := range a.maps[since.maps:] {
		a.fill(&a.parts[k])
	}
	a.maps = a.maps[:since.maps]
}

func (a *Adopter) scratch(f *field) *layout.Scratch {
	s := a.values[f.mapNumber]
	if s == nil {
		s = f.elem.typ.NewScratch()
		a.values[f.mapNumber] = s
	}
	if s.Len() == 0 {
		a.used = append(a.used, s)
	}
	return s
}
