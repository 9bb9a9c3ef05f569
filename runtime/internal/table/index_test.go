// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestIndexFunctionsRunOncePerState(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	a1, a2 := newThing("", "a", "red"), newThing("", "a", "red")
	commit(table, a1)
	commit(table, a2)
	x := table.Begin()
	x.Delete(object.KeyOf(a2))
	x.Publish()
	if want := []*thing{a1, a1, a2, a2}; !slices.Equal(keys.seen, want) {
		t.Errorf("insert, update and delete call the key function with %p, want %p", keys.seen, want)
	}
}

// sameHash returns two different keys with the same hash.
func sameHash() (a, b string) {
	for n := 1; hashAny(a) != hashAny(b) || a == b; n++ {
		a, b = "key-0", fmt.Sprint("key-", n)
	}
	return a, b
}

// TestDeleteOfObjectChangedInPlace deletes an object that was changed in the table. Its new key was
// never entered, and has the hash of another key in the index, or is a key of other objects.
func TestDeleteOfObjectChangedInPlace(t *testing.T) {
	key, other := sameHash()
	for _, n := range []int{1, 5, 100} {
		for _, others := range []int{0, n} {
			keys := byKeys("keys")
			table, m := mustNew(t, keys), model{}
			for i := range n + others {
				has := key
				if i >= n {
					has = other
				}
				obj := newThing("a", fmt.Sprint("obj-", i), has)
				commit(table, obj)
				m[object.KeyOf(obj)] = obj
			}
			changed := newThing("a", "changed")
			commit(table, changed)
			changed.Finalizers = []string{other} // forbidden, but programs do it
			x := table.Begin()
			x.Delete(object.KeyOf(changed))
			verify(t, x.Publish(), m, keys)
		}
	}
}

func TestPanicInIndexFunctionChangesNothing(t *testing.T) {
	first := byKeys("first")
	angry := &testIndex{id: ID{Name: "angry"}, keys: func(o *thing) []any {
		if slices.Contains(o.Finalizers, "bad") {
			panic("angry")
		}
		return []any{o.Name}
	}}
	table := mustNew(t, first, angry)
	a := newThing("ns", "a", "red", "blue")
	commit(table, a)

	x := table.Begin()
	mustPanic(t, "angry", func() { x.Set(newThing("ns", "a", "bad")) })
	mustPanic(t, "angry", func() { x.Set(newThing("ns", "new", "bad")) })
	b := newThing("ns", "b", "red")
	x.Set(b)
	a.Finalizers = []string{"bad"} // forbidden, but programs do it
	mustPanic(t, "angry", func() { x.Delete(object.KeyOf(a)) })
	a.Finalizers = []string{"red", "blue"}
	added := &testIndex{id: ID{Name: "late"}, keys: func(*thing) []any { panic("late") }}
	mustPanic(t, "late", func() { _ = x.AddIndex(added) })
	v := x.Publish()

	verify(t, v, model{object.KeyOf(a): a, object.KeyOf(b): b}, first, angry)
	checkShape(t, v)
	if stateOf(v).index(&added.id) != nil {
		t.Error("AddIndex that panicked has added the index")
	}
}

func TestAddedIndexIsFilled(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	a := newThing("", "a", "red")
	before := commit(table, a)

	x := table.Begin()
	if err := x.AddIndex(keys); err != nil {
		t.Errorf("AddIndex of a known index = %v", err)
	}
	added := byGroup("late")
	if err := x.AddIndex(added); err != nil {
		t.Error(err)
	}
	for _, tc := range []struct {
		index Index
		want  string
	}{
		{byKeys("keys"), `index "keys": the table has another index of this name; rename one of them`},
		{nil, "an index is nil"},
		{invalidIndex{}, "it is wrong"},
	} {
		if err := x.AddIndex(tc.index); err == nil || err.Error() != tc.want {
			t.Errorf("AddIndex = %v, want %q", err, tc.want)
		}
	}
	v := x.Publish()
	verify(t, v, model{object.KeyOf(a): a}, keys, added)
	if list, ok := lookup(v, added, byte('x')); len(list) != 0 || !ok || v.Namespace("x").Len() != 0 {
		t.Errorf("Lookup of a missing key = %v, %v, want no objects", list, ok)
	}
	if len(stateOf(v).indexes) != 3 || stateOf(v).index(&keys.id) == nil || stateOf(v).index(&added.id) == nil {
		t.Errorf("the version has %d indexes, want namespaces, keys and the added one", len(stateOf(v).indexes))
	}
	if _, ok := before.IndexKeys(&added.id); ok {
		t.Error("IndexKeys finds the index in the version before AddIndex")
	}
	if _, ok := lookup(before, added, byte('a')); ok {
		t.Error("Lookup finds the index in the version before AddIndex")
	}
	if _, err := New(byKeys("x"), byKeys("x")); err == nil {
		t.Error("New accepts two indexes of one name")
	}
	if _, err := New(byKeys("namespace")); err != nil {
		t.Errorf("New with an index named namespace = %v", err)
	}
}

type invalidIndex struct{ Index }

func TestKeysUnequalToThemselvesAreSkipped(t *testing.T) {
	nan := &testIndex{id: ID{Name: "nan"}, keys: func(o *thing) []any { return []any{math.NaN(), len(o.Finalizers)} }}
	table := mustNew(t, nan)
	commit(table, newThing("", "a"))
	v := commit(table, newThing("", "a", "x"))
	keys, _ := v.IndexKeys(&nan.id)
	if got := slices.Collect(keys); !slices.Equal(got, []any{1}) {
		t.Errorf("IndexKeys yields %v, want only 1", got)
	}
}

// TestKeyNumbersWrapAround lets the numbers of keys overflow. Numbers in use are skipped.
func TestKeyNumbersWrapAround(t *testing.T) {
	keys := byKeys("keys")
	table, m := mustNew(t, keys), model{}
	set := func(name string) {
		obj := newThing("a", name, name)
		m[object.KeyOf(obj)] = obj
		verify(t, commit(table, obj), m, keys)
	}
	set("first")
	set("second")
	stateOf(table.Version()).indexes[1].lastNumber = math.MaxUint32 - 2
	for _, name := range []string{"last but one", "last", "zero", "third", "fourth"} {
		set(name)
	}
	checkShape(t, table.Version())
}
