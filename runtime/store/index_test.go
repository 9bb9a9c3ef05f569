// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestIndexWithoutAFunctionFindsNothing looks an index up that no store takes.
func TestIndexWithoutAFunctionFindsNothing(t *testing.T) {
	s := mustNew(t)
	put(t, s, newThing("ns", "a", "n1"))
	if got := store.NewIndex[*thing, int]("ByX", nil).List(s.Snapshot(), 0); len(got) != 0 {
		t.Errorf("found %d objects", len(got))
	}
}

// TestIndexOfTheSameNameIsNotAsked: the store's index of that name has other keys, so it must not
// be asked.
func TestIndexOfTheSameNameIsNotAsked(t *testing.T) {
	s := mustNew(t, byNode)
	put(t, s, newThing("ns", "a", "n1"))
	other := store.NewIndex("ByNode", func(obj *thing, keys []string) []string { return append(keys, obj.Name) })
	if got := other.List(s.Snapshot(), "a"); len(got) != 1 {
		t.Errorf("%d objects, want 1", len(got))
	}
	if n := other.Len(s.Snapshot(), "n1"); n != 0 {
		t.Errorf("%d objects under another index's key", n)
	}
}

func TestKeysOfInterfaceType(t *testing.T) {
	index := store.NewIndex("ByAny", func(obj *thing, keys []fmt.Stringer) []fmt.Stringer {
		if obj.Name == "nil" {
			return append(keys, nil)
		}
		return append(keys, object.KeyOf(obj))
	})
	for _, s := range []*store.Store[*thing]{mustNew(t, index), mustNew(t)} {
		put(t, s, newThing("", "nil", ""), newThing("", "a", ""))
		if n := index.Len(s.Snapshot(), nil); n != 1 {
			t.Errorf("%d objects under nil, want 1", n)
		}
		if n := index.Len(s.Snapshot(), object.Key{Name: "a"}); n != 1 {
			t.Errorf("%d objects under a, want 1", n)
		}
		if n := len(slices.Collect(index.Keys(s.Snapshot()))); n != 2 {
			t.Errorf("%d keys, want 2", n)
		}
	}
}

// TestKeysThatBelongToTheObject has a function that returns a slice of the object's in the place of
// dst: nothing of the index writes into it.
func TestKeysThatBelongToTheObject(t *testing.T) {
	byFinalizer := store.NewIndex("ByFinalizer", func(obj *thing, keys []string) []string {
		if len(obj.Finalizers) > 0 {
			return obj.Finalizers
		}
		return append(keys, "none")
	})
	for _, s := range []*store.Store[*thing]{mustNew(t, byFinalizer), mustNew(t)} {
		owner, other := newThing("ns", "a", "n1"), newThing("ns", "b", "n1")
		owner.Finalizers = []string{"x", "y"}
		put(t, s, owner, other, owner.DeepCopy(), other.DeepCopy())
		put(t, s, owner, other)
		for _, key := range []string{"x", "y", "none"} {
			if n := byFinalizer.Len(s.Snapshot(), key); n != 1 {
				t.Errorf("%d objects under %s, want 1", n, key)
			}
		}
		if n := len(slices.Collect(byFinalizer.Keys(s.Snapshot()))); n != 3 {
			t.Errorf("%d keys, want 3", n)
		}
		if want := []string{"x", "y"}; !slices.Equal(owner.Finalizers, want) {
			t.Errorf("the object has %q now, want %q", owner.Finalizers, want)
		}
	}
}

func TestKeysAreNotBoxedWhileTheyAgree(t *testing.T) {
	byKeys := store.NewIndex("ByKeys", func(obj *thing, keys []string) []string { return append(keys, obj.Finalizers...) })
	a, b := newThing("ns", "a", "n1"), newThing("ns", "a", "n1")
	a.Finalizers, b.Finalizers = []string{"one key", "another key"}, []string{"one key", "another key"}
	allocs := func(s *store.Store[*thing]) float64 {
		put(t, s, a)
		return testing.AllocsPerRun(100, func() { put(t, s, b); put(t, s, a) })
	}
	if without, with := allocs(mustNew(t)), allocs(mustNew(t, byNode, byKeys)); with != without {
		t.Errorf("two updates make %v allocations with two indexes, %v without", with, without)
	}
}
