// SPDX-License-Identifier: Apache-2.0

package share

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"weak"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

func TestEqualPartsAreShared(t *testing.T) {
	finder := New(1<<20).NewFinder(newSites(), true)
	c := count(finder)
	var got []*thing
	for i := range 5 {
		in := encode("p", "a,b", "word", "p")
		got = append(got, decode(finder, in))
		clear(in) // decoded values must not refer to it
		check(t, got[i], "p", "a,b", "word", "p")
	}
	if got[0].pointer == got[1].pointer {
		t.Error("the first value is shared")
	}
	for _, v := range got[2:] {
		if v.pointer != got[1].pointer || &v.slice[0] != &got[1].slice[0] || cap(v.slice) != cap(got[1].slice) {
			t.Error("parts are not shared with the second object")
		}
		if v.pointer == v.second {
			t.Error("a part is shared between sites")
		}
	}
	if want := (counts{found: 9, missed: 6, entered: 3, strings: 4}); *c != want {
		t.Errorf("counts are %+v, want %+v", *c, want)
	}
}

func TestNothingIsSharedWithoutParts(t *testing.T) {
	for name, finder := range map[string]*Finder{
		"parts false": New(1<<20).NewFinder(newSites(), false),
		"no bytes":    New(0).NewFinder(newSites(), true),
		"no table":    (*Table)(nil).NewFinder(newSites(), true),
	} {
		var last *thing
		for range 10 {
			v := decode(finder, encode("p", "a,b", "word", "s"))
			check(t, v, "p", "a,b", "word", "s")
			if last != nil && (v.pointer == last.pointer || &v.slice[0] == &last.slice[0]) {
				t.Errorf("%s: parts are shared", name)
			}
			last = v
		}
	}
}

// TestRandomValues decodes things with many repetitions, in random order, by several Finders of
// tables of several sizes.
func TestRandomValues(t *testing.T) {
	for _, size := range []int{0, 2000, 100_000, 10_000_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			r := rand.New(rand.NewPCG(5, uint64(size)))
			table, sites := New(size), newSites()
			finders := []*Finder{table.NewFinder(sites, true), table.NewFinder(sites, true), table.NewFinder(sites, false)}
			text := func(n int) string { return strings.Repeat(fmt.Sprint(r.IntN(n)), 1+r.IntN(3)) }
			for range 20_000 {
				p, s, w, second := text(20), text(5)+","+text(1<<30), text(100), text(1000)
				v := decode(finders[r.IntN(3)], encode(p, s, w, second))
				check(t, v, p, s, w, second)
				if got := statsOf(table).bytes; got > size {
					t.Fatalf("the table has %d bytes, want at most %d", got, size)
				}
			}
		})
	}
}

// TestPartsAreFoundInAnyOrder decodes 50 kinds of things in several orders. In the end, all parts
// are found.
func TestPartsAreFoundInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for name, next := range map[string]func(i int) int{
		"in groups":   func(i int) int { return i / 100 % 50 },
		"alternating": func(i int) int { return i % 50 },
		"random":      func(int) int { return r.IntN(50) },
	} {
		finder := New(1<<20).NewFinder(newSites(), true)
		for i := range 10_000 {
			k := next(i)
			decode(finder, encode(fmt.Sprint("pointer", k), fmt.Sprint("slice", k), "word", fmt.Sprint("second", k)))
		}
		c := count(finder)
		for i := range 1000 {
			k := next(i)
			decode(finder, encode(fmt.Sprint("pointer", k), fmt.Sprint("slice", k), "word", fmt.Sprint("second", k)))
		}
		if c.missed > 0 {
			t.Errorf("%s: %d of 3000 parts missed", name, c.missed)
		}
	}
}

// TestSitesWithoutRepetitionAreSkipped decodes values that don't repeat, and then at the same sites
// values that do.
func TestSitesWithoutRepetitionAreSkipped(t *testing.T) {
	table := New(1 << 20)
	finder := table.NewFinder(newSites(), true)
	c := count(finder)
	one := func(i int) {
		decode(finder, encode(fmt.Sprint("p", i), fmt.Sprint("s", i), fmt.Sprint("w", i), "same"))
	}
	for i := range 10_000 {
		one(i)
	}
	if tried := c.missed; tried > 2*10_000/20 {
		t.Errorf("%d of 20,000 unique values were looked up, want at most 1000", tried)
	}
	if s := statsOf(table); s.parts > 10 {
		t.Errorf("the table has %d parts of unique values, want at most 10", s.parts)
	}
	if c.found < 9900 {
		t.Errorf("%d of 10,000 equal values found, want at least 9900", c.found)
	}
	for i := range 10_000 {
		one(i % 3)
	}
	c = count(finder)
	for i := range 1000 {
		one(i % 3)
	}
	if c.skipped > 0 || c.missed > 0 {
		t.Errorf("values that repeat now are skipped or missed: %+v", *c)
	}
}

// TestUnusedPartsAreForgotten starts several generations. A part used all the time stays, and the
// garbage collector frees the others.
func TestUnusedPartsAreForgotten(t *testing.T) {
	table := New(100_000)
	finder := table.NewFinder(newSites(), true)
	use := func(s string) *string { return decode(finder, encode(s, "a", "w", "s")).pointer }
	var old []weak.Pointer[string]
	for i := range 50 {
		use(fmt.Sprint("old", i))
		use(fmt.Sprint("old", i))
		old = append(old, weak.Make(use(fmt.Sprint("old", i))))
	}
	use("kept")
	kept := use("kept")
	if use("kept") != kept {
		t.Fatal("an equal part is not shared")
	}
	runtime.GC()
	if old[7].Value() == nil {
		t.Error("a part is forgotten in its own generation")
	}
	for i := 0; statsOf(table).generations < 4; i++ {
		use(fmt.Sprint("new", i))
		use(fmt.Sprint("new", i))
		if use("kept") != kept {
			t.Fatal("a part used all the time is forgotten")
		}
	}
	runtime.GC()
	for i, p := range old {
		if p.Value() != nil {
			t.Errorf("the unused part %q is still in memory", *p.Value())
		}
		if got := use(fmt.Sprint("old", i)); *got != fmt.Sprint("old", i) {
			t.Errorf("decoded %q, want old%d", *got, i)
		}
	}
}

// TestLargePartsAreNotKept decodes parts that would fill the table.
func TestLargePartsAreNotKept(t *testing.T) {
	table := New(64 << 10)
	finder := table.NewFinder(newSites(), true)
	large := strings.Repeat("x", 5000)
	for range 100 {
		check(t, decode(finder, encode(large, "a", "w", "s")), large, "a", "w", "s")
	}
	if s := statsOf(table); s.bytes > 2000 {
		t.Errorf("the table has %d bytes of parts, want at most 2000", s.bytes)
	}
}

// TestConcurrentFindersShareParts decodes the same things in several goroutines.
func TestConcurrentFindersShareParts(t *testing.T) {
	for _, size := range []int{20_000, 1 << 20} {
		table, sites := New(size), newSites()
		var group sync.WaitGroup
		for g := range 8 {
			group.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 1))
				finder := table.NewFinder(sites, true)
				for range 3000 {
					k := fmt.Sprint(r.IntN(40))
					check(t, decode(finder, encode("p"+k, "s,"+k, "w"+k, "same")), "p"+k, "s,"+k, "w"+k, "same")
				}
			})
		}
		group.Wait()
		if size < 1<<20 {
			continue
		}
		pointers := map[*string]bool{}
		for range 8 {
			pointers[decode(table.NewFinder(sites, true), encode("p7", "s,7", "w", "same")).pointer] = true
		}
		if len(pointers) != 1 {
			t.Errorf("8 Finders use %d copies of a part, want 1", len(pointers))
		}
	}
}

// TestAlternatingStringsAreInterned looks up repeated strings between unique ones.
func TestAlternatingStringsAreInterned(t *testing.T) {
	finder := New(0).NewFinder(newSites(), false)
	missing := 0
	for round := range 60 {
		for i := range 40 {
			if _, ok := finder.strings.get(fmt.Appendf(nil, "string number %d", i)); !ok && round >= 50 {
				missing++
			}
			finder.strings.get(fmt.Appendf(nil, "%d of round %d", i, round))
		}
	}
	if missing > 0 {
		t.Errorf("%d of 400 repeated strings are not found", missing)
	}
}

func TestFinderString(t *testing.T) {
	finder := New(0).NewFinder(newSites(), false)
	get := func(s string) (string, bool) { return finder.String(wordSite, []byte(s)) }
	if s, ok := get(""); !ok || s != "" {
		t.Error("the empty string is not found")
	}
	for _, s := range []string{"a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi", strings.Repeat("long", 40)} {
		if _, ok := get(s); ok {
			t.Errorf("String(%q) is found the first time", s)
		}
		first, ok := get(s)
		second, ok2 := get(s)
		if !ok || !ok2 || first != s || second != s {
			t.Errorf("String(%q) = %q, %v and %q, %v the second and third time", s, first, ok, second, ok2)
		}
	}
	for range 3 {
		if _, ok := get(strings.Repeat("x", maxStringLen+1)); ok {
			t.Error("String finds a string longer than maxStringLen")
		}
	}
	for i := range 100_000 {
		s := fmt.Sprint("word", i%20_000)
		if got, ok := get(s); ok && got != s {
			t.Fatalf("String(%q) = %q", s, got)
		}
	}
	if n := len(finder.strings.slots); n > maxInterned {
		t.Errorf("the interner has %d slots, want at most %d", n, maxInterned)
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	table, sites := New(1<<20), newSites()
	finder := table.NewFinder(sites, true)
	in := encode("p", "a,b", "word", "s")
	v := &thing{}
	once := func() {
		finder.Begin()
		rest := in
		for _, site := range []int{pointerSite, sliceSite, wordSite, secondSite} {
			size := 2 + int(binary.BigEndian.Uint16(rest))
			if site == wordSite {
				if s, ok := finder.String(site, rest[2:size]); ok {
					v.word = s
				}
			} else {
				p := map[int]layout.Pointer{}[site]
				switch site {
				case pointerSite:
					p = layout.Of(&v.pointer)
				case sliceSite:
					p = layout.Of(&v.slice)
				case secondSite:
					p = layout.Of(&v.second)
				}
				if finder.ShouldTry(site) {
					if part, _ := finder.Find(site, rest[:size]); part != nil {
						part.Put(p)
					}
				}
			}
			rest = rest[size:]
		}
	}
	for range 3 {
		decode(finder, in)
	}
	once()
	if n := testing.AllocsPerRun(1000, once); n != 0 {
		t.Errorf("finding the parts of a thing allocates %v times, want 0", n)
	}
	if v.word != "word" || *v.pointer != "p" || *v.second != "s" || len(v.slice) != 2 {
		t.Error("a part was not found")
	}
}

// TestSitesAddedConcurrently uses sites added after the Finder was made, while other goroutines add
// more.
func TestSitesAddedConcurrently(t *testing.T) {
	table, sites := New(1<<20), &Sites{}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			finder := table.NewFinder(sites, true)
			for range 100 {
				sites.Add(String, nil)
				site := sites.Add(Reference, reflect.TypeFor[*string]())
				var last, before *string
				for range 8 { // by chance, it may take more than two equal values
					before = last
					finder.Begin()
					field(finder, site, layout.Of(&last), encode("equal"), func(s string) { last = &s })
				}
				if *last != "equal" || last != before {
					t.Errorf("site %d does not share equal parts", site)
				}
			}
		})
	}
	group.Wait()
	if n := sites.Len(); n != 800 {
		t.Errorf("Len() = %d, want 800", n)
	}
}
