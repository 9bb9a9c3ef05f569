// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
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
		if n, most := all.alive(), 2*objects+fewChanges*leafLen; n > most {
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
	checkSlots(t, table)
}

// TestOldStatesOfAnArray changes an array by Txns of several sizes, of which some are discarded and
// some change one position again and again, and reads states of every age, between them after the
// collector has taken what belongs to none.
func TestOldStatesOfAnArray(t *testing.T) {
	type moment struct {
		state array[int]
		want  []*node[int]
	}
	for _, positions := range []int{1, 3, 40, 700} {
		r := newRand(t)
		var now array[int]
		want := make([]*node[int], positions)
		var moments []moment
		compare := func(m moment) {
			t.Helper()
			for i, want := range m.want {
				if got := at(&m.state, uint32(i)); got != want {
					t.Fatalf("%d positions: the state of Txn %d has %p at %d, want %p", positions, m.state.serial, got, i, want)
				}
			}
			n := 0
			for i, got := range nodesOf(&m.state) {
				n++
				if got != m.want[i] {
					t.Fatalf("%d positions: each yields %p at %d, want %p", positions, got, i, m.want[i])
				}
			}
			if want := positions - strings.Count(fmt.Sprint(m.want), "<nil>"); n != want {
				t.Fatalf("%d positions: each yields %d nodes, want %d", positions, n, want)
			}
		}
		for owner := uint64(1); owner < 1500; owner++ {
			next, changed := now, slices.Clone(want)
			hot, n := r.IntN(positions), 1
			if r.IntN(10) == 0 {
				n += r.IntN(2 * positions)
			}
			var spare link[int]
			room := &spare
			for range n {
				i := r.IntN(positions)
				if owner%4 != 0 {
					i = hot
				}
				if changed[i] != nil && r.IntN(4) == 0 {
					drop(&next, owner, uint32(i), &room)
					changed[i] = nil
				} else {
					changed[i], _ = own(&next, owner, uint32(i), &room)
				}
			}
			if r.IntN(5) == 0 {
				settle(&now)
				revert(&now)
				continue
			}
			settle(&next)
			now, want = next, changed
			if r.IntN(3) == 0 {
				moments = append(moments, moment{now, want})
			}
			if owner%300 == 0 {
				moments = slices.DeleteFunc(moments, func(moment) bool { return r.IntN(3) == 0 })
				runtime.GC()
			}
			if owner%50 == 0 && len(moments) > 0 {
				compare(moments[r.IntN(len(moments))])
				compare(moment{now, want})
			}
		}
		for _, m := range moments {
			compare(m)
		}
	}
}

// TestOldStatesAreReadInFewSteps counts how many records and links lie between a position of the
// base and what an old state had in it, in the longest chain that there is, whose changes are of
// one position or of all in turn.
func TestOldStatesAreReadInFewSteps(t *testing.T) {
	const positions = 1 << 15
	for _, changed := range []uint32{1, 2, 100, positions} {
		var a array[int]
		own(&a, 1, positions-1, nil)
		for i := range uint32(positions) {
			own(&a, 1, i, nil)
		}
		settle(&a)
		first := a
		owner := uint64(2)
		for ; a.base.changesLeft > 0; owner++ {
			own(&a, owner, uint32(owner)%changed, nil)
			settle(&a)
		}
		if owner < positions/2 {
			t.Fatalf("%d changes fill the base", owner)
		}
		for i := range changed {
			steps, number := 0, a.base.lasts[i].Load()
			for r := recordAt(a.base, number); r.previous > 0; r = recordAt(a.base, number) {
				steps++
				if number = r.previous; r.jump > 0 {
					number = r.jump
				}
			}
			if most := 2 * bits.Len32(positions); steps > most {
				t.Fatalf("%d of %d positions change: %d steps to the first change, want %d at most", changed, positions, steps, most)
			}
			if n := at(&first, i); n.owner != 1 {
				t.Fatalf("the first state has the node of Txn %d", n.owner)
			}
		}
	}
}
