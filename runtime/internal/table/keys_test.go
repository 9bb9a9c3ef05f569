// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// copied returns how many buckets have copies of their keys.
func copied(v *Version) (n int) {
	each(&stateOf(v).keys.buckets, func(_ uint32, b *node[bucket[Row]]) bool {
		if keys := b.c.keys.Load(); keys != nil && keys != got {
			n++
		}
		return true
	})
	return n
}

func TestSecondGetCopiesKeysUntilTheBucketChanges(t *testing.T) {
	table := mustNew(t)
	one, other := newThing("ns", "one"), newThing("ns", "other")
	v := commit(table, one)
	for range 3 {
		x := table.Begin()
		x.Get(object.KeyOf(one))
		x.Discard()
		v.Find(object.KeyOf(one))
	}
	v.Get(object.KeyOf(one))
	if copied(v) != 0 {
		t.Error("keys were copied before a second Get")
	}
	v.Get(object.KeyOf(one))
	if copied(v) != 1 {
		t.Error("the second Get did not copy keys")
	}
	if allocs := testing.AllocsPerRun(10, func() { v.Get(object.KeyOf(one)) }); allocs != 0 {
		t.Errorf("a Get allocates %v times", allocs)
	}
	if v := commit(table, newThing("ns", "one")); copied(v) != 1 {
		t.Error("replacing an object took the copies away")
	}
	if v := commit(table, other); copied(v) != 0 {
		t.Error("after an insertion there are copies of what was there before")
	}
	if copied(v) != 1 {
		t.Error("the version before has lost its copies")
	}
}

// TestGetComparesKeys asks for keys that are not there by the hash of one that is, with and without
// copies.
func TestGetComparesKeys(t *testing.T) {
	long := strings.Repeat("x", 1<<15-1)
	for _, key := range []object.Key{
		{Namespace: "ab", Name: "cd"}, {Name: "abcd"}, {Namespace: long[:30], Name: long[:32]}, {Namespace: long[:31], Name: long[:32]},
		{Name: long[:300]}, {Namespace: long, Name: long}, {Namespace: long, Name: long + "xx"},
	} {
		table := mustNew(t)
		obj := newThing(key.Namespace, key.Name)
		s, hash := stateOf(commit(table, obj)), Hash(key)
		both := key.Namespace + key.Name
		for range 4 {
			for i := range len("abcd") {
				other := object.Key{Namespace: both[:i], Name: both[i:]}
				if _, found := s.find(&other, hash, true); (found != nil) != (other == key) {
					t.Errorf("%.9q is found: %v, where only %.9q is", other, found != nil, key)
				}
			}
			for _, other := range []object.Key{{}, {Namespace: key.Namespace}, {Namespace: key.Namespace, Name: key.Name + "x"}} {
				if _, found := s.find(&other, hash, true); found != nil {
					t.Errorf("%.9q is found, where only %.9q is", other, key)
				}
			}
			if _, found := s.find(&key, hash, true); found != obj {
				t.Errorf("%.9q is not found", key)
			}
		}
		copies := at(&s.keys.buckets, 0).c.keys.Load()
		if copied := copies[0].known(); copied != (len(both) <= 62) {
			t.Errorf("a key of %d bytes was copied: %t", len(both), copied)
		}
	}
}

// TestCopiesOfKeysHoldNoObjects replaces and deletes objects that are read by key all the time.
func TestCopiesOfKeysHoldNoObjects(t *testing.T) {
	const objects = 100
	table := mustNew(t)
	var all census
	get := func() {
		for range 3 {
			for i := range objects {
				table.Version().Get(object.Key{Namespace: "ns", Name: fmt.Sprint(i)})
			}
		}
	}
	for range 3 {
		x := table.Begin()
		for i := range objects {
			x.Set(all.new(fmt.Sprint(i)))
		}
		x.Publish()
		get()
	}
	if n := all.alive(); n != objects {
		t.Errorf("%d objects in memory, want %d", n, objects)
	}
	x := table.Begin()
	for i := range objects / 2 {
		x.Delete(object.Key{Namespace: "ns", Name: fmt.Sprint(i)})
	}
	x.Publish()
	get()
	if n := all.alive(); n != objects/2 {
		t.Errorf("%d objects in memory after deletions, want %d", n, objects/2)
	}
	checkShape(t, table.Version())
}
