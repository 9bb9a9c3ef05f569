// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestSetAnd intersects sets of few and many objects, and stops each loop early.
func TestSetAnd(t *testing.T) {
	const n = 8192
	// Every object has key 1, every 2nd key 2, every 7th key 7, and so on.
	sizes := []int{1, 2, 7, 50, 300, 1000, n - 1}
	every := &testIndex{id: ID{Name: "every"}, keys: func(o *thing) []any {
		var keys []any
		for _, size := range sizes {
			if o.Generation%int64(size) == 0 {
				keys = append(keys, size)
			}
		}
		return keys
	}}
	table, err := New(every)
	if err != nil {
		t.Fatal(err)
	}
	x := table.Begin()
	for i := range n {
		obj := newThing([]string{"a", "b"}[i/3%2], fmt.Sprint(i))
		obj.Generation = int64(i)
		x.Set(obj)
	}
	v := x.Publish()
	set := func(size int) Set {
		set, _ := v.Lookup(&every.id, hashAny(size), func(k any) bool { return k == size })
		return set
	}
	for _, one := range sizes {
		for _, other := range sizes {
			want := 0
			for i := range n {
				if i%one == 0 && i%other == 0 {
					want++
				}
			}
			if got := len(intersect(t, set(one), set(other))); got != want {
				t.Errorf("every %d and every %d: And yields %d objects, want %d", one, other, got, want)
			}
			for _, stop := range []int{1, 2, want / 2, want} {
				if stop == 0 || stop > want {
					continue
				}
				n := 0
				set(one).And(set(other), func(object.Object) bool { n++; return n < stop })
				if n != stop {
					t.Errorf("every %d and every %d: And stopped after %d objects yields %d", one, other, stop, n)
				}
			}
		}
	}
	if n := len(intersect(t, set(2), Set{})) + len(intersect(t, Set{}, set(2))) + len(intersect(t, Set{}, Set{content: stateOf(v)})); n != 0 {
		t.Errorf("And of an empty set yields %d objects", n)
	}
	seven, a, found := set(7), v.Namespace("a"), 0
	if allocs := testing.AllocsPerRun(10, func() { seven.And(a, func(object.Object) bool { found++; return true }) }); allocs != 0 || found == 0 {
		t.Errorf("And allocates %v times and yields %d objects, want 0 and some", allocs, found)
	}
}
