// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/watchcache/local"
	"github.com/informer-gen/informer-gen/bench/watchcache/widget"
)

// The measures of loads.
const (
	perDelivery = "CPU time, per delivery"
	endedThough = "watches ended though they were read"
	tail        = "p99.9 of latency"
	tailBeside  = "p99.9 of latency beside 5 that never read"
	tailRatio   = "the latter over the former"
)

// some are the widgets that a load changes.
func some(z harness.Sizes) widget.Set { return widget.Unlike(min(1000, z.CRs)) }

// hanging is how many watches are never read, where there are such.
const hanging = 5

// deliverBench has changes reach many watchers, in this process.
func deliverBench(tenfold, rate int) harness.Bench {
	return harness.Bench{
		Name: fmt.Sprintf("deliver/%d", rate),
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d watchers × %d changes/s, bytes written", tenfold*z.Watchers, rate)
		},
		Against: local.Cacher,
		Measures: []harness.Measure{
			{Name: perDelivery, Unit: harness.Time, Ratio: 0.1},
			{Name: endedThough, Limit: harness.AtMost(0)},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withCache(e.Side, some(e.Sizes), func(c local.Cache) (map[string]float64, error) {
					if err := age(c, e.Sizes); err != nil {
						return nil, err
					}
					return deliver(c, tenfold*e.Sizes.Watchers, rate, e.Sizes.Window)
				})
			}, nil, nil
		},
	}
}

// freshBench has a cache that has just begun get more changes than the cacher's watchers can take
// then.
func freshBench() harness.Bench {
	const rate = 1000
	return harness.Bench{
		Name: "fresh",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a cache that has just begun, %d watchers × %d changes/s for %v", z.Watchers, rate, 3*z.Window)
		},
		Against: local.Cacher,
		Measures: []harness.Measure{
			{Name: endedThough, Limit: harness.AtMost(0)},
			{Name: perDelivery, Unit: harness.Time},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withCache(e.Side, some(e.Sizes), func(c local.Cache) (map[string]float64, error) {
					return deliver(c, e.Sizes.Watchers, rate, 3*e.Sizes.Window)
				})
			}, nil, nil
		},
	}
}

func deliver(c local.Cache, watchers, rate int, lasting time.Duration) (map[string]float64, error) {
	l, err := newLoad(c, watchers, rate, lasting)
	if err != nil {
		return nil, err
	}
	cost, err := l.run(nil)
	if err != nil {
		return nil, err
	}
	return map[string]float64{
		perDelivery: cost.Per(max(1, l.deliveries())).CPU,
		endedThough: float64(l.ended.Load()),
	}, nil
}

// slowBench measures how long watchers wait for their events, with and without others that never
// read.
func slowBench() harness.Bench {
	const rate, rounds = 100, 8
	return harness.Bench{
		Name: "slow",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("%d watchers × %d changes/s: medians of %d rounds of %v each", z.Watchers, rate, rounds, z.Window/5)
		},
		Against: local.Cacher,
		Measures: []harness.Measure{
			{Name: tail, Unit: harness.Time},
			{Name: tailBeside, Unit: harness.Time},
			{Name: tailRatio, Limit: harness.AtMost(1.2)},
			{Name: endedThough, Limit: harness.AtMost(0)},
		},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				return withCache(e.Side, some(e.Sizes), func(c local.Cache) (map[string]float64, error) {
					if err := age(c, e.Sizes); err != nil {
						return nil, err
					}
					var alone, beside []float64
					ended := int64(0)
					for range rounds {
						for _, with := range []struct {
							hanging int
							to      *[]float64
						}{{0, &alone}, {hanging, &beside}} {
							p999, n, err := latency(c, e.Sizes.Watchers, with.hanging, rate, e.Sizes.Window/5)
							if err != nil {
								return nil, err
							}
							if !math.IsNaN(p999) {
								*with.to = append(*with.to, p999)
							}
							ended += n
						}
					}
					values := map[string]float64{endedThough: float64(ended)}
					if len(alone) > 0 && len(beside) > 0 {
						a, b := harness.SumUp(alone).Median, harness.SumUp(beside).Median
						values[tail], values[tailBeside], values[tailRatio] = a, b, b/a
					}
					return values, nil
				})
			}, nil, nil
		},
	}
}

// sampled is how many watchers have their latencies measured, about.
const sampled = 64

// latency returns the 99.9th percentile of the time from a change until a watcher has written it,
// in nanoseconds, and how many watchers that read have been ended. It is NaN if all were ended
// before they had an event.
func latency(c local.Cache, watchers, hang, rate int, lasting time.Duration) (p999 float64, ended int64, err error) {
	defer c.EndWatches()
	if err := settle(c); err != nil {
		return 0, 0, err
	}
	l, err := newLoad(c, 0, rate, lasting)
	if err != nil {
		return 0, 0, err
	}
	sent := make([]time.Time, l.changes)
	var samples []*[]float64
	for i := range watchers {
		var each func(from int)
		if i%max(1, watchers/sampled) == 0 {
			waited := new([]float64)
			samples = append(samples, waited)
			each = func(from int) { *waited = append(*waited, float64(time.Since(sent[from]))) }
		}
		if err := l.open(each); err != nil {
			return 0, 0, err
		}
	}
	for range hang {
		if err := c.Watch(local.Watch{Bytes: true, Ended: func() {}}); err != nil {
			return 0, 0, err
		}
	}
	if _, err := l.run(func(k int) { sent[k] = time.Now() }); err != nil {
		return 0, 0, err
	}
	var all []float64
	for _, s := range samples {
		all = append(all, *s...)
	}
	if len(all) == 0 {
		return math.NaN(), l.ended.Load(), nil
	}
	slices.Sort(all)
	return all[len(all)*999/1000], l.ended.Load(), nil
}
