// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
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

// TestOldVersionsWhileWriting reads Versions of several ages all the time while a writer inserts,
// replaces, deletes, publishes and discards; each Version must answer as it did at first, in each
// way to read it. It is meant for the race detector too.
func TestOldVersionsWhileWriting(t *testing.T) {
	const names, steps = 400, 1500
	index := byGroup("group")
	table := mustNew(t, index)
	type moment struct {
		v    *Version
		want model
	}
	var moments [8]atomic.Pointer[moment]
	first := &moment{table.Version(), model{}}
	for i := range moments {
		moments[i].Store(first)
	}
	var done atomic.Bool
	var group sync.WaitGroup
	for i := range 3 {
		r := rand.New(rand.NewPCG(uint64(i), 0))
		group.Go(func() {
			for !done.Load() {
				m := moments[r.IntN(len(moments))].Load()
				n := 0
				for obj := range m.v.All {
					n++
					if m.want[object.KeyOf(obj)] != obj {
						t.Errorf("%v is another one than when the version was new", object.KeyOf(obj))
						return
					}
				}
				for key, want := range m.want {
					if got, _ := m.v.Get(key); got != want {
						t.Errorf("Get(%v) gives another one than when the version was new", key)
						return
					}
				}
				for group := byte('a'); group < 'd'; group++ {
					list, _ := lookUp(m.v, index, group)
					n -= len(list)
				}
				if n != 0 {
					t.Errorf("%d objects more by All than by the index", n)
					return
				}
			}
		})
	}
	r := newRand(t)
	m := model{}
	for step := range steps {
		next := model{}
		for key, obj := range m {
			next[key] = obj
		}
		x := table.Begin()
		for range 1 + r.IntN(20)*r.IntN(5) {
			key := object.Key{Namespace: "ns", Name: fmt.Sprintf("%c%d", 'a'+r.IntN(3), r.IntN(names/3))}
			if r.IntN(3) == 0 {
				x.Delete(key)
				delete(next, key)
			} else {
				obj := newThing(key.Namespace, key.Name)
				x.Set(obj)
				next[key] = obj
			}
		}
		if r.IntN(5) == 0 {
			x.Discard()
			continue
		}
		m = next
		moments[min(r.IntN(step+1), r.IntN(len(moments)))].Store(&moment{x.Publish(), m})
	}
	done.Store(true)
	group.Wait()
	for i := range moments {
		verify(t, moments[i].Load().v, moments[i].Load().want, index)
	}
	verify(t, table.Version(), m, index)
	checkShape(t, table.Version())
}

// TestMovesInEachVersion moves objects between few keys, and reads Versions of several ages at any
// time, between the changes and after them.
func TestMovesInEachVersion(t *testing.T) {
	type moment struct {
		v *Version
		m model
	}
	for _, tc := range []struct{ objects, keys, steps int }{
		{40, 2, 400}, {200, 3, 150}, {600, 2, 60}, {6000, 2, 10},
	} {
		t.Run(fmt.Sprint(tc.objects), func(t *testing.T) {
			r, index := newRand(t), byKeys("keys")
			table, m := mustNew(t, index), model{}
			random := func() *thing {
				namespace, name := fmt.Sprint("ns", r.IntN(2)), fmt.Sprint(r.IntN(tc.objects))
				obj := newThing(namespace, name, fmt.Sprint(r.IntN(tc.keys)))
				if r.IntN(3) == 0 { // several keys, of which some may be the old ones, or equal
					obj.Finalizers = append(obj.Finalizers, fmt.Sprint(r.IntN(tc.keys)))
				}
				return obj
			}
			x := table.Begin()
			for range 2 * tc.objects {
				obj := random()
				x.Set(obj)
				m[object.KeyOf(obj)] = obj
			}
			history := []moment{{x.Publish(), m}}
			for range tc.steps {
				x, next := table.Begin(), maps.Clone(m)
				for range 1 + r.IntN(3)*r.IntN(10) {
					obj := random()
					if r.IntN(8) == 0 {
						x.Delete(object.KeyOf(obj))
						delete(next, object.KeyOf(obj))
					} else {
						x.Set(obj)
						next[object.KeyOf(obj)] = obj
					}
				}
				own, _ := lookUp(x.content(), index, "0") // a Txn reads its own changes
				if want := have(next, "0"); len(own) != want {
					t.Fatalf("the open Txn has %d objects of a key, want %d", len(own), want)
				}
				if r.IntN(5) == 0 {
					x.Discard()
				} else {
					m = next
					history = append(history, moment{x.Publish(), m})
				}
				h := history[max(0, len(history)-1-r.IntN(20))]
				verify(t, h.v, h.m, index)
				checkShape(t, h.v)
			}
			for i := 0; i < len(history); i += 1 + len(history)/20 {
				verify(t, history[i].v, history[i].m, index)
				checkShape(t, history[i].v)
			}
		})
	}
}

// have returns how many objects of m have the key.
func have(m model, key string) (n int) {
	for _, obj := range m {
		if slices.Contains(obj.(*thing).Finalizers, key) {
			n++
		}
	}
	return n
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
