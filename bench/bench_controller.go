// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const reconcileRounds = 5

// controllerBench measures what a controller adds to a reconcile that does nothing: from adding its
// key to its return.
func controllerBench(workers int) harness.Bench {
	return harness.Bench{
		Name: fmt.Sprintf("controller/noop/%d", workers),
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a burst of %d keys through a controller that does nothing, %d workers", z.Many, workers)
		},
		Measures: []harness.Measure{
			{Name: "CPU time, per reconcile", Unit: harness.Time, Beside: harness.ControllerRuntime, BesideRatio: 0.25},
			{Name: "wall time, per reconcile", Unit: harness.Time},
			{Name: "allocated, per reconcile", Unit: harness.Bytes},
			{Name: "allocations, per reconcile", Limit: harness.AtMost(2)},
		},
		Others: []harness.Side{harness.ControllerRuntime},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return reconcileNothing(e.Side, workers, e.Sizes.Many) }, nil, nil
		},
	}
}

func reconcileNothing(s harness.Side, workers, keys int) (harness.Outcome, error) {
	done := &countdown{over: make(chan struct{}, 1)}
	add, stop, err := begin(s, workers, done.reconciled)
	if err != nil {
		return harness.Outcome{}, err
	}
	all := queueKeys(keys)
	var sum probe.Cost
	for round := range 1 + reconcileRounds { // the first one is for caches and tables that grow
		cost, err := probe.CostOf(func() error {
			done.left.Store(int64(keys))
			for _, key := range all {
				add(key)
			}
			return rig.Wait(done.over, "the reconciles")
		})
		if err != nil {
			return harness.Outcome{}, err
		}
		if round > 0 {
			sum = sum.Plus(cost)
		}
	}
	if err := stop(); err != nil {
		return harness.Outcome{}, err
	}
	per := sum.Per(reconcileRounds * keys)
	return harness.Outcome{Seen: harness.Seen{Events: int(done.count.Load())}, Values: map[string]float64{
		"CPU time, per reconcile":    per.CPU,
		"wall time, per reconcile":   per.Wall,
		"allocated, per reconcile":   per.Bytes,
		"allocations, per reconcile": per.Allocs,
	}}, nil
}

// countdown counts reconciles.
type countdown struct {
	count, left atomic.Int64
	over        chan struct{} // gets a value when none is left
}

func (c *countdown) reconciled(object.Key) {
	c.count.Add(1)
	if c.left.Add(-1) == 0 {
		c.over <- struct{}{}
	}
}

func controllerBenches() (all []harness.Bench) {
	for _, workers := range []int{1, 4, 64} {
		all = append(all, controllerBench(workers))
	}
	return append(all, neighboursBench())
}
