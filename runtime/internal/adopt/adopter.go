// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// Adopter adopts objects one after the other. It serves one goroutine.
type Adopter struct {
	// Set once at construction.
	program   *Program
	predictor *share.Predictor

	// What write leaves for read, of the object at hand.
	buf     []byte
	depth   int
	parts   []part
	entries []entry

	// What read has.
	next  int // part
	text  layout.Text
	maps  []int // parts that are maps and have no entries yet
	own   []own // by site: the part of the object that was copied last
	ownSites []int // sites in own
	floor int   // parts before it are not taken again
	from  layout.Slice
	word  uint64 // what a pointer points to

	values []*layout.Scratch // of entries, by the numbers of maps
	used   []*layout.Scratch // those that are not empty
}

// part is a value that may be shared: what a pointer, a slice or a map refers to.
type part struct {
	field      *field
	site       int
	start, end int // of what it is written as, in buf
	next       int // the part that follows those in it

	// Of a map.
	entries, n int            // the first entry, and how many there are
	made       layout.Pointer // by read: one word
}

// entry is one of a map.
type entry struct {
	key   string
	value layout.Pointer // to a copy of it
}

// own is a part that belongs to the object.
type own struct {
	start, end int // in buf; 0: there is none
	value      layout.Slice
}

// NewAdopter returns an Adopter whose objects share their parts with those of all Adopters of the
// table.
func (p *Program) NewAdopter(table *share.Table) *Adopter {
	return &Adopter{
		program: p, predictor: table.NewPredictor(&p.sites, true), own: make([]own, p.sites.Len()), values: make([]*layout.Scratch, p.maps),
	}
}

// Is reports whether the Adopter is one of the Program's.
func (a *Adopter) Is(p *Program) bool { return a.program == p }

// Adopt returns what is to be kept in the place of the object at p, which it doesn't change: an
// equal one. The caller knows that it is of the Program's type. It returns nil if the object is too
// large or too deep, or refers to itself; then it is to be kept as it is.
func (a *Adopter) Adopt(p layout.Pointer) layout.Pointer {
	root := a.program.root
	var adopted layout.Pointer
	if a.write(root, p) {
		adopted = root.typ.New()
		root.typ.Copy(adopted, p)
		a.predictor.Begin()
		start := a.mark()
		a.read(root, adopted)
		a.finish(start)
	}
	a.forget()
	return adopted
}

// What is kept for the next object, at most.
const (
	keepBytes = 64 << 10
	keepParts = 1 << 11
)

// forget drops what is left of the object.
func (a *Adopter) forget() {
	a.text.Drop(layout.TextMark{})
	for _, s := range a.used {
		s.Drop(0)
	}
	for _, site := range a.ownSites {
		a.own[site] = own{}
	}
	clear(a.parts)
	clear(a.entries)
	a.buf, a.parts, a.entries, a.used, a.ownSites, a.maps = a.buf[:0], a.parts[:0], a.entries[:0], a.used[:0], a.ownSites[:0], a.maps[:0]
	a.depth, a.next, a.floor = 0, 0, 0
	if cap(a.buf) > keepBytes {
		a.buf = nil
	}
	if cap(a.parts) > keepParts || cap(a.entries) > keepParts {
		a.parts, a.entries = nil, nil
	}
}

// mark is a place in an object: what comes after it may be finished by itself.
type mark struct {
	text layout.TextMark
	maps int
}

func (a *Adopter) mark() mark { return mark{a.text.Mark(), len(a.maps)} }

// finish gives what was read since the mark its strings, and its maps their entries.
func (a *Adopter) finish(since mark) {
	a.text.Set(since.text)
	for _, k := range a.maps[since.maps:] {
		a.fill(&a.parts[k])
	}
	a.maps = a.maps[:since.maps]
}

// scratch returns room for values of a map.
func (a *Adopter) scratch(f *field) *layout.Scratch {
	s := a.values[f.number]
	if s == nil {
		s = f.of.typ.NewScratch()
		a.values[f.number] = s
	}
	if s.Len() == 0 {
		a.used = append(a.used, s)
	}
	return s
}
