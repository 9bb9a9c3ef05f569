// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	requests "github.com/informer-gen/informer-gen/runtime/manager/internal/fence"
)

// model has what may happen.
type model struct {
	mutant    mutant
	maxEpoch  uint8
	decisions map[worldView][]decision // memory of decide
}

// decision is a write of a coordinator, by its view.
type decision struct {
	table worldEntry // zero: the Lease of a member
	lease int
	state uint8
}

// name of a step; it is made into text for a history only.
type stepName struct {
	actor, text string
	detail      int
}

func (s stepName) String() string { return fmt.Sprintf("%s %s (%d)", s.actor, s.text, s.detail) }

// each calls visit with all that may happen next.
func (o *model) each(w *world, visit func(stepName, *world)) {
	next := *w
	for n := range next.members {
		next.members[n].open = max(0, next.members[n].open-1)
	}
	for _, v := range []*worldView{&next.fresh, &next.old} {
		v.changed = min(v.changed+1, ticksOfRelease)
		for l := range v.seen {
			v.seen[l] = min(v.seen[l]+1, ticksOfLease)
		}
	}
	visit(stepName{text: "time passes"}, &next)
	for n := range w.members {
		if !w.members[n].lost {
			o.eachOfMember(w, n, visit)
		}
	}
	o.eachOfCoordinator(w, false, visit)
	if w.paused {
		o.eachOfCoordinator(w, true, visit)
	}
	next = *w
	next.paused = !w.paused
	visit(stepName{text: "the old coordinator pauses, or looks"}, &next)
}

func (v *worldView) setTable(e worldEntry) {
	if old := v.table; old.owner != e.owner || old.epoch != e.epoch || old.revoking != e.revoking {
		v.changed = 0
	}
	v.table = e
}

func (o *model) eachOfMember(w *world, n int, visit func(stepName, *world)) {
	add := func(text string, detail int, change func(w *world, m *worldMember)) {
		next := *w
		change(&next, &next.members[n])
		visit(stepName{names[n+1], text, detail}, &next)
	}
	m := &w.members[n]
	if !m.leaves && n == 0 {
		add("leaves", 0, func(_ *world, m *worldMember) { m.leaves = true })
	}
	for detail, c := range []circumstances{{}, {loaded: true}, {idle: true}, {loaded: true, idle: true}} {
		c.leave = m.leaves
		do := func(_ *world, m *worldMember) {
			own := m.process(n)
			own.step(0, m.table.entry(), c)
			m.claim, m.epoch, m.release = own.claims[0].state, uint8(own.claims[0].epoch), uint8(own.released[0])
		}
		add("steps, by an old table", detail, do)
		add("sees the table, and steps", detail, func(w *world, m *worldMember) {
			m.table = w.fresh.table
			do(w, m)
		})
	}
	if o.mutant == wallClock && m.open > 0 {
		add("sets its clock back", 0, func(_ *world, m *worldMember) { m.open = ticksOfFence + 1 })
	}
	if w.fresh.leases[n].isTaken() {
		add("finds that its Lease was taken", 0, func(_ *world, m *worldMember) { m.lost = true })
		return
	}
	if n == 0 {
		add("has no Lease, which somebody deletes", 0, func(w *world, _ *worldMember) { w.writeLease(n, worldLease{state: absent}) })
	}
	for sent := range ticksOfFence + 1 {
		add("has renewed, by a request sent some ticks ago", sent, func(w *world, m *worldMember) {
			w.writeLease(n, w.renewal(n))
			now := time.Unix(1, 0)
			f := requests.Window{Until: now.Add(time.Duration(m.open))}
			f.Extend(now.Add(-time.Duration(sent)), ticksOfFence, now)
			if m.open = 0; f.IsOpen(now) {
				m.open = int8(f.Until.Sub(now))
			}
		})
	}
	if m.leaves && m.claim == away {
		add("has left", 0, func(w *world, m *worldMember) {
			w.writeLease(n, worldLease{state: 2})
			m.lost = true
		})
	}
}

// renewal returns what a member writes into its Lease.
func (w *world) renewal(n int) worldLease {
	m := &w.members[n]
	own := m.process(n)
	_, released := own.describe(&table{buckets: []entry{m.table.entry()}})
	l := worldLease{released: uint8(released[0])}
	if m.leaves {
		l.state = 1
	}
	return l
}

func (o *model) eachOfCoordinator(w *world, old bool, visit func(stepName, *world)) {
	v, name := &w.fresh, "the coordinator"
	if old {
		v, name = &w.old, "the old coordinator"
	}
	for _, d := range o.decide(*v) {
		next := *w
		switch {
		case d.table != (worldEntry{}) && d.table.epoch <= o.maxEpoch && (!old || w.current.table):
			// It sees its own write as it sees those of others.
			next.fresh.setTable(d.table)
			next.current.table = false
			visit(stepName{name, "writes the table", 0}, &next)
		case d.table == (worldEntry{}) && (!old || w.current.leases[d.lease] || o.mutant == deathUnconditional):
			taken := w.fresh.leases[d.lease]
			taken.state = d.state
			next.writeLease(d.lease, taken)
			visit(stepName{name, "takes the Lease of " + names[d.lease+1], int(d.state)}, &next)
		}
	}
}

// decide returns all that the real decide may return for a view: with each plan, and whether
// buckets are loaded or not.
func (o *model) decide(in worldView) []decision {
	if known, ok := o.decisions[in]; ok {
		return known
	}
	const now = 100
	var all []decision
	for _, loaded := range []bool{false, true} {
		v := view{table: table{buckets: []entry{in.table.entry()}}, changed: []time.Duration{now - time.Duration(in.changed)}, members: map[string]*seen{}}
		for l := range in.leases {
			if in.leases[l].state != absent {
				v.members[names[l+1]] = o.seen(in, l, loaded, now)
			}
		}
		for _, target := range names {
			for _, write := range v.decide(plan{[]string{target}, []string{""}}, times{lease: ticksOfLease, release: ticksOfRelease, forget: 1000}, now) {
				d := decision{}
				if write.table != nil {
					d.table = worldEntryOf(write.table.buckets[0])
				} else {
					state := write.state
					if o.mutant == noWaitAfterEviction {
						state = expired
					}
					d.lease, d.state = numberOf(write.identity)-1, uint8(slices.Index(states, state))
				}
				if !o.leavesOut(in, d) && !slices.Contains(all, d) {
					all = append(all, d)
				}
			}
		}
	}
	o.decisions[in] = all
	return all
}

// leavesOut reports whether the mutant doesn't write a decision.
func (o *model) leavesOut(in worldView, d decision) bool {
	isEviction := d.table == worldEntry{} && states[d.state] == evicted
	switch o.mutant {
	case neverRevokes:
		return d.table.revoking && !in.table.revoking
	case neverExpires:
		return states[d.state] == expired
	case neverEvicts:
		return isEviction && in.leases[d.lease].state != absent
	case neverCreates:
		return isEviction && in.leases[d.lease].state == absent
	}
	return false
}

func (o *model) seen(v worldView, n int, loaded bool, now time.Duration) *seen {
	epoch := uint64(v.table.epoch)
	s := &seen{lease{
		identity: names[n+1], version: "1", state: states[v.leases[n].state], duration: ticksOfLease,
		ready: []uint64{0}, released: []uint64{uint64(v.leases[n].released)},
	}, now - time.Duration(v.seen[n]), 0}
	if loaded {
		s.ready[0] = epoch
	}
	if o.mutant == grantBeforeRelease && v.table.revoking || o.mutant == releaseByAbsence && !loaded {
		s.released[0] = epoch
	}
	return s
}

// explore visits all worlds that can follow, breadth first, until one is wrong. history says how
// that one came about.
func explore(t *testing.T, mutated mutant, maxEpoch uint8) (worlds []world, wrong string, history []string) {
	o := model{mutant: mutated, maxEpoch: maxEpoch, decisions: map[worldView][]decision{}}
	start := newWorld()
	worlds, from := []world{start}, []int32{0}
	known := map[world]struct{}{start: {}}
	for n := 0; n < len(worlds) && wrong == ""; n++ {
		if n > 10_000_000 {
			t.Fatalf("more than %d worlds", n)
		}
		at := worlds[n]
		o.each(&at, func(name stepName, w *world) {
			if wrong != "" {
				return
			}
			if wrong = w.check(); wrong != "" {
				history = append(o.history(worlds, from, n), name.String(), w.String())
				return
			}
			w.normalize(mutated)
			if _, ok := known[*w]; !ok {
				known[*w] = struct{}{}
				worlds, from = append(worlds, *w), append(from, int32(n))
			}
		})
	}
	return worlds, wrong, history
}

// history returns the steps that led to a world.
func (o *model) history(worlds []world, from []int32, n int) (steps []string) {
	for ; n > 0; n = int(from[n]) {
		step := "?"
		o.each(&worlds[from[n]], func(name stepName, w *world) {
			w.check()
			if w.normalize(o.mutant); *w == worlds[n] {
				step = name.String()
			}
		})
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	return steps
}

// TestExhaustive shows that no order of steps, pauses, lost answers and old views lets both members
// work on the bucket at a time (I1), or the one with the lower epoch after the other (I5). It also
// shows that b gets the bucket in the end, whatever happened before, if a does nothing more (I2).
func TestExhaustive(t *testing.T) {
	t.Parallel()
	if raceDetector {
		t.Skip("it has one goroutine, in which there is no race to find")
	}
	worlds, wrong, history := explore(t, none, uint8(*epochs))
	t.Logf("%d worlds", len(worlds))
	if wrong != "" {
		t.Fatalf("%s:\n%s", wrong, strings.Join(history, "\n"))
	}
	o := model{decisions: map[worldView][]decision{}}
	for n := 0; n < len(worlds); n += 7 {
		for _, stuck := range []bool{false, true} {
			if w := worlds[n]; !o.settles(w, stuck) {
				t.Fatalf("b never works on the bucket (a is stuck: %t) after\n%s", stuck, w.String())
			}
		}
	}
	for _, m := range []mutant{neverRevokes, neverExpires, neverEvicts, neverCreates} {
		o := model{mutant: m, decisions: map[worldView][]decision{}}
		n := slices.IndexFunc(worlds, func(w world) bool { return !o.settles(w, false) || !o.settles(w, true) })
		if n < 0 {
			t.Errorf("b works on the bucket in the end although the coordinator %s", m)
			continue
		}
		t.Logf("the coordinator %s: found in world %d", m, n)
	}
}

// settles reports whether b works on the bucket after a time in which only b and a coordinator do
// something. A member whose fence has shut would begin again under another name. The plan leaves
// the bucket to a, which has crashed; or it wants to move it from a, which is stuck: a renews its
// Lease, and does nothing else.
func (o *model) settles(w world, stuck bool) bool {
	const a, b = 0, 1
	o.maxEpoch = 100
	w.paused = true
	for range 4 * ticksOfLease {
		if w.members[b].lost || w.members[b].open == 0 || states[w.fresh.leases[b].state].gone() {
			return true
		}
		if w.members[b].passes() {
			return true
		}
		for range 4 {
			o.eachOfMember(&w, b, pick(&w, "sees the table, and steps", 3))
			for n := range w.members {
				if n == b || stuck && !w.members[a].lost {
					o.eachOfMember(&w, n, pick(&w, "has renewed, by a request sent some ticks ago", 0))
				}
			}
			before := w
			o.eachOfCoordinator(&before, false, func(_ stepName, next *world) {
				switch e, old := next.fresh.table, before.fresh.table; {
				case before.fresh.leases != next.fresh.leases:
					if next.fresh.leases[b] == before.fresh.leases[b] {
						w = *next
					}
				case e.owner == b+1 && e.next != a+1, e.next == b+1 && (stuck || old.next == b+1), e.owner == a+1 && old.next == a+1:
					w = *next
				}
			})
		}
		o.each(&w, pick(&w, "time passes", 0))
	}
	return false
}

// pick returns a visit that makes one step the next one.
func pick(w *world, text string, detail int) func(stepName, *world) {
	return func(name stepName, next *world) {
		if name.text == text && name.detail == detail {
			*w = *next
		}
	}
}

// TestMutants shows that TestExhaustive finds mistakes.
func TestMutants(t *testing.T) {
	t.Parallel()
	if raceDetector {
		t.Skip("it has one goroutine, in which there is no race to find")
	}
	for _, m := range []mutant{deathUnconditional, grantBeforeRelease, noWaitAfterEviction, releaseByAbsence, wallClock} {
		t.Run(string(m), func(t *testing.T) {
			worlds, wrong, history := explore(t, m, 2)
			if wrong == "" {
				t.Errorf("not found in %d worlds", len(worlds))
			}
			t.Logf("after %d worlds: %s:\n%s", len(worlds), wrong, strings.Join(history, "\n"))
		})
	}
}
