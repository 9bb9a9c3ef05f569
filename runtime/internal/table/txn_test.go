// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestUpdateAllocatesLittle bounds the allocations of an update in its own Txn, and in a batch.
func TestUpdateAllocatesLittle(t *testing.T) {
	const many = 20000
	things := make([]*thing, many)
	for i := range things {
		things[i] = newThing("ns", fmt.Sprint(i), "key")
	}
	plain, indexed := mustNew(t), mustNew(t, byKeys("keys")) // its key function allocates
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
	for batch, limit := range map[int]float64{1: 4, 10: 25} {
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
		if allocs > limit {
			t.Errorf("updates in batches of %d allocate %v times, want at most %v", batch, allocs, limit)
		}
	}
	old := stateOf(plain.Version())
	if v := stateOf(commit(plain, things[1])); v.keys != old.keys || &v.indexes[0] != &old.indexes[0] {
		t.Error("an update without changed keys copies keys or indexes")
	}
	old = stateOf(indexed.Version())
	if v := stateOf(commit(indexed, newThing("ns", "1", "other"))); &v.indexes[0] == &old.indexes[0] {
		t.Error("an update with changed keys writes to the published index")
	}
}

// TestEndedTxnDoesNotAffectTheNext uses a Txn after its end, during the replacement of the next
// one.
func TestEndedTxnDoesNotAffectTheNext(t *testing.T) {
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
		t.Errorf("Len() = %d after Sweep, want 1 kept object", v.Len())
	}
	x = table.Begin()
	x.StartReplace()
	x.Keep(object.Key{Name: "a"})
	x.Discard() // also its kept rows
	x = table.Begin()
	x.StartReplace()
	x.Sweep("", nil)
	if v := x.Publish(); v.Len() != 0 {
		t.Errorf("Len() = %d after Sweep, want 0: only a discarded Txn kept objects", v.Len())
	}
}

// TestReadingSurvivesObjectsChangedInPlace changes objects in the table, which is forbidden, and
// deletes them. Their old keys stay in the index, but reading these must not panic.
func TestReadingSurvivesObjectsChangedInPlace(t *testing.T) {
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
			t.Errorf("%d objects: Lookup yields the deleted object %v", n, obj)
		}
	}
}
