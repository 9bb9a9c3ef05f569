// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// The measures of memory.
const (
	freshWatcher = "heap and stacks, per watcher of a cache that has just begun"
	agedWatcher  = "heap and stacks, per watcher"
	overJSON     = "heap, as a multiple of the objects' JSON"
)

// idleBench measures watchers that have nothing to read.
func idleBench() harness.Bench {
	return harness.Bench{
		Name:    "idle",
		Title:   func(z harness.Sizes) string { return fmt.Sprintf("%d watchers that have nothing to read", z.Watchers) },
		Against: local.Cacher,
		Measures: []harness.Measure{
			{Name: freshWatcher, Unit: harness.Bytes, Ratio: 0.05},
			{Name: agedWatcher, Unit: harness.Bytes, Ratio: 0.05},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				values := map[string]float64{}
				for name, changes := range map[string]bool{freshWatcher: false, agedWatcher: true} {
					_, err := withCache(e.Side, widget.Unlike(10), func(c local.Cache) (_ map[string]float64, err error) {
						if changes {
							err = age(c, e.Sizes)
						}
						if err == nil {
							values[name], err = perWatcher(c, e.Sizes.Watchers)
						}
						return nil, err
					})
					if err != nil {
						return harness.Outcome{}, err
					}
				}
				return harness.Outcome{Values: values}, nil
			}, nil, nil
		},
	}
}

// perWatcher returns the memory of one of so many watchers.
func perWatcher(c local.Cache, watchers int) (float64, error) {
	before := inUse()
	for range watchers {
		if err := c.Watch(local.Watch{Events: func(int) {}, Ended: func() {}}); err != nil {
			return 0, err
		}
	}
	return (inUse() - before) / float64(watchers), nil
}

// inUse returns the bytes of heap objects and stacks that collections leave.
func inUse() float64 {
	heap := probe.LiveHeap()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return heap + float64(m.StackInuse)
}

// heapBench measures what a cache keeps.
func heapBench() harness.Bench {
	return harness.Bench{
		Name:     "heap",
		Title:    func(z harness.Sizes) string { return fmt.Sprintf("%d custom resources", z.CRs) },
		Against:  local.Cacher,
		Measures: []harness.Measure{{Name: overJSON, Ratio: 0.4}},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				widgets, size := widget.Unlike(e.Sizes.CRs), 0
				for i := range widgets.Len {
					size += len(widgets.JSON(i, uint64(i+1)))
				}
				before := probe.LiveHeap()
				return withCache(e.Side, widgets, func(c local.Cache) (map[string]float64, error) {
					heap := probe.LiveHeap() - before
					runtime.KeepAlive(c)
					return map[string]float64{overJSON: heap / float64(size)}, nil
				})
			}, nil, nil
		},
	}
}
