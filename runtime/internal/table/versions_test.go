// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// census counts which of the objects given to it are still in memory.
type census []weak.Pointer[thing]

func (c *census) new(name string) *thing {
	obj := newThing("ns", name, "all")
	*c = append(*c, weak.Make(obj))
	return obj
}

func (c *census) alive() int {
	runtime.GC()
	alive := 0
	for _, p := range *c {
		if p.Value() != nil {
			alive++
		}
	}
	return alive
}

// TestTheNewestVersionKeepsNothingOld replaces objects by Txns of several sizes, some of which are
// discarded, and looks for old states of objects after each.
func TestTheNewestVersionKeepsNothingOld(t *testing.T) {
	const objects = 40
	for _, batch := range []int{1, 2, 3, 10, 100} {
		table, r := mustNew(t, twoFields()...), newRand(t)
		var all census
		x := table.Begin()
		for i := range objects {
			x.Set(all.new(fmt.Sprint(i)))
		}
		x.Publish()
		for step := range 50 {
			x := table.Begin()
			for range batch {
				x.Set(all.new(fmt.Sprint(r.IntN(objects))))
			}
			if step%7 == 3 {
				x.Discard()
				continue
			}
			x.Publish()
			if n := all.alive(); n != objects {
				t.Fatalf("batches of %d, step %d: %d objects in memory, want %d", batch, step, n, objects)
			}
		}
		runtime.KeepAlive(table)
	}
}

// TestAnOldVersionKeepsLittle holds the first Version and changes few objects very often.
func TestAnOldVersionKeepsLittle(t *testing.T) {
	const objects = 10
	for _, batch := range []int{1, 2, 3, 7, 10, 128} {
		table, r := mustNew(t), newRand(t)
		var all census
		x := table.Begin()
		for i := range objects {
			x.Set(all.new(fmt.Sprint(i)))
		}
		first := x.Publish()
		for range 5000 / batch {
			x := table.Begin()
			for range batch {
				x.Set(all.new(fmt.Sprint(r.IntN(objects))))
			}
			x.Publish()
		}
		if n, most := all.alive(), 2*objects; n > most {
			t.Errorf("batches of %d: %d of %d objects in memory, want %d at most", batch, n, len(all), most)
		}
		if first.Len() != objects {
			t.Error("the first version has changed")
		}
		runtime.KeepAlive(table)
	}
}

// TestOldStatesAreReadInFewSteps counts the nodes between a version and its objects, after so many
// changes that the newest version has none of the nodes.
func TestOldStatesAreReadInFewSteps(t *testing.T) {
	const objects, most = 1 << 15, 3 // nodes, for leaves of 32 slots and branches of 32 nodes
	index := byGroup("group")
	table := mustNew(t, index)
	var names []string
	x := table.Begin()
	for i := range objects {
		names = append(names, fmt.Sprint("x", i))
		x.Set(newThing("ns", names[i]))
	}
	old := x.Publish()
	for i := range 2 * objects {
		x := table.Begin()
		if i%2 == 0 {
			x.Set(newThing("ns", names[i/2]))
		} else {
			x.Delete(object.Key{Namespace: "ns", Name: names[i/2]})
		}
		x.Publish()
	}
	s := stateOf(old)
	if n := s.objects.height + 1; n > most {
		t.Errorf("%d nodes lead to an object by its slot, want %d at most", n, most)
	}
	if n := depth(s.keys.root); n > 2*most {
		t.Errorf("%d nodes lead to an object by its key, want %d at most", n, 2*most)
	}
	for i := range s.indexes {
		if n := s.indexes[i].entries.CopiedBytes(8, 8); n > 3000 {
			t.Errorf("nodes of %d bytes lead to an entry of index %d, want 3000 at most", n, i)
		}
	}
	if n := table.Version().Len(); n != 0 || old.Len() != objects {
		t.Errorf("%d objects are left, and %d in the old version", n, old.Len())
	}
}

// depth returns the most nodes between the root of a hash trie and an entry.
func depth[V comparable](b *bucket[V]) (most int) {
	if b == nil {
		return 0
	}
	if b.below != nil {
		for _, below := range b.below {
			most = max(most, depth(below))
		}
	}
	return 1 + most
}

// TestChangeOfAPostingCopiesLittle compares what it costs to take an object out of a namespace of
// 20,000 and out of one of 300,000, and to move it from one key to another.
func TestChangeOfAPostingCopiesLittle(t *testing.T) {
	const changes = 500
	cost := func(objects int) (move, gone int) {
		states := [2]*Table{mustNew(t, &field{ID{"field"}, func(o *thing) string { return o.GenerateName }}), mustNew(t)}
		for _, table := range states {
			x := table.Begin()
			for i := range objects {
				x.Set(newThing("ns", fmt.Sprint(i)))
			}
			x.Publish()
		}
		var began, moved, ended runtime.MemStats
		runtime.ReadMemStats(&began)
		for i := range changes {
			obj := newThing("ns", fmt.Sprint(i*7919%objects))
			obj.GenerateName = "moved"
			commit(states[0], obj)
		}
		runtime.ReadMemStats(&moved)
		for i := range changes {
			x := states[1].Begin()
			x.Delete(object.Key{Namespace: "ns", Name: fmt.Sprint(i * 7919 % objects)})
			x.Publish()
		}
		runtime.ReadMemStats(&ended)
		return int(moved.TotalAlloc-began.TotalAlloc) / changes, int(ended.TotalAlloc-moved.TotalAlloc) / changes
	}
	fewMoved, fewGone := cost(20_000)
	manyMoved, manyGone := cost(300_000)
	if 2*manyMoved > 3*fewMoved || 2*manyGone > 3*fewGone {
		t.Errorf("a move copies %d bytes of 20,000 and %d of 300,000, a deletion %d and %d; want 1.5 times as much at most", fewMoved, manyMoved, fewGone, manyGone)
	}
}
