// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func mustNew(t testing.TB, indexes ...Index) *Table {
	t.Helper()
	table, err := New(indexes...)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// commit sets the objects in one Txn.
func commit(table *Table, objs ...*thing) *Version {
	x := table.Begin()
	for _, obj := range objs {
		x.Set(obj)
	}
	return x.Publish()
}

func TestVersionIsImmutable(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	a, b := newThing("x", "a", "red"), newThing("y", "b", "red")
	before := commit(table, a, b)

	x := table.Begin()
	x.Set(newThing("x", "a", "blue"))
	x.Delete(object.KeyOf(b))
	// not yet published
	verify(t, table.Version(), model{object.KeyOf(a): a, object.KeyOf(b): b}, keys)
	x.Publish()

	verify(t, before, model{object.KeyOf(a): a, object.KeyOf(b): b}, keys)
	if got := table.Version().Len(); got != 1 {
		t.Errorf("the new version has %d objects, want 1", got)
	}
}

func TestSweepDeletesUnlistedObjects(t *testing.T) {
	table := mustNew(t)
	a, b, c, d := newThing("", "a"), newThing("", "b"), newThing("", "c"), newThing("", "d")
	commit(table, a, b, c)

	x := table.Begin()
	x.Sweep("", func(object.Object) { t.Error("Sweep without StartReplace deletes") })
	x.StartReplace()
	if !x.Keep(object.KeyOf(a)) || x.Keep(object.KeyOf(d)) {
		t.Error("Keep of a stored object returns false, or of a missing one true")
	}
	x.Set(d)
	x.Set(newThing("", "b"))
	x.Delete(object.KeyOf(b)) // also frees its slot
	var swept []object.Object
	x.Sweep("", func(old object.Object) { swept = append(swept, old) })
	if !slices.Equal(swept, []object.Object{c}) {
		t.Errorf("Sweep deletes %v, want only %v", swept, c)
	}
	x.Sweep("", func(object.Object) { t.Error("the second Sweep deletes") })
	verify(t, x.Publish(), model{object.KeyOf(a): a, object.KeyOf(d): d})

	x = table.Begin()
	x.StartReplace()
	x.Sweep("", nil)
	verify(t, x.Publish(), model{})
}

func (invalidIndex) Check() error { return errors.New("it is wrong") }

// TestKeysOfTheSameHash uses object keys whose hashes really collide: among 2^19 keys, two agree in
// 32 bits with near certainty.
func TestKeysOfTheSameHash(t *testing.T) {
	for _, tc := range []struct {
		name string
		key  func(string) object.Key
	}{
		{"different names", func(s string) object.Key { return object.Key{Namespace: "ns", Name: s} }},
		{"different namespaces", func(s string) object.Key { return object.Key{Namespace: s, Name: "a"} }},
	} {
		t.Run(tc.name, func(t *testing.T) { testSameHash(t, tc.key) })
	}
}

func testSameHash(t *testing.T, key func(string) object.Key) {
	seen := map[uint32]object.Key{}
	var pairs [][2]object.Key
	for i := range 1 << 19 {
		key := key(fmt.Sprint(i))
		hash := Hash(key)
		if other, ok := seen[hash]; ok {
			pairs = append(pairs, [2]object.Key{key, other})
			delete(seen, hash) // each key is in at most one pair, even if three have the hash
		} else {
			seen[hash] = key
		}
	}
	if len(pairs) == 0 {
		t.Fatal("no two keys have the same hash")
	}
	table, m := mustNew(t), model{}
	for i, pair := range pairs {
		a, b := newThing(pair[0].Namespace, pair[0].Name), newThing(pair[1].Namespace, pair[1].Name)
		if i%2 == 0 {
			a, b = b, a
		}
		commit(table, a)
		if _, ok := table.Version().Get(object.KeyOf(b)); ok {
			t.Fatalf("Get(%v) finds %v, which has the same hash", object.KeyOf(b), object.KeyOf(a))
		}
		commit(table, b)
		m[object.KeyOf(a)], m[object.KeyOf(b)] = a, b
	}
	verify(t, table.Version(), m)
	for _, pair := range pairs {
		x := table.Begin()
		x.Delete(pair[0])
		delete(m, pair[0])
		verify(t, x.Publish(), m)
	}
}

// TestDeletesFreeNodes fills a table, deletes all but a few objects, and counts the remaining
// nodes.
func TestDeletesFreeNodes(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	const many = 20000
	for range 3 {
		x := table.Begin()
		for i := range many {
			x.Set(newThing(fmt.Sprint("ns", i%100), fmt.Sprint(i), fmt.Sprint(i), "all"))
		}
		full := x.Publish()
		v := full
		checkShape(t, v)
		if slot := stateOf(v).objects.free(); slot != many {
			t.Fatalf("the first free slot is %d for %d objects: slots are not reused", slot, many)
		}
		for i := range many - 5 { // each in its own Txn, so ownership doesn't matter
			x := table.Begin()
			x.Delete(object.Key{Namespace: fmt.Sprint("ns", i%100), Name: fmt.Sprint(i)})
			x.Publish()
		}
		v = table.Version()
		checkShape(t, v)
		checkShape(t, full) // which must not have changed
		if n := len(slices.Collect(full.Namespace("ns7").All)); full.Len() != many || n != many/100 {
			t.Errorf("the full version now has %d objects, %d of them in ns7, want %d and %d", full.Len(), n, many, many/100)
		}
		nodes := map[string]int{"objects": branches(stateOf(v).objects.root), "keys": buckets(stateOf(v).keys.root)}
		for i, x := range stateOf(v).indexes {
			nodes[fmt.Sprint("keys of index ", i)] = buckets(x.keys.root)
		}
		for tree, n := range nodes {
			if n > 4 {
				t.Errorf("%s: %d nodes for the remaining 5 objects, want at most 4", tree, n)
			}
		}
		// Low slots are taken first, so the next round fills the same slots.
		x = table.Begin()
		x.StartReplace()
		x.Sweep("", nil)
		if v := x.Publish(); stateOf(v).objects != (vector{}) || stateOf(v).keys.root != nil {
			t.Error("the empty table still has nodes")
		}
	}
	x := table.Begin()
	for i := range 64 {
		x.Set(newThing("", fmt.Sprint(i)))
	}
	for i := range 64 {
		x.Delete(object.Key{Name: fmt.Sprint(i)})
		x.Set(newThing("", fmt.Sprint(i+1000)))
	}
	if slot := stateOf(x.Publish()).objects.free(); slot != 64 {
		t.Errorf("64 objects take %d slots, want 64", slot)
	}
}

// buckets returns the number of nodes of a hash trie.
func buckets[V comparable](b *bucket[V]) int {
	if b == nil {
		return 0
	}
	n := 1
	if b.children != nil {
		for _, child := range b.children {
			n += buckets(child)
		}
	}
	return n
}

// branches returns the number of nodes of a vector.
func branches(b *branch) (n int) {
	if b == nil {
		return 0
	}
	for i := range 1 << branchBits {
		if b.branches != nil {
			n += branches(b.branches[i])
		} else if b.leaves[i] != nil {
			n++
		}
	}
	return n + 1
}

func TestNilVersionIsEmpty(t *testing.T) {
	var v *Version
	for range v.All {
		t.Error("All of a nil Version yields an object")
	}
	for range v.Namespaces {
		t.Error("Namespaces of a nil Version yields a name")
	}
	_, got := v.Get(object.Key{Name: "a"})
	_, indexed := v.Lookup(&ID{}, 0, nil)
	if got || indexed || v.Len() != 0 || v.Namespace("").Len() != 0 || v.Namespace("a").Len() != 0 ||
		v.ResourceVersion() != "" {
		t.Error("a nil Version is not empty")
	}
}

func TestWrongUsePanics(t *testing.T) {
	table := mustNew(t)
	x := table.Begin()
	mustPanic(t, "Begin while a Txn is open", func() { table.Begin() })
	v := x.Publish()
	mustPanic(t, "used after Publish", func() { x.Publish() })
	x.SetResourceVersion("5")
	if _, ok := x.Delete(object.Key{Name: "a"}); ok || x.Open() || x.Keep(object.Key{}) || v.ResourceVersion() != "" {
		t.Error("a published Txn still has an effect")
	}
}

func TestIterationStopsEarly(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	for _, n := range []int{1, 3, 200, 300, 9000} {
		x := table.Begin()
		for i := range n {
			x.Set(newThing("ns", fmt.Sprint(i), "all", fmt.Sprint(i)))
		}
		v := x.Publish()
		all, _ := v.Lookup(&keys.id, hashAny("all"), func(k any) bool { return k == "all" })
		seqs := map[string]func(func(object.Object) bool){"All": v.All, "Namespace": v.Namespace("ns").All, "Lookup": all.All}
		for name, seq := range seqs {
			for stop := 1; stop <= n; stop = stop*2 + 1 {
				got := 0
				for range seq {
					if got++; got == stop {
						break
					}
				}
				if got != stop {
					t.Errorf("%s of %d objects stopped after %d yields %d", name, n, stop, got)
				}
			}
		}
		seq, _ := v.IndexKeys(&keys.id)
		for range seq {
			break
		}
	}
}

func TestReadingAllocatesNothing(t *testing.T) {
	keys := byKeys("keys")
	table := mustNew(t, keys)
	x := table.Begin()
	for i := range 10000 {
		x.Set(newThing(fmt.Sprint("ns", i%3), fmt.Sprint(i), fmt.Sprint(i%50)))
	}
	x.Publish()
	key := object.Key{Namespace: "ns1", Name: "4"}
	hash := hashAny("7")
	n := 0
	for name, f := range map[string]func(){
		"Get": func() { table.Version().Get(key) },
		"All": func() {
			for range table.Version().All {
				n++
			}
		},
		"Namespace": func() {
			for range table.Version().Namespace("ns2").All {
				n++
			}
		},
		"Lookup": func() {
			set, _ := table.Version().Lookup(&keys.id, hash, func(k any) bool { return k.(string) == "7" })
			for range set.All {
				n++
			}
		},
	} {
		if allocs := testing.AllocsPerRun(10, f); allocs != 0 {
			t.Errorf("%s allocates %v times, want 0", name, allocs)
		}
	}
}
