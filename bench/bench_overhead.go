// SPDX-License-Identifier: Apache-2.0

package main

import "runtime"

// overheadBench measures the heap of a store without the objects in it, which exist anyway.
func overheadBench(name, title string, mark float64, indexed ...criterion) bench {
	others := []side{goMap}
	if len(indexed) > 0 {
		others = []side{controllerRuntime}
	}
	return bench{
		name: "overhead/" + name,
		title: func(z sizes) string {
			return "memory of a store beyond its " + digits(float64(z.Many)) + " objects, " + title
		},
		measures: []measure{
			{name: "filled, per object", unit: inBytes, ratio: mark},
			{name: "each object updated once, per object", unit: inBytes, ratio: mark},
		},
		others: others,
		prepare: func(e env) (func() (outcome, error), func() error, error) {
			return func() (outcome, error) { return overheadOnce(e.side, e.sizes.Many, indexed) }, nil, nil
		},
	}
}

// overheadOnce measures the heap of one more index, if there is one; else that of a store with an
// index by namespace.
func overheadOnce(s side, n int, indexed []criterion) (outcome, error) {
	first := slimPods(n)
	next := changedAll(first)
	heap := func(indexed []criterion) (filled, updated float64, err error) {
		base := liveHeap()
		into, err := setterFor(s, true, s == controllerRuntime, indexed)
		if err != nil {
			return 0, 0, err
		}
		if err := setEach(into, first); err != nil {
			return 0, 0, err
		}
		filled = liveHeap() - base
		err = setEach(into, next)
		updated = liveHeap() - base
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
	return outcome{Values: map[string]float64{
		"filled, per object":                   filled,
		"each object updated once, per object": updated,
	}}, err
}

func overheadBenches() []bench {
	return []bench{
		overheadBench("namespace", "with an index by namespace", 0.8),
		overheadBench("unique", "one more index, in which each object has a key of its own", 0.45, unique),
	}
}
