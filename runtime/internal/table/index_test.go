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
		t.Errorf("insert, update and delete called it with %p, want %p", keys.seen, want)
	}
}

// sameHash returns two keys that have the same hash.
func sameHash() (a, b string) {
	for n := 1; hashAny(a) != hashAny(b) || a == b; n++ {
		a, b = "key-0", fmt.Sprint("key-", n)
	}
	return a, b
}

// TestLeavingAKeyThatTheObjectDoesNotHave deletes objects that were changed in place: the key that
// they seem to have has the same hash as one of other objects, and may be theirs too.
func TestLeavingAKeyThatTheObjectDoesNotHave(t *testing.T) {
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
			changed.Finalizers = []string{other} // forbidden, but it happens
			x := table.Begin()
			x.Delete(object.KeyOf(changed))
			verify(t, x.Publish(), m, keys)
		}
	}
}

func TestPanicOfAnIndexFunctionChangesNothing(t *testing.T) {
	first := byKeys("first")
	angry := &keysOf{id: ID{Name: "angry"}, keys: func(o *thing) []any {
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
	a.Finalizers = []string{"bad"} // forbidden, but it happens
	mustPanic(t, "angry", func() { x.Delete(object.KeyOf(a)) })
	a.Finalizers = []string{"red", "blue"}
	late := &keysOf{id: ID{Name: "late"}, keys: func(*thing) []any { panic("late") }}
	mustPanic(t, "late", func() { _ = x.AddIndex(late) })
	v := x.Publish()

	verify(t, v, model{object.KeyOf(a): a, object.KeyOf(b): b}, first, angry)
	checkShape(t, v)
	if stateOf(v).index(&late.id) != nil {
		t.Error("an index that panicked while it was built is there")
	}
}

func TestAddedIndexIsFilled(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	a := newThing("", "a", "red")
	before := commit(table, a)

	x := table.Begin()
	if err := x.AddIndex(keys); err != nil {
		t.Errorf("the same index again: %v", err)
	}
	late := byGroup("late")
	if err := x.AddIndex(late); err != nil {
		t.Error(err)
	}
	for _, tc := range []struct {
		index Index
		want  string
	}{
		{byKeys("keys"), `index "keys": the table has another index of this name; give one of them a name of its own`},
		{nil, "an index is nil"},
		{wrong{}, "it is wrong"},
	} {
		if err := x.AddIndex(tc.index); err == nil || err.Error() != tc.want {
			t.Errorf("AddIndex fails with %v, want %q", err, tc.want)
		}
	}
	v := x.Publish()
	verify(t, v, model{object.KeyOf(a): a}, keys, late)
	if list, ok := lookUp(v, late, byte('x')); len(list) != 0 || !ok || v.Namespace("x").Len() != 0 {
		t.Errorf("a key and a namespace that no object has: %v, %v", list, ok)
	}
	if len(stateOf(v).indexes) != 3 || stateOf(v).index(&keys.id) == nil || stateOf(v).index(&late.id) == nil {
		t.Errorf("%d indexes", len(stateOf(v).indexes))
	}
	if _, ok := before.IndexKeys(&late.id); ok {
		t.Error("the version before AddIndex has the index")
	}
	if _, ok := lookUp(before, late, byte('a')); ok {
		t.Error("Lookup in a version without the index says that it is there")
	}
	if _, err := New(byKeys("x"), byKeys("x")); err == nil {
		t.Error("New with two indexes of one name succeeds")
	}
	if _, err := New(byKeys("namespace")); err != nil {
		t.Errorf("an index has the name of the one by namespace: %v", err)
	}
}

type wrong struct{ Index }

func TestKeysThatEqualNothing(t *testing.T) {
	nan := &keysOf{id: ID{Name: "nan"}, keys: func(o *thing) []any { return []any{math.NaN(), len(o.Finalizers)} }}
	table := mustNew(t, nan)
	commit(table, newThing("", "a"))
	v := commit(table, newThing("", "a", "x"))
	keys, _ := v.IndexKeys(&nan.id)
	if got := slices.Collect(keys); !slices.Equal(got, []any{1}) {
		t.Errorf("keys %v, want only 1", got)
	}
}

// TestNumbersOfKeysWrapAround gives all numbers that there are to keys, except for those in use.
func TestNumbersOfKeysWrapAround(t *testing.T) {
	keys := byKeys("keys")
	table, m := mustNew(t, keys), model{}
	set := func(name string) {
		obj := newThing("a", name, name)
		m[object.KeyOf(obj)] = obj
		verify(t, commit(table, obj), m, keys)
	}
	set("first")
	set("second")
	stateOf(table.Version()).indexes[1].last = math.MaxUint32 - 2
	for _, name := range []string{"last but one", "last", "zero", "third", "fourth"} {
		set(name)
	}
	checkShape(t, table.Version())
}
