// SPDX-License-Identifier: Apache-2.0

package table

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// TestLateChangesInEachVersion moves few objects at a time between few keys, so that most changes
// of postings are late, and reads Versions of several ages at any time, between the changes and
// after them. Of the numbers of objects, each gives postings another form.
func TestLateChangesInEachVersion(t *testing.T) {
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

// moving is a table of things that have one of two keys, and the two states of each.
func moving(t *testing.T, n int) (table *Table, index *field, states [2][]*thing) {
	t.Helper()
	index = &field{ID{"state"}, func(o *thing) string { return o.GenerateName }}
	table = mustNew(t, index)
	for state := range states {
		for i := range n {
			obj := newThing("ns", fmt.Sprint(i))
			obj.GenerateName = fmt.Sprint("state-", (i+state)%2)
			states[state] = append(states[state], obj)
		}
	}
	commit(table, states[0]...)
	return table, index, states
}

// postingIn returns the posting that a reader of v gets for the first of the keys.
func postingIn(v *Version, index *field) *posting {
	set, _ := v.Lookup(&index.id, Hash("state-0"), func(key any) bool { return key.(string) == "state-0" })
	return set.posting
}

// TestMoveCopiesLittle moves objects between two keys: what most moves allocate is what an update
// takes that moves nothing.
func TestMoveCopiesLittle(t *testing.T) {
	const moves = 2000
	for _, n := range []int{200, 2000, 100_000} {
		table, _, states := moving(t, n)
		kept := 0
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range moves {
			old := stateOf(table.Version())
			if v := stateOf(commit(table, states[(i/n+1)%2][i%n])); v.directory == old.directory {
				kept++
			}
		}
		runtime.ReadMemStats(&after)
		if least := moves * (lateMax - 1) / lateMax; kept < least {
			t.Errorf("%d objects: %d of %d moves copy no directory, want %d at least", n, kept, moves, least)
		}
		if got, most := (after.TotalAlloc-before.TotalAlloc)/moves, uint64(1000); got > most {
			t.Errorf("%d objects: a move allocates %d bytes, want %d at most", n, got, most)
		}
	}
}

// TestReadersShareWhatOneHasMade reads a posting with late changes in the newest Version and in an
// older one, before and after.
func TestReadersShareWhatOneHasMade(t *testing.T) {
	table, index, states := moving(t, 100)
	old := commit(table, states[1][0])
	now := commit(table, states[1][2], states[1][4])
	before := postingIn(old, index)
	made := postingIn(now, index)
	for _, p := range []*posting{before, postingIn(old, index)} {
		if n := len(slotsIn(p)); p == made || n != 49 || p.n != 49 {
			t.Errorf("the older version has a posting of %d slots, want 49 in one of its own", n)
		}
	}
	if p := postingIn(now, index); p != made || p.n != 47 {
		t.Errorf("the second reader has another posting of %d, want the one of 47 that is made", p.n)
	}
	if allocs := testing.AllocsPerRun(10, func() { postingIn(now, index) }); allocs != 0 {
		t.Errorf("a reader after the first makes %v allocations, want none", allocs)
	}
}

// TestLateChangesLongAfterTheFirst counts more Txns between two changes than a late can tell apart.
func TestLateChangesLongAfterTheFirst(t *testing.T) {
	table, index, states := moving(t, 100)
	first := commit(table, states[1][0])
	table.writer.(*writer).serial += math.MaxInt32 - 1
	second := commit(table, states[1][2])
	table.writer.(*writer).serial++
	third := commit(table, states[1][4])
	for i, v := range []*Version{first, second, third} {
		if p := postingIn(v, index); int(p.n) != 49-i {
			t.Errorf("version %d has %d objects of the key, want %d", i+1, p.n, 49-i)
		}
		checkShape(t, v)
	}
}
