// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
)

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
