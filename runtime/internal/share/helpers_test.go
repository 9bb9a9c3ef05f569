// SPDX-License-Identifier: Apache-2.0

package share

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

const (
	pointerSite = iota
	sliceSite
	wordSite
	secondSite
)

// thing is an object with a field at each site. It is encoded as its fields in order, each with its
// length before it.
type thing struct {
	pointer *string
	slice   []string
	word    string
	second  *string
}

// counts counts the results of a Finder.
type counts struct {
	found   int // parts
	missed  int // values
	entered int // missed values that became parts
	skipped int // values of sites without repetition, not looked up
	strings int // found
}

// counted has the counts of Finders, updated by decode.
var counted = map[*Finder]*counts{}

// count resets the counts of a Finder and returns them.
func count(f *Finder) *counts {
	counted[f] = &counts{}
	return counted[f]
}

// stats are the statistics of a Table.
type stats struct {
	parts       int // of both generations; a part in both counts twice
	bytes       int // memory of the parts, counted in the same way
	generations int // started
	changed     int // parts and targets found changed
}

func statsOf(t *Table) stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := stats{generations: int(t.generation.Load()), changed: int(t.changeCount.Load())}
	for _, x := range []*index{t.current.Load(), t.previous.Load()} {
		for p := range x.parts() {
			s.parts++
			s.bytes += p.size()
		}
	}
	return s
}

func newSites() *Sites {
	s := &Sites{}
	for i, typ := range []reflect.Type{reflect.TypeFor[*string](), reflect.TypeFor[[]string](), nil, reflect.TypeFor[*string]()} {
		if s.Add([]Form{Reference, Slice, String, Reference}[i], typ) != i {
			panic("not in order")
		}
	}
	return s
}

func encode(fields ...string) []byte {
	var b []byte
	for _, f := range fields {
		b = binary.BigEndian.AppendUint16(b, uint16(len(f)))
		b = append(b, f...)
	}
	return b
}

// decode decodes a thing.
func decode(f *Finder, in []byte) *thing {
	v := &thing{}
	f.Begin()
	in = field(f, pointerSite, layout.Of(&v.pointer), in, func(s string) { v.pointer = &s })
	in = field(f, sliceSite, layout.Of(&v.slice), in, func(s string) { v.slice = strings.Split(s, ",") })
	n := int(binary.BigEndian.Uint16(in))
	word, ok := f.String(wordSite, in[2:2+n])
	if !ok {
		word = string(in[2 : 2+n])
	} else if c := counted[f]; c != nil {
		c.strings++
	}
	v.word = word
	field(f, secondSite, layout.Of(&v.second), in[2+n:], func(s string) { v.second = &s })
	return v
}

func field(f *Finder, site int, p layout.Pointer, in []byte, read func(string)) (rest []byte) {
	size := 2 + int(binary.BigEndian.Uint16(in))
	raw := in[:size]
	enter, c := false, counted[f]
	if c == nil {
		c = &counts{}
	}
	if f.ShouldTry(site) {
		var part *Part
		if part, enter = f.Find(site, raw); part != nil {
			part.Put(p)
			c.found++
			return in[size:]
		}
		c.missed++
	} else {
		c.skipped++
	}
	read(string(raw[2:]))
	if enter {
		f.Enter(site, raw, p)
		c.entered++
	}
	return in[size:]
}

func check(t testing.TB, v *thing, pointer, slice, word, second string) {
	t.Helper()
	want := &thing{pointer: &pointer, slice: strings.Split(slice, ","), word: word, second: &second}
	if !reflect.DeepEqual(v, want) {
		t.Fatalf("decoded %q %q %q %q, want %q %q %q %q", *v.pointer, v.slice, v.word, *v.second, pointer, slice, word, second)
	}
}
