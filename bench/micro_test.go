// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
)

// What runs report as seen must be what there was to see, or comparing the sides would be worth
// nothing.
func TestMicroRunsReportWhatTheySaw(t *testing.T) {
	z := small
	events := 2 * z.Events
	listed := 2*(z.Many/data.Apps) + z.Many/10 + z.Many + data.PodsOnNode
	want := map[string]harness.Seen{
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
		"growth":          {Objects: 2 * growthSteps * (data.PodsOnNode + 4)},
		"stall":           {Objects: stalledKeys},
		"idle/0":          {Objects: z.Idle},
		"idle/10":         {Objects: z.Idle},
		"queue/cycle":     {Events: z.Keys},
		"queue/loop/1":    {Events: z.Keys},
		"queue/loop/4":    {Events: z.Keys},
		"queue/loop/64":   {Events: z.Keys},
		"queue/burst/1":   {Events: bursts * z.Keys / 10},
		"queue/burst/4":   {Events: bursts * z.Keys / 10},
		"queue/burst/64":  {Events: bursts * z.Keys / 10},
		"queue/idle":      {Objects: z.Idle},

		"controller/noop/1":  {Events: (1 + reconcileRounds) * z.Many},
		"controller/noop/4":  {Events: (1 + reconcileRounds) * z.Many},
		"controller/noop/64": {Events: (1 + reconcileRounds) * z.Many},

		"controller/neighbours": {Events: 2 * neighbourRounds * int(z.Window/neighbourPeriod)},
	}
	for _, b := range microBenches() {
		for _, s := range b.Sides() {
			o, err := inProcess(b, harness.Env{Side: s, Sizes: z})
			if err != nil {
				t.Fatalf("%s, %v: %v", b.Name, s, err)
			}
			if got := (harness.Seen{Objects: o.Seen.Objects, Events: o.Seen.Events}); s.Peer() && got != want[b.Name] {
				t.Errorf("%s, %v: saw %+v, want %+v", b.Name, s, got, want[b.Name])
			}
			for _, m := range b.Measures {
				if _, ok := o.Values[m.Name]; !ok && (s == harness.Ours || s == harness.ClientGo) {
					t.Errorf("%s, %v: no value for %q", b.Name, s, m.Name)
				}
			}
		}
	}
}

// Updates must not be lost, nor half of them: what the benchmarks of stores compare is worth
// nothing otherwise.
func TestStoresHaveWhatWasSetLast(t *testing.T) {
	pods := data.SlimPods(500)
	next := data.ChangedAll(pods)
	for _, c := range []harness.Side{harness.Ours, harness.ClientGo} {
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
		}{{forAll, 500}, {forNamespace, 50}, {forLabel, 5}, {forIndex, data.PodsOnNode}} {
			q := into.(lists).queries(ask.asked)
			for _, answer := range []query{q.slice, q.each} {
				if got, err := answer(); err != nil || got != ask.want {
					t.Errorf("%s: got %d, %v; want %d", c, got, err, ask.want)
				}
			}
		}
	}
}
