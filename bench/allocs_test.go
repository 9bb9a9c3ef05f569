// SPDX-License-Identifier: Apache-2.0

//go:build !race

// The race detector allocates for its own purposes, and has pools forget at random.

package main

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
)

// What these tests count does not depend on the machine, so the tests can hold it.

func TestAnEventCostsAtMostTwoAllocations(t *testing.T) {
	const events, tries = 10_000, 3
	for _, burst := range []bool{false, true} {
		for _, handlers := range []int{1, 10} {
			t.Run(fmt.Sprintf("burst=%v/%d", burst, handlers), func(t *testing.T) {
				p := newPlay(handlers, burst)
				stop, err := p.begin(harness.Ours)
				if err != nil {
					t.Fatal(err)
				}
				defer stop()
				if err := p.perform(p.make(events)); err != nil {
					t.Fatal(err)
				}
				least := math.Inf(1) // the test's process may do something else meanwhile
				for range tries {
					next := p.make(events)
					c, err := probe.CostOf(func() error { return p.perform(next) })
					if err != nil {
						t.Fatal(err)
					}
					least = min(least, c.Per(events).Allocs)
				}
				// Now and then one copies more of the table than its own place.
				if least > 2.1 {
					t.Errorf("an event costs %.2f allocations, want 2, and 2.1 at most", least)
				}
			})
		}
	}
}

// A goroutine whose stack doesn't fit into 4 KB takes 8.
func TestAnIdleInformerTakesLittleMemory(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // each processor keeps some free stacks
	for handlers, most := range map[int]float64{0: 14e3, 10: 32e3} {
		o, err := idleOnce(harness.Ours, 100, handlers)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.Values["heap and stacks"]; got > most {
			t.Errorf("an idle informer with %d handlers takes %.0f bytes of heap and stacks, want at most %.0f", handlers, got, most)
		}
	}
}

func TestReadsDoNotAllocate(t *testing.T) {
	const n = 3000
	filled, err := newOurStore(criteria[0])
	if err != nil {
		t.Fatal(err)
	}
	pods := data.SlimPods(n)
	if err := filled.setAll(pods); err != nil {
		t.Fatal(err)
	}
	node, snapshot := filled.indexes[criteria[0].name], filled.store.Snapshot()
	inNamespace := filled.pods.Pods(data.BigNamespace)
	var got int
	for _, tc := range []struct {
		name string
		read func()
		want int // objects
	}{
		{"Get by namespace lister", func() {
			for _, pod := range pods[:n/10] {
				if _, err := inNamespace.Get(pod.Name); err == nil {
					got++
				}
			}
		}, n / 10},
		{"Get by lister", func() {
			for _, pod := range pods[:n/10] {
				if _, err := filled.pods.Pods(pod.Namespace).Get(pod.Name); err == nil {
					got++
				}
			}
		}, n / 10},
		{"Snapshot and All", func() {
			for range filled.store.Snapshot().All() {
				got++
			}
		}, n},
		{"Namespace", func() {
			for range snapshot.Namespace(data.BigNamespace) {
				got++
			}
		}, n / 10},
		{"Select", func() {
			for range snapshot.Select(ofOneApp) {
				got++
			}
		}, n / data.Apps},
		{"Lookup", func() {
			for range node.Lookup(snapshot, data.NodeName(0)) {
				got++
			}
		}, data.PodsOnNode},
		{"LookupIn", func() {
			for range node.LookupIn(snapshot, "nowhere", data.NodeName(0)) {
				got++
			}
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.read() // the store may remember what it finds
			allocs := testing.AllocsPerRun(10, func() { got = 0; tc.read() })
			if allocs > 0 {
				t.Errorf("%v allocations, want none", allocs)
			}
			if got != tc.want {
				t.Errorf("got %d Pods, want %d", got, tc.want)
			}
		})
	}
}

// Decoding must leave hardly any garbage, so a sync must allocate little more than what it keeps.
func TestASyncAllocatesAFractionOfWhatClientGoAllocates(t *testing.T) {
	var s harness.Server
	defer s.Stop()
	z := small
	z.Pods, z.CRs = 3000, 4000
	for _, name := range []string{"sync/pods/watch-list", "sync/pods/paged-list", "sync/crs/watch-list", "protobuf/watch-list"} {
		b := named(t, name)
		address, err := s.Show(b.World(z))
		if err != nil {
			t.Fatal(err)
		}
		values := map[harness.Side]map[string]float64{}
		for _, side := range []harness.Side{harness.Ours, harness.ClientGo} {
			o, err := harness.Children{}.Launch(b, harness.Env{Side: side, Sizes: z, Server: address})
			if err != nil {
				t.Fatalf("%s, %v: %v", name, side, err)
			}
			values[side] = o.Values
		}
		for _, measure := range []string{allocatedPer, allocationsPer} {
			got, theirs := values[harness.Ours][measure], values[harness.ClientGo][measure]
			t.Logf("%s: %s: %.0f, client-go %.0f: %.2f", name, measure, got, theirs, got/theirs)
			if most := 0.30 * theirs; got > most {
				t.Errorf("%s: %s: %.0f, want %.0f or fewer: client-go has %.0f", name, measure, got, most, theirs)
			}
		}
	}
}
