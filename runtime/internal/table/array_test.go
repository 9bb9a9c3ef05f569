// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
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

// TestTheNewestVersionKeepsNothingOld replaces objects by Txns of several sizes, some of which are discarded, and looks for
// old states of objects after each.
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
		if n, most := all.alive(), 2*objects+fewChanges*leafLen; n > most {
			t.Errorf("batches of %d: %d of %d objects in memory, want %d at most", batch, n, len(all), most)
		}
		if first.Len() != objects {
			t.Error("the first version has changed")
		}
		runtime.KeepAlive(table)
	}
}

// TestOldVersionsWhileWriting reads Versions of several ages all the time while a writer inserts, replaces, deletes, publishes
// and discards; each Version must answer as it did at first, in each way to read it. It is meant for the race detector too.
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
					list, _ := lookup(m.v, index, group)
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
	checkSlots(t, table)
}

// TestAReaderIsOvertaken stands where a reader may stand that walks along the chain while a Txn is open: at that Txn's empty
// link, before which the Txn inserts others, and which the next Txn fills.
func TestAReaderIsOvertaken(t *testing.T) {
	const places = 4
	var a array[int]
	change := func(owner uint64, i uint32) { own(&a, owner, i, nil) }
	for _, i := range []uint32{0, 1, 2, 3} {
		change(1, i)
	}
	drop(&a, 1, 3, nil)
	settle(&a)
	old := a
	var want, seen [places]*node[int]
	read(&old, 0, want[:])
	read(&old, 0, seen[:])
	change(2, 0)
	overtaken := old
	overtaken.since = a.since
	change(2, 1)
	drop(&a, 2, 2, nil)
	change(2, 3)
	settle(&a)
	for _, i := range []uint32{0, 1, 2, 3} {
		change(3, i)
	}
	settle(&a)
	restore(&overtaken, 0, seen[:])
	if seen != want {
		t.Errorf("the old state has %v, want %v", seen, want)
	}
	if n := replaced(&overtaken, 3); n != nil {
		t.Errorf("the old state has %v in a place that was free", n)
	}
	if read(&old, 0, seen[:]); seen != want {
		t.Errorf("the old state has become %v, want %v", seen, want)
	}
}
