// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// The measures of watches by a field.
const (
	oneField     = "CPU time, per change, one watcher"
	manyFields   = "CPU time, per change, many watchers"
	moreFields   = "CPU time, per change, ten times as many"
	manyOverOne  = "many over one"
	tenfoldToOne = "ten times as many over one"
)

// fieldsBench has watchers of different values of a field, one of which each change concerns.
func fieldsBench() harness.Bench {
	return harness.Bench{
		Name: "fields",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("one, %d and %d watchers, each of a value of its own of a declared field", z.Watchers, 10*z.Watchers)
		},
		Against: local.Cacher,
		Measures: []harness.Measure{
			{Name: oneField, Unit: harness.Time},
			{Name: manyFields, Unit: harness.Time, Ratio: 0.02},
			{Name: moreFields, Unit: harness.Time, Ratio: 0.02},
			{Name: manyOverOne, Limit: harness.AtMost(1.2)},
			{Name: tenfoldToOne, Limit: harness.AtMost(1.2)},
			{Name: endedThough, Limit: harness.AtMost(0)},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				values := map[string]float64{}
				for _, of := range []struct {
					name     string
					watchers int
				}{{oneField, 1}, {manyFields, e.Sizes.Watchers}, {moreFields, 10 * e.Sizes.Watchers}} {
					widgets := widget.Set{Len: e.Sizes.CRs, Nodes: of.watchers}
					_, err := withCache(e.Side, widgets, func(c local.Cache) (map[string]float64, error) {
						cpu, lost, err := oneOfMany(c, of.watchers, e)
						values[of.name] = cpu
						values[endedThough] += float64(lost)
						return nil, err
					})
					if err != nil {
						return harness.Outcome{}, err
					}
				}
				values[manyOverOne] = values[manyFields] / values[oneField]
				values[tenfoldToOne] = values[moreFields] / values[oneField]
				return harness.Outcome{Values: values}, nil
			}, nil, nil
		},
	}
}

// oneOfMany returns the CPU time of a change that concerns one of so many watchers, in nanoseconds,
// and how many of these the cache has ended. The next change is made when the watcher has got the
// last one. A change takes this side some microseconds, which a busy machine can double for the
// moment, so it has several rounds, of which the median counts.
func oneOfMany(c local.Cache, watchers int, e harness.Env) (cpu float64, lost int, err error) {
	if err := age(c, e.Sizes); err != nil {
		return 0, 0, err
	}
	arrived, ended := make(chan struct{}, watchers), make(chan int, watchers)
	for i := range watchers {
		err := c.Watch(local.Watch{
			Node: widget.Node(i), Bytes: true,
			Events: func(int) { arrived <- struct{}{} }, Ended: func() { ended <- i },
		})
		if err != nil {
			return 0, 0, err
		}
	}
	// as many as the cacher can make in the time of a load, about
	changes, rounds := int(e.Sizes.Window.Seconds()*2000), 5
	if e.Side == local.Cacher {
		changes, rounds = max(10, changes/max(1, watchers/40)), 1
	}
	c.Prepare(rounds * changes)
	gone := map[int]bool{}
	var costs []float64
	for range rounds {
		cost, err := probe.CostOf(func() error {
			for range changes {
				i := c.Change() % watchers
				for got := false; !got && !gone[i]; {
					select {
					case <-arrived:
						got = true
					case w := <-ended:
						gone[w] = true
					}
				}
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
		costs = append(costs, cost.Per(changes).CPU)
	}
	slices.Sort(costs)
	return costs[rounds/2], len(gone), nil
}
