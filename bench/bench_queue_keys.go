// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

// queuedKeysBench measures the memory of keys in a queue, beyond their text.
func queuedKeysBench() harness.Bench {
	b := queueBench("keys", func(z harness.Sizes) string { return report.Digits(float64(z.Keys)) + " keys in a queue" }, nil,
		harness.Measure{Name: "heap, per key that is ready", Unit: harness.Bytes, Ratio: 0.65},
		harness.Measure{Name: "heap, per key that is delayed", Unit: harness.Bytes, Ratio: 0.65},
		harness.Measure{Name: "heap, per key that has failed", Unit: harness.Bytes, Ratio: 0.65},
		harness.Measure{Name: "CPU time to add a ready key", Unit: harness.Time},
		harness.Measure{Name: "CPU time to add a delayed key", Unit: harness.Time})
	b.Others = nil // whose queue adds in the background, and doesn't say when it has
	b.Prepare = func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
		return func() (harness.Outcome, error) {
			o := harness.Outcome{Values: map[string]float64{}}
			keys := queueKeys(e.Sizes.Keys)
			for _, how := range []struct {
				heap, cpu string
				add       func(q aQueue, i int)
			}{
				{"heap, per key that is ready", "CPU time to add a ready key", func(q aQueue, i int) { q.add(keys[i]) }},
				{"heap, per key that is delayed", "CPU time to add a delayed key", func(q aQueue, i int) { q.addAfter(keys[i], time.Hour+time.Duration(i)*time.Microsecond) }},
				{"heap, per key that has failed", "", func(q aQueue, i int) { q.addFailed(keys[i]) }},
			} {
				before := probe.LiveHeap()
				q, err := newQueue(e.Side)
				if err != nil {
					return o, err
				}
				c, err := probe.CostOf(func() error {
					for i := range keys {
						how.add(q, i)
					}
					time.Sleep(20 * time.Millisecond) // client-go's delays lag by 1,000
					return nil
				})
				if err != nil {
					return o, err
				}
				o.Values[how.heap] = (probe.LiveHeap() - before) / float64(len(keys))
				if how.cpu != "" {
					o.Values[how.cpu] = c.Per(len(keys)).CPU
				}
				o.Seen.Objects += len(keys)
				q.shutDown()
			}
			runtime.KeepAlive(keys)
			return o, nil
		}, nil, nil
	}
	return b
}

// idleQueueBench makes queues that have a delayed key and no worker.
func idleQueueBench() harness.Bench {
	b := queueBench("idle", func(harness.Sizes) string { return "a queue that does nothing" }, nil,
		harness.Measure{Name: "goroutines", Limit: harness.AtMost(0)},
		harness.Measure{Name: "heap and stacks", Unit: harness.Bytes})
	b.Prepare = func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
		return func() (harness.Outcome, error) {
			first, err := newQueue(e.Side) // fills pools of the process
			if err != nil {
				return harness.Outcome{}, err
			}
			defer first.shutDown()
			before := probe.Footprint()
			for range e.Sizes.Idle {
				q, err := newQueue(e.Side)
				if err != nil {
					return harness.Outcome{}, err
				}
				defer q.shutDown()
			}
			after, n := probe.Footprint(), float64(e.Sizes.Idle)
			return harness.Outcome{Seen: harness.Seen{Objects: e.Sizes.Idle}, Values: map[string]float64{
				"goroutines":      (after.Goroutines - before.Goroutines) / n,
				"heap and stacks": (after.Bytes - before.Bytes) / n,
			}}, nil
		}, nil, nil
	}
	return b
}
