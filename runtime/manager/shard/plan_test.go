// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// planRig has a table and members, and moves buckets at once as the plan wants.
type planRig struct {
	t *testing.T
	view
	spares int
}

func newPlanRig(t *testing.T, buckets int) *planRig {
	return &planRig{t: t, view: view{table: table{version: "1", buckets: make([]entry, buckets)}, changed: make([]time.Duration, buckets), members: map[string]*seen{}}}
}

func (r *planRig) set(identity string, state memberState, weight int) {
	first := time.Duration(len(r.members)) // in the order of their coming
	if known := r.members[identity]; known != nil {
		first = known.first
	}
	r.members[identity] = &seen{lease{identity: identity, state: state, weight: weight, duration: time.Hour}, 0, first}
}

// settle does what the plan wants, until it wants nothing more. It returns the number of moves.
func (r *planRig) settle() (moves int) {
	for range 10 * len(r.table.buckets) {
		p := planFor(&r.view, r.spares, time.Minute, 0)
		changed, atOnce := false, 0
		for b := range r.table.buckets {
			e := &r.table.buckets[b]
			e.Spare = p.spares[b]
			if p.owners[b] == e.Owner || p.owners[b] == "" {
				continue
			}
			if m := r.members[e.Owner]; m != nil && !m.state.gone() {
				moves++
				atOnce++
			}
			e.Owner, e.Epoch, changed = p.owners[b], e.Epoch+1, true
		}
		if atOnce > max(1, len(r.table.buckets)/maxMoves) {
			r.t.Errorf("%d of %d buckets move at once", atOnce, len(r.table.buckets))
		}
		if !changed {
			return moves
		}
	}
	r.t.Fatal("the plan never ends")
	return 0
}

func (r *planRig) owned() map[string]int {
	owned := map[string]int{}
	for _, e := range r.table.buckets {
		owned[e.Owner]++
	}
	return owned
}

func TestPlanFollowsWeights(t *testing.T) {
	for range 100 {
		n := 1 << rand.IntN(9)
		r := newPlanRig(t, n)
		r.spares = rand.IntN(2)
		sum := 0
		for range 1 + rand.IntN(8) {
			// Members come and go, and all settles each time.
			id, weight := fmt.Sprint("m", rand.IntN(8)), 1+rand.IntN(3)
			state := []memberState{active, active, active, leaving, left, expired}[rand.IntN(6)]
			if known := r.members[id]; known != nil && known.state.gone() {
				continue
			}
			r.set(id, state, weight)
			r.settle()
		}
		for _, m := range r.members {
			if m.state == active {
				sum += m.weight
			}
		}
		owned := r.owned()
		if sum > 0 && owned[""] > 0 {
			t.Errorf("%d of %d buckets have no owner", owned[""], n)
		}
		for id, m := range r.members {
			share := float64(n*m.weight) / float64(max(sum, 1))
			if m.state != active && sum > 0 && owned[id] > 0 {
				t.Errorf("%s is %s, and owns %d buckets", id, m.state, owned[id])
			}
			if m.state == active && (float64(owned[id]) <= share-1 || float64(owned[id]) >= share+1) {
				t.Errorf("%s owns %d of %d buckets, with a share of %.2f: %v", id, owned[id], n, share, owned)
			}
		}
		kept := map[string]int{}
		for b, e := range r.table.buckets {
			if e.Spare != "" && (e.Spare == e.Owner || !r.isUsable(e.Spare)) {
				t.Errorf("bucket %d: %s is the spare of %s", b, e.Spare, e.Owner)
			}
			kept[e.Spare]++
		}
		if r.spares > 0 && sum > 0 && len(owned) > 1 && kept[""] > 0 {
			t.Errorf("%d of %d buckets have no spare", kept[""], n)
		}
	}
}

// TestFewBucketsMove has the marks for moves.
func TestFewBucketsMove(t *testing.T) {
	for members := 1; members < 12; members++ {
		for _, names := range []string{"a", "b", "c", "d", "e"} { // decide by their hashes
			testFewBucketsMove(t, 16, members, names)
			testFewBucketsMove(t, 64, members, names)
		}
	}
}

func testFewBucketsMove(t *testing.T, n, members int, names string) {
	t.Helper()
	r := newPlanRig(t, n)
	for m := range members {
		r.set(fmt.Sprint(names, m), active, 1)
	}
	if moves := r.settle(); moves != 0 {
		t.Errorf("%d moves at the start", moves)
	}
	r.set("new", active, 1)
	if moves, most := r.settle(), (n+members)/(members+1); moves > most {
		t.Errorf("%d members: %d buckets move when one joins, want at most %d", members, moves, most)
	}
	if moves := r.settle(); moves != 0 {
		t.Errorf("%d moves without a reason", moves)
	}
	// A rolling update: each is replaced, and leaves while the new one waits for its JoinDelay.
	moves := 0
	old := slices.Sorted(func(yield func(string) bool) {
		for id := range r.members {
			if !yield(id) {
				return
			}
		}
	})
	for _, id := range old {
		r.set(id+"-next", joining, 1)
		r.set(id, leaving, 1)
		moves += r.settle()
		r.set(id+"-next", active, 1)
		moves += r.settle()
		r.set(id, left, 1)
		moves += r.settle()
	}
	if moves > n {
		t.Errorf("%d members: %d of %d buckets move in a rolling update, want each once", members+1, moves, n)
	}
}

func TestSpareTakesOver(t *testing.T) {
	r := newPlanRig(t, 64)
	r.spares = 1
	for _, id := range []string{"a", "b", "c"} {
		r.set(id, active, 1)
	}
	r.settle()
	before := slices.Clone(r.table.buckets)
	r.set("b", expired, 1)
	p := planFor(&r.view, 1, time.Minute, 0)
	for b, e := range before {
		if e.Owner == "b" && p.owners[b] != e.Spare {
			t.Errorf("bucket %d goes to %s, want its spare %s", b, p.owners[b], e.Spare)
		}
	}
}

// TestColdStart shows that a new ring waits for the members that start together, and an old one
// does not.
func TestColdStart(t *testing.T) {
	r := newPlanRig(t, 64)
	r.set("a", active, 1)
	r.set("b", joining, 1)
	r.settle()
	if n := r.owned()["a"]; n != 0 {
		t.Errorf("a owns %d buckets before b has joined", n)
	}
	r.set("b", active, 1)
	if r.settle(); r.owned()["a"] != 32 {
		t.Errorf("%v", r.owned())
	}
	r.set("c", joining, 1)
	r.set("b", expired, 1)
	if r.settle(); r.owned()["a"] != 64 {
		t.Errorf("%v while c joins, want all with a", r.owned())
	}

	// One that joins for ever holds nothing up.
	r.set("d", active, 1)
	if r.settle(); r.owned()["d"] != 0 {
		t.Errorf("%v while c joins, want nothing with d", r.owned())
	}
	if p := planFor(&r.view, 0, time.Minute, 2*time.Minute); !slices.Contains(p.owners, "d") {
		t.Error("nothing moves after two minutes")
	}
}
