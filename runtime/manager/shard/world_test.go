// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"flag"
	"fmt"
	"slices"
	"strings"
)

// The world of TestExhaustive: two members, one bucket, and two coordinators, which both act.
//
// Each process may pause between any two of its steps, for ever; a crash is a pause without end.
// Each may act by an old view. Any answer may be lost, and any request delayed. The Lease of a may
// be deleted. Whether a bucket is loaded, and whom the plan wants as its owner, is open in each
// step.
//
// A write is one step, at the server. A delayed one is like one that is sent later by an old view,
// because it is conditional on the version in that view. Only renewals also count from the time
// when they were sent. A view is what the server had at some time, because one watch has all
// Leases.
//
// A lease lasts 3 ticks, a fence 2. An owner that doesn't release is evicted after 1 tick.
const (
	ticksOfLease   = 3
	ticksOfFence   = 2
	ticksOfRelease = 1
)

var epochs = flag.Int("epochs", 2, "how often TestExhaustive grants the bucket; 3 takes half a minute")

// names of the members; 0 is nobody.
var names = [3]string{"", "a", "b"}

// states of members, by number. The last one is that of a Lease that doesn't exist.
var states = []memberState{active, leaving, left, expired, evicted, ""}

const absent = 5

type worldEntry struct {
	owner, epoch, next uint8
	revoking           bool
}

type worldLease struct{ state, released uint8 }

// isTaken reports whether the member can't renew its Lease any more.
func (l worldLease) isTaken() bool { return states[l.state].gone() || l.state == absent }

type worldMember struct {
	table   worldEntry // as last seen
	claim   claimState // away, held or draining
	epoch   uint8      // of the claim
	release uint8      // the highest epoch released
	lost    bool       // for good
	leaves  bool
	open    int8 // ticks until its fence shuts
}

// worldView is a coordinator's view.
type worldView struct {
	table   worldEntry
	leases  [2]worldLease
	changed int8    // ticks since it saw the revocation
	seen    [2]int8 // ticks since it saw the version of a Lease
}

type world struct {
	members [2]worldMember
	fresh   worldView // the new coordinator's, and what the server has
	old     worldView // the old coordinator's, while it is paused; else it has the same view
	paused  bool
	current struct { // what the old coordinator has in its present version
		table  bool
		leases [2]bool
	}
	highest uint8 // epoch at which any member has worked
}

// mutant is a mistake that the test must find.
type mutant string

const (
	none                mutant = ""
	deathUnconditional  mutant = "death without the conditional update"
	grantBeforeRelease  mutant = "grant before release"
	noWaitAfterEviction mutant = "no wait after an eviction"
	releaseByAbsence    mutant = "release by absence"
	wallClock           mutant = "wall clock in the fence"
	// These do no harm, but b doesn't get the bucket in the end.
	neverRevokes mutant = "never revokes"
	neverExpires mutant = "never takes a Lease that was not renewed"
	neverEvicts  mutant = "never takes the Lease of an owner that doesn't release"
	neverCreates mutant = "never creates the Lease of an owner without one"
)

func (w *world) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the table: %+v\n", w.fresh.table)
	for n := range w.members {
		fmt.Fprintf(&b, "%s: Lease %s, %+v; %+v\n", names[n+1], states[w.fresh.leases[n].state], w.fresh.leases[n], w.members[n])
	}
	fmt.Fprintf(&b, "coordinator: %+v\nold one: %+v, %+v\n", w.fresh, w.old, w.current)
	return b.String()
}

func (e worldEntry) entry() entry {
	return entry{Owner: names[e.owner], Epoch: uint64(e.epoch), Next: names[e.next], Revoking: e.revoking}
}

func numberOf(name string) int { return slices.Index(names[:], name) }

func worldEntryOf(e entry) worldEntry {
	return worldEntry{uint8(numberOf(e.Owner)), uint8(e.Epoch), uint8(numberOf(e.Next)), e.Revoking}
}

func (m *worldMember) process(n int) member {
	return member{identity: names[n+1], claims: []claim{{m.claim, uint64(m.epoch)}}, released: []uint64{uint64(m.release)}}
}

// passes reports whether a request of the member's reconciles would leave it.
func (m *worldMember) passes() bool {
	return !m.lost && m.open > 0 && claim{state: m.claim}.works()
}

// check returns what is wrong, or "".
func (w *world) check() string {
	if w.members[0].passes() && w.members[1].passes() {
		return "I1: both members work on the bucket"
	}
	for n := range w.members {
		m := &w.members[n]
		if !m.passes() {
			continue
		}
		if m.epoch < w.highest {
			return fmt.Sprintf("I5: %s works at epoch %d, after epoch %d", names[n+1], m.epoch, w.highest)
		}
		w.highest = m.epoch
	}
	return ""
}

// look lets the old coordinator see everything, unless it is paused.
func (w *world) look() {
	if !w.paused {
		w.old, w.current.table, w.current.leases = w.fresh, true, [2]bool{true, true}
	}
}

// normalize makes worlds with the same future equal. TestNormalize shows that it loses none.
// look is the only part of it that also happens in a ring.
func (w *world) normalize(mutated mutant) {
	w.look()
	for n := range w.members {
		m := &w.members[n]
		if m.open == 0 && w.fresh.leases[n].isTaken() {
			m.lost = true // it can do nothing any more
		}
		if m.lost {
			*m = worldMember{lost: true}
		} else if m.claim != held && m.claim != draining {
			m.claim, m.epoch = away, 0
		}
	}
	if mutated != deathUnconditional && !w.current.table { // then the server refuses its tables
		for l, current := range w.current.leases {
			if !current {
				w.old.leases[l] = worldLease{}
			}
		}
		if owner := w.old.table.owner; owner == 0 || !w.old.table.revoking || !w.current.leases[owner-1] {
			w.old.table = worldEntry{}
		}
	}
	for _, v := range []*worldView{&w.fresh, &w.old} {
		for l := range v.leases {
			state, known := states[v.leases[l].state], v == &w.fresh || w.current.leases[l] || mutated == deathUnconditional
			if state == left || state == expired || state == "" || !known {
				v.seen[l] = 0 // its time decides nothing
			}
		}
		if !v.table.revoking {
			v.changed = 0
		}
	}
}

// writeLease is the server's part.
func (w *world) writeLease(n int, l worldLease) {
	w.fresh.leases[n] = l
	w.current.leases[n], w.fresh.seen[n] = false, 0
}

// newWorld returns a world in which a owns the bucket, and everybody knows everything.
func newWorld() world {
	owned := worldEntry{owner: 1, epoch: 1}
	v := worldView{table: owned}
	w := world{fresh: v, old: v, highest: 1}
	w.current.table, w.current.leases = true, [2]bool{true, true}
	for n := range w.members {
		w.members[n] = worldMember{table: owned, open: ticksOfFence}
	}
	w.members[0].claim, w.members[0].epoch = held, 1
	return w
}
