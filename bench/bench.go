// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"
)

// sizes is how much work the benchmarks do.
type sizes struct {
	pods    int           // that are synced from the wire
	objects int           // in a store or an informer
	events  int           // that are sent through an informer
	updates int           // that a stalled handler misses
	idle    int           // informers and handlers that do nothing
	window  time.Duration // for what is counted per time
	deep    bool          // compare the contents of objects too, which takes time
}

// sizesFor returns the sizes that belong to a number of Pods.
func sizesFor(pods int) sizes {
	return sizes{
		pods: pods, objects: 5 * pods, events: 2 * pods, updates: 15 * pods, idle: 100, window: time.Second,
	}
}

// bench measures a few things on one side at a time, doing the same work on both.
type bench struct {
	name     string // for --only
	title    func(sizes) string
	measures []measure
	// prepare returns a function that runs once on one side, from scratch, and a function that releases what was
	// prepared for both.
	prepare func(sizes) (run func(side) (outcome, error), done func() error, err error)
}

// outcome is what one run brought.
type outcome struct {
	values []float64 // one for each measure
	seen   seen
}

// seen is what a side had or was told at the end; it must be equal on both sides, or they did not do the same work.
type seen struct {
	objects int
	events  int
	digest  uint64
}

// row is a measure with the medians of the runs.
type row struct {
	measure
	values [2]float64 // by side
}

// runAll runs b on the sides, in turn, and returns the medians. One more run comes first and does not count.
func (b bench) runAll(z sizes, runs int, on []side) (_ []row, err error) {
	run, done, err := b.prepare(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", b.name, err)
	}
	defer func() {
		if e := done(); err == nil {
			err = e
		}
	}()
	results := map[side][]outcome{}
	for n := range runs + 1 {
		for i := range on {
			s := on[(i+n)%len(on)] // neither always comes first
			o, err := run(s)
			if err != nil {
				return nil, fmt.Errorf("%s, %v: %w", b.name, s, err)
			}
			results[s] = append(results[s], o)
		}
		first := results[on[0]][n].seen
		for _, s := range on {
			if got := results[s][n].seen; got != first {
				return nil, fmt.Errorf("%s: the sides did not see the same: %v %+v, %v %+v", b.name, on[0], first, s, got)
			}
		}
	}
	rows := make([]row, len(b.measures))
	for m := range rows {
		rows[m].measure = b.measures[m]
		for _, s := range on {
			var values []float64
			for _, o := range results[s][1:] {
				values = append(values, o.values[m])
			}
			rows[m].values[s] = median(values)
		}
	}
	return rows, nil
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
