// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"runtime"
	"testing"
	"weak"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// census counts the objects still in memory among those it made.
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

// TestNewestVersionKeepsNoOldObjects replaces objects in Txns of several sizes, some of them
// discarded, and counts the objects in memory after each.
func TestNewestVersionKeepsNoOldObjects(t *testing.T) {
	const objects = 40
	for _, batch := range []int{1, 2, 3, 10, 100} {
		table, r := mustNew(t, nodeAndOwner()...), newRand(t)
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

// TestOldVersionKeepsFewObjects keeps the first Version while few objects change very often.
func TestOldVersionKeepsFewObjects(t *testing.T) {
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
		if n, limit := all.alive(), 2*objects; n > limit {
			t.Errorf("batches of %d: %d of %d objects in memory, want at most %d", batch, n, len(all), limit)
		}
		if first.Len() != objects {
			t.Errorf("the first version has %d objects, want %d", first.Len(), objects)
		}
		runtime.KeepAlive(table)
	}
}

// TestOldVersionsStayShallow counts the nodes on the path to an object of an old version, after so
// many changes that the newest version shares none of them.
func TestOldVersionsStayShallow(t *testing.T) {
	const objects, limit = 1 << 15, 3 // nodes, for leaves of 32 slots and branches of 32 nodes
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
	if n := s.objects.height + 1; n > limit {
		t.Errorf("the path to a slot has %d nodes, want at most %d", n, limit)
	}
	if n := depth(s.keys.root); n > 2*limit {
		t.Errorf("the path to a key has %d nodes, want at most %d", n, 2*limit)
	}
	for i := range s.indexes {
		if n := s.indexes[i].entries.CopiedBytes(8, 8); n > 3000 {
			t.Errorf("the path to an entry of index %d has %d bytes, want at most 3000", i, n)
		}
	}
	if n := table.Version().Len(); n != 0 || old.Len() != objects {
		t.Errorf("the newest version has %d objects, the old one %d; want 0 and %d", n, old.Len(), objects)
	}
}

// depth returns the maximum number of nodes from the root of a hash trie to an entry.
func depth[V comparable](b *bucket[V]) (most int) {
	if b == nil {
		return 0
	}
	if b.children != nil {
		for _, child := range b.children {
			most = max(most, depth(child))
		}
	}
	return 1 + most
}

// TestIndexChangesCopyLittle compares the bytes allocated for a delete and for a change of an index
// key, in a namespace of 20,000 objects and in one of 300,000.
func TestIndexChangesCopyLittle(t *testing.T) {
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
		t.Errorf("a change of a key allocates %d bytes among 20,000 objects and %d among 300,000, a delete %d and %d; want a factor of at most 1.5", fewMoved, manyMoved, fewGone, manyGone)
	}
}
