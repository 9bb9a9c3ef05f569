// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestUpdateAllocatesLittle bounds the allocations of an update by a Txn of its own, which the
// garbage collector pays again.
func TestUpdateAllocatesLittle(t *testing.T) {
	const many = 20000
	things := make([]*thing, many)
	for i := range things {
		things[i] = newThing("ns", fmt.Sprint(i), "key")
	}
	plain, indexed := mustNew(t), mustNew(t, byKeys("keys")) // whose function allocates itself
	commit(plain, things...)
	commit(indexed, things...)
	const updates = 1000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range updates {
		x := plain.Begin()
		x.Set(things[i*7919%many])
		x.SetResourceVersion("1")
		x.Publish()
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / updates; got > 1700 {
		t.Errorf("an update allocates %d bytes, want at most 1700", got)
	}
	for batch, most := range map[int]float64{1: 4, 10: 25} {
		i := 0
		allocs := testing.AllocsPerRun(updates, func() {
			x := plain.Begin()
			for range batch {
				x.Set(things[i*7919%many])
				i++
			}
			x.SetResourceVersion("1")
			x.Publish()
		})
		if allocs > most {
			t.Errorf("updates in batches of %d: %v allocations, want at most %v", batch, allocs, most)
		}
	}
	old := stateOf(plain.Version())
	if v := stateOf(commit(plain, things[1])); v.keys != old.keys || &v.indexes[0] != &old.indexes[0] {
		t.Error("an update that changes no key copies keys or indexes")
	}
	old = stateOf(indexed.Version())
	if v := stateOf(commit(indexed, newThing("ns", "1", "other"))); &v.indexes[0] == &old.indexes[0] {
		t.Error("a published index was changed")
	}
}

// TestEndedTxnLeavesTheNextAlone keeps a Txn beyond its end and uses it while the next one
// replaces.
func TestEndedTxnLeavesTheNextAlone(t *testing.T) {
	table := mustNew(t)
	ended := table.Begin()
	ended.Set(newThing("", "a"))
	ended.Set(newThing("", "b"))
	ended.Publish()
	x := table.Begin()
	x.StartReplace()
	x.Keep(object.Key{Name: "a"})
	ended.StartReplace()
	ended.Sweep("", nil)
	ended.Discard()
	x.Sweep("", nil)
	if v := x.Publish(); v.Len() != 1 {
		t.Errorf("%d objects are left, want the one that was kept", v.Len())
	}
	x = table.Begin()
	x.StartReplace()
	x.Keep(object.Key{Name: "a"})
	x.Discard() // and its marks with it
	x = table.Begin()
	x.StartReplace()
	x.Sweep("", nil)
	if v := x.Publish(); v.Len() != 0 {
		t.Errorf("%d objects are left that a discarded Txn kept", v.Len())
	}
}

// TestReadingSurvivesObjectsThatWereChanged has objects that were changed while they were in the
// table, which is forbidden, but happens: what an index has under their old keys is wrong then, but
// reading it does not panic.
func TestReadingSurvivesObjectsThatWereChanged(t *testing.T) {
	for _, n := range []int{1, 3, 200} {
		byKey := byKeys("keys")
		table := mustNew(t, byKey)
		var all []*thing
		x := table.Begin()
		for i := range n {
			obj := newThing("ns", fmt.Sprint(i), "old")
			all = append(all, obj)
			x.Set(obj)
		}
		x.Publish()
		for _, obj := range all {
			obj.Finalizers = []string{"new"}
		}
		x = table.Begin()
		for _, obj := range all {
			x.Delete(object.KeyOf(obj))
		}
		v := x.Publish()
		set, _ := v.Lookup(&byKey.id, hashAny("old"), func(key any) bool { return key == "old" })
		for obj := range set.All {
			t.Errorf("%d objects: an object that is not there: %v", n, obj)
		}
	}
}
