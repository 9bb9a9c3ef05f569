// SPDX-License-Identifier: Apache-2.0

package share

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// raceDetector is set by race_test.go.
var raceDetector bool

// TestChangedPartsAreNotReused changes each kind of part. Things decoded later are right, and share
// new parts.
func TestChangedPartsAreNotReused(t *testing.T) {
	table := New(1 << 20)
	sites := newSites()
	finder, other := table.NewFinder(sites, true), table.NewFinder(sites, true)
	decode := func(t *Finder) *thing { return decode(t, encode("p", "a,b", "word", "s")) }
	var v *thing
	for range 4 {
		v = decode(finder)
	}
	if decode(other).pointer != v.pointer {
		t.Fatal("equal parts are not shared")
	}
	for n, mistake := range []func(){
		func() { *v.pointer = "changed" }, func() { v.slice[1] = "changed" }, func() { v.slice = append(v.slice[:0], "changed") }, func() { *v.second = "" },
	} {
		mistake()
		table.StartRound()
		for range 3 {
			for _, finder := range []*Finder{finder, other} {
				check(t, decode(finder), "p", "a,b", "word", "s")
			}
		}
		if v = decode(finder); decode(other).pointer != v.pointer || &decode(other).slice[0] != &v.slice[0] {
			t.Error("equal parts are not shared after a change")
		}
		if got := statsOf(table).changed; got != n+1 {
			t.Errorf("%d changes counted, want %d", got, n+1)
		}
	}
}

// TestCheckFindsChangesOfUnusedParts changes parts and targets that no later object uses.
func TestCheckFindsChangesOfUnusedParts(t *testing.T) {
	table := New(1 << 20)
	finder := table.NewFinder(newSites(), true)
	var v *thing
	for i := range 100 {
		for range 3 {
			v = decode(finder, encode(fmt.Sprint(i), "a,b", "word", "s"))
		}
	}
	finder.Scalar(4, 7) // not shared the first time
	number, text := (*int32)(finder.Scalar(4, 7)), finder.Text("text")
	if number == nil || *number != 7 || text == nil {
		t.Fatal("targets are not shared")
	}
	for i, mistake := range []func(){func() {}, func() { *v.pointer = "changed" }, func() { *number = 8 }, func() { *text = "changed" }} {
		mistake()
		table.lastCheck = time.Time{} // long ago
		if got := table.Check(); got != (i == 0) || got != table.Intact() || statsOf(table).changed != i {
			t.Errorf("after %d changes: Check() = %v, stats %+v", i, got, statsOf(table))
		}
	}
	if n := finder.Scalar(4, 7); n == nil || *(*int32)(n) != 7 {
		t.Error("Scalar(4, 7) points to another number")
	}
	if s := finder.Text("text"); s == nil || *s != "text" {
		t.Error("Text points to another string")
	}
}

// TestInnerPartChangedDuringEnter changes an inner part while the outer one is decoded. The outer
// one must not be entered with the change.
func TestInnerPartChangedDuringEnter(t *testing.T) {
	type outer struct{ inner *string }
	sites := &Sites{}
	outside, inside := sites.Add(Reference, reflect.TypeFor[*outer]()), sites.Add(Reference, reflect.TypeFor[*string]())
	for _, changes := range []bool{false, true} {
		table := New(1 << 20)
		finder := table.NewFinder(sites, true)
		var shared *string
		decode := func(raw string, during func()) *outer {
			var o *outer
			finder.Begin()
			part, enterOuter := finder.Find(outside, []byte(raw))
			if part != nil {
				part.Put(layout.Of(&o))
				return o
			}
			o = &outer{}
			if part, enter := finder.Find(inside, []byte("inner")); part != nil {
				part.Put(layout.Of(&o.inner))
			} else if o.inner = new("inner"); enter {
				finder.Enter(inside, []byte("inner"), layout.Of(&o.inner))
			}
			during()
			if enterOuter {
				finder.Enter(outside, []byte(raw), layout.Of(&o))
			}
			return o
		}
		nothing := func() {}
		for range 3 {
			shared = decode("first", nothing).inner
		}
		decode("second", nothing)
		decode("second", func() {
			if changes {
				*shared = "changed"
			}
		})
		table.StartRound()
		for range 3 {
			if got := decode("second", nothing); *got.inner != "inner" {
				t.Errorf("the outer part has the changed string %q", *got.inner)
			} else if !changes && got.inner != shared {
				t.Error("the inner part is not shared")
			}
		}
	}
}

func TestBytesArrivedStartsRounds(t *testing.T) {
	table := New(1 << 20)
	at := table.created
	arrived := func(after time.Duration, paused bool) bool {
		before := table.round.Load()
		at = at.Add(after)
		table.BytesArrived(at, paused)
		return table.round.Load() != before
	}
	for i, tc := range []struct {
		cost   int64
		after  time.Duration
		paused bool
		want   bool
	}{
		{0, 0, false, true}, // no comparisons yet
		// comparisons took more than a fiftieth of the time
		{1000, 49 * time.Microsecond, false, false},
		{0, time.Microsecond, false, true},
		{1000, time.Microsecond, true, true}, // a pause always starts a round
		{0, 0, false, true},
	} {
		table.cost.Add(tc.cost)
		if got := arrived(tc.after, tc.paused); got != tc.want {
			t.Errorf("case %d: a round starts: %v, want %v", i, got, tc.want)
		}
	}
	(*Table)(nil).BytesArrived(at, true)
}

// TestSharingStopsAfterManyChanges changes the parts of a site repeatedly, until the site gets no
// more.
func TestSharingStopsAfterManyChanges(t *testing.T) {
	table := New(1 << 20)
	finder := table.NewFinder(newSites(), true)
	for range 10 * maxChanges {
		v := decode(finder, encode("p", "a,b", "word", "s"))
		check(t, v, "p", "a,b", "word", "s")
		*v.pointer = "changed"
		table.StartRound()
	}
	if n := statsOf(table).changed; n != maxChanges {
		t.Errorf("%d changes counted, want %d", n, maxChanges)
	}
	if a, b := decode(finder, encode("p", "a,b", "word", "s")), decode(finder, encode("p", "a,b", "word", "s")); a.pointer == b.pointer || &a.slice[0] != &b.slice[0] {
		t.Error("the changed site still shares parts, or the unchanged one no longer does")
	}
}

// TestScalarsAreSharedUpToABound also covers strings behind pointers.
func TestScalarsAreSharedUpToABound(t *testing.T) {
	table := New(1 << 20)
	finder := table.NewFinder(newSites(), true)
	for _, size := range []uintptr{1, 2, 4, 8} {
		var p [4]layout.Pointer
		for i := range p {
			p[i] = finder.Scalar(size, 1)
		}
		if p[0] != nil || p[1] == nil || p[2] != p[1] || p[3] != p[1] {
			t.Errorf("Scalar(%d, 1) = %v, want nil and then one address", size, p)
		}
	}
	if *(*bool)(finder.Scalar(1, 1)) != true || *(*int64)(finder.Scalar(8, 1)) != 1 {
		t.Error("Scalar points to wrong values")
	}
	shared := 0
	for i := range uint64(3 * maxTargets) {
		finder.Scalar(8, 1000+i)
		if p := finder.Scalar(8, 1000+i); p != nil {
			if shared++; *(*uint64)(p) != 1000+i {
				t.Fatalf("Scalar(8, %d) points to %d", 1000+i, *(*uint64)(p))
			}
		}
		if s := finder.Text(fmt.Sprint(i)); s != nil && *s != fmt.Sprint(i) {
			t.Fatalf("Text(%d) points to %q", i, *s)
		}
	}
	if shared < maxTargets/2 || len(table.targets.scalars) > maxTargets || len(table.targets.texts) != maxTargets {
		t.Errorf("%d of %d scalars are shared, the table keeps %d scalars and %d strings", shared, 3*maxTargets, len(table.targets.scalars), len(table.targets.texts))
	}
	for name, finder := range map[string]*Finder{"no table": nil, "parts false": table.NewFinder(newSites(), false)} {
		finder.Scalar(8, 1)
		if finder.Scalar(8, 1) != nil || finder.Text("s") != nil {
			t.Errorf("%s: targets are shared", name)
		}
	}
	finder.Begin()
	finder.Find(pointerSite, []byte("part"))
	if _, enter := finder.Find(pointerSite, []byte("part")); !enter || finder.Scalar(8, 1) != nil || finder.Text("1") != nil {
		t.Error("targets within a part being entered are shared")
	}
}

// TestNestedParts enters parts that contain others. A Finder forgets the inner parts after each
// object.
func TestNestedParts(t *testing.T) {
	type outer struct{ inner []int64 }
	sites := &Sites{}
	outside, inside := sites.Add(Reference, reflect.TypeFor[*outer]()), sites.Add(Slice, reflect.TypeFor[[]int64]())
	table := New(1 << 20)
	finder := table.NewFinder(sites, true)
	find := func(site int, raw string, field layout.Pointer, decode func()) {
		part, enter := finder.Find(site, []byte(raw))
		if part != nil {
			part.Put(field)
			return
		}
		if decode(); enter {
			finder.Enter(site, []byte(raw), field)
		}
	}
	for range 6 {
		for _, raw := range []string{"first", "second"} {
			finder.Begin()
			for i := range 100 {
				var o *outer
				find(outside, raw+fmt.Sprint(i), layout.Of(&o), func() {
					o = &outer{}
					find(inside, raw+fmt.Sprint(i), layout.Of(&o.inner), func() { o.inner = make([]int64, 256) })
				})
				if o == nil || len(o.inner) != 256 {
					t.Fatal("decoded a wrong value")
				}
			}
		}
	}
	if finder.Begin(); len(finder.innerParts) > 0 {
		t.Errorf("the Finder still has %d inner parts after Begin", len(finder.innerParts))
	}
	made := map[*site]map[string]bool{finder.site(outside): {}, finder.site(inside): {}}
	for _, x := range []*index{table.current.Load(), table.previous.Load()} {
		for p := range x.parts() {
			made[p.site][p.raw] = true
		}
	}
	if out, in := len(made[finder.site(outside)]), len(made[finder.site(inside)]); out < 150 || in == 0 {
		t.Errorf("%d of 200 outer parts were entered, want most, and %d inner ones, want some", out, in)
	}
}
