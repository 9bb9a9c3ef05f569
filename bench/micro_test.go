// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// What runs report as seen must be what there was to see, or comparing the sides would be worth
// nothing.
func TestMicroRunsReportWhatTheySaw(t *testing.T) {
	z := small
	events := 2 * z.Events
	listed := 2*(z.Many/apps) + z.Many/10 + z.Many + podsOnNode
	want := map[string]seen{
		"event/single/1":  {Objects: eventPods, Events: events},
		"event/single/3":  {Objects: eventPods, Events: 3 * events},
		"event/single/10": {Objects: eventPods, Events: 10 * events},
		"event/burst/1":   {Objects: eventPods, Events: events},
		"event/burst/3":   {Objects: eventPods, Events: 3 * events},
		"event/burst/10":  {Objects: eventPods, Events: 10 * events},
		"readers/1":       {Objects: z.Many},
		"readers/8":       {Objects: z.Many},
		"list":            {Objects: listed},
		"late":            {Objects: z.Late},
		"relist-block":    {Objects: z.Many, Events: blockedHandlers * z.Many},
		"growth":          {Objects: 2 * growthSteps * (podsOnNode + 2)},
		"stall":           {Objects: stalledKeys},
		"idle/0":          {Objects: z.Idle},
		"idle/10":         {Objects: z.Idle},
	}
	for _, b := range microBenches() {
		for _, s := range b.sides() {
			o, err := inProcess(b, env{side: s, sizes: z})
			if err != nil {
				t.Fatalf("%s, %v: %v", b.name, s, err)
			}
			if got := (seen{Objects: o.Seen.Objects, Events: o.Seen.Events}); s.peer() && got != want[b.name] {
				t.Errorf("%s, %v: saw %+v, want %+v", b.name, s, got, want[b.name])
			}
			for _, m := range b.measures {
				if _, ok := o.Values[m.name]; !ok && (s == ours || s == clientGo) {
					t.Errorf("%s, %v: no value for %q", b.name, s, m.name)
				}
			}
		}
	}
}

// Updates must not be lost, nor half of them: what the benchmarks of stores compare is worth
// nothing otherwise.
func TestStoresHaveWhatWasSetLast(t *testing.T) {
	pods := slimPods(500)
	next := changedAll(pods)
	for _, c := range []side{ours, clientGo} {
		into, err := setterFor(c, true, false, criteria)
		if err != nil {
			t.Fatal(err)
		}
		for _, all := range [][]*corev1.Pod{pods, next} {
			if err := setEach(into, all); err != nil {
				t.Fatal(err)
			}
		}
		g := into.(getter)
		for _, want := range next {
			if got, err := g.get(want.Namespace, want.Name); err != nil || got != want {
				t.Fatalf("%s: got %v, %v", c, got, err)
			}
		}
		for _, ask := range []struct {
			asked
			want int
		}{{forAll, 500}, {forNamespace, 50}, {forLabel, 5}, {forIndex, podsOnNode}} {
			q := into.(lists).queries(ask.asked)
			for _, answer := range []query{q.slice, q.each} {
				if got, err := answer(); err != nil || got != ask.want {
					t.Errorf("%s: got %d, %v; want %d", c, got, err, ask.want)
				}
			}
		}
	}
}
