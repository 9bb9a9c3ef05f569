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

// thing is an object with a field of each kind, of which the first two are parts. Its encoding is
// the fields' one after the other, each with its length before it.
type thing struct {
	pointer *string
	slice   []string
	word    string
	second  *string
}

// counts counts the results of a Finder.
type counts struct {
	found   int // parts that were found
	missed  int // values that were not found
	entered int // missed values that became parts
	skipped int // values that weren't looked up, because too little repeats at their sites
	strings int // strings that were found
}

// counted has the Finders whose results decode counts.
var counted = map[*Finder]*counts{}

// count makes decode count the results of a Finder.
func count(t *Finder) *counts {
	counted[t] = &counts{}
	return counted[t]
}

// stats are the statistics of a Table.
type stats struct {
	parts       int // of both generations; a part in both counts twice
	bytes       int // memory of the parts, counted in the same way
	generations int // how often a generation began
	changed     int // parts and targets of pointers that were found changed
}

func statsOf(t *Table) stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := stats{generations: int(t.epoch.Load()), changed: int(t.damage.Load())}
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

// decode reads a thing.
func decode(t *Finder, in []byte) *thing {
	v := &thing{}
	t.Begin()
	in = field(t, pointerSite, layout.Of(&v.pointer), in, func(s string) { v.pointer = &s })
	in = field(t, sliceSite, layout.Of(&v.slice), in, func(s string) { v.slice = strings.Split(s, ",") })
	n := int(binary.BigEndian.Uint16(in))
	word, ok := t.String(wordSite, in[2:2+n])
	if !ok {
		word = string(in[2 : 2+n])
	} else if c := counted[t]; c != nil {
		c.strings++
	}
	v.word = word
	field(t, secondSite, layout.Of(&v.second), in[2+n:], func(s string) { v.second = &s })
	return v
}

func field(t *Finder, site int, p layout.Pointer, in []byte, read func(string)) (rest []byte) {
	size := 2 + int(binary.BigEndian.Uint16(in))
	raw := in[:size]
	enter, c := false, counted[t]
	if c == nil {
		c = &counts{}
	}
	if t.Try(site) {
		var part *Part
		if part, enter = t.Find(site, raw); part != nil {
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
		t.Enter(site, raw, p)
		c.entered++
	}
	return in[size:]
}

func check(t testing.TB, v *thing, pointer, slice, word, second string) {
	t.Helper()
	want := &thing{pointer: &pointer, slice: strings.Split(slice, ","), word: word, second: &second}
	if !reflect.DeepEqual(v, want) {
		t.Fatalf("got %v %q %q %v, want %q %q %q %q", *v.pointer, v.slice, v.word, *v.second, pointer, slice, word, second)
	}
}
