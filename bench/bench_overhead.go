// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"

	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

// overheadBench measures the heap of a store without the objects in it, which exist anyway.
func overheadBench(name, title string, mark float64, indexed ...criterion) harness.Bench {
	others := []harness.Side{goMap}
	if len(indexed) > 0 {
		others = []harness.Side{harness.ControllerRuntime}
	}
	return harness.Bench{
		Name: "overhead/" + name,
		Title: func(z harness.Sizes) string {
			return "memory of a store beyond its " + report.Digits(float64(z.Many)) + " objects, " + title
		},
		Measures: []harness.Measure{
			{Name: "filled, per object", Unit: harness.Bytes, Ratio: mark},
			{Name: "each object updated once, per object", Unit: harness.Bytes, Ratio: mark},
		},
		Others: others,
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) { return overheadOnce(e.Side, e.Sizes.Many, indexed) }, nil, nil
		},
	}
}

// overheadOnce measures the heap of one more index, if there is one; else that of a store with an
// index by namespace.
func overheadOnce(s harness.Side, n int, indexed []criterion) (harness.Outcome, error) {
	first := data.SlimPods(n)
	next := data.ChangedAll(first)
	heap := func(indexed []criterion) (filled, updated float64, err error) {
		base := probe.LiveHeap()
		into, err := setterFor(s, true, s == harness.ControllerRuntime, indexed)
		if err != nil {
			return 0, 0, err
		}
		if err := setEach(into, first); err != nil {
			return 0, 0, err
		}
		filled = probe.LiveHeap() - base
		err = setEach(into, next)
		updated = probe.LiveHeap() - base
		runtime.KeepAlive(into)
		return filled / float64(n), updated / float64(n), err
	}
	filled, updated, err := heap(nil)
	if err == nil && len(indexed) > 0 {
		var withFilled, withUpdated float64
		withFilled, withUpdated, err = heap(indexed)
		filled, updated = withFilled-filled, withUpdated-updated
	}
	runtime.KeepAlive(first)
	runtime.KeepAlive(next)
	return harness.Outcome{Values: map[string]float64{
		"filled, per object":                   filled,
		"each object updated once, per object": updated,
	}}, err
}

func overheadBenches() []harness.Bench {
	return []harness.Bench{
		overheadBench("namespace", "with an index by namespace", 0.8),
		overheadBench("unique", "one more index, in which each object has a key of its own", 0.45, unique),
	}
}
