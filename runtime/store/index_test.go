// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestIndexWithoutFunctionFindsNothing looks up an index that every store refuses.
func TestIndexWithoutFunctionFindsNothing(t *testing.T) {
	s := mustNew(t)
	put(t, s, newThing("ns", "a", "n1"))
	if got := store.NewIndex[*thing, int]("ByX", nil).List(s.Snapshot(), 0); len(got) != 0 {
		t.Errorf("List returns %d objects, want 0", len(got))
	}
}

// TestLookupIgnoresOtherIndexOfSameName looks up an index whose name the store has for an index of
// other keys.
func TestLookupIgnoresOtherIndexOfSameName(t *testing.T) {
	s := mustNew(t, byNode)
	put(t, s, newThing("ns", "a", "n1"))
	other := store.NewIndex("ByNode", func(obj *thing, keys []string) []string { return append(keys, obj.Name) })
	if got := other.List(s.Snapshot(), "a"); len(got) != 1 {
		t.Errorf("List(a) returns %d objects, want 1", len(got))
	}
	if n := other.Len(s.Snapshot(), "n1"); n != 0 {
		t.Errorf("Len(n1) = %d, want 0 under the other index's key", n)
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
			t.Errorf("Len(nil) = %d, want 1", n)
		}
		if n := index.Len(s.Snapshot(), object.Key{Name: "a"}); n != 1 {
			t.Errorf("Len(a) = %d, want 1", n)
		}
		if n := len(slices.Collect(index.Keys(s.Snapshot()))); n != 2 {
			t.Errorf("Keys yields %d keys, want 2", n)
		}
	}
}

// TestKeysReturnedFromObjectStayUnchanged has a key function that returns the object's own slice
// instead of dst. The index must not write to it.
func TestKeysReturnedFromObjectStayUnchanged(t *testing.T) {
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
				t.Errorf("Len(%s) = %d, want 1", key, n)
			}
		}
		if n := len(slices.Collect(byFinalizer.Keys(s.Snapshot()))); n != 3 {
			t.Errorf("Keys yields %d keys, want 3", n)
		}
		if want := []string{"x", "y"}; !slices.Equal(owner.Finalizers, want) {
			t.Errorf("the object's finalizers are %q, want %q", owner.Finalizers, want)
		}
	}
}

func TestUnchangedKeysAreNotBoxed(t *testing.T) {
	byKeys := store.NewIndex("ByKeys", func(obj *thing, keys []string) []string { return append(keys, obj.Finalizers...) })
	a, b := newThing("ns", "a", "n1"), newThing("ns", "a", "n1")
	a.Finalizers, b.Finalizers = []string{"one key", "another key"}, []string{"one key", "another key"}
	allocs := func(s *store.Store[*thing]) float64 {
		put(t, s, a)
		return testing.AllocsPerRun(100, func() { put(t, s, b); put(t, s, a) })
	}
	if without, with := allocs(mustNew(t)), allocs(mustNew(t, byNode, byKeys)); with != without {
		t.Errorf("two updates allocate %v times with two indexes, %v times without", with, without)
	}
}
