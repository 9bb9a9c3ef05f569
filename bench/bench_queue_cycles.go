// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	perKey       = "CPU time, per key"
	allocsPerKey = "allocations, per key"
)

// cycleBench adds, gets and ends keys, one after the other, in one goroutine.
func cycleBench() harness.Bench {
	return queueBench("cycle", func(harness.Sizes) string { return "a key is added, handed out and done, by one goroutine" },
		func(q aQueue, z harness.Sizes) (harness.Outcome, error) {
			keys, w := queueKeys(min(loopedKeys, z.Keys)), q.worker()
			n := 0
			cycle := func(times int) func() error {
				return func() error {
					for range times / len(keys) {
						for _, key := range keys {
							q.add(key)
						}
						for range keys {
							if _, ok := w.next(); ok {
								n++
							}
						}
						w.rest()
					}
					return nil
				}
			}
			_ = cycle(len(keys))()
			n = 0
			c, err := probe.CostOf(cycle(z.Keys))
			return ofKeys(c, n), err
		},
		harness.Measure{Name: perKey, Unit: harness.Time, Ratio: 0.6},
		harness.Measure{Name: allocsPerKey, Limit: harness.AtMost(0)})
}

// ofKeys is the outcome of n keys that were handed out.
func ofKeys(c probe.Cost, n int) harness.Outcome {
	per := c.Per(max(1, n))
	return harness.Outcome{Seen: harness.Seen{Events: n}, Values: map[string]float64{
		perKey:       per.CPU,
		allocsPerKey: math.Floor(per.Allocs*100) / 100, // the process allocates now and then
	}}
}

// loopBench has workers that add each key again when they are done with it and have the next one.
func loopBench(workers int) harness.Bench {
	return queueBench(fmt.Sprintf("loop/%d", workers), func(harness.Sizes) string {
		return fmt.Sprintf("%d keys go round, with workers: %d", loopedKeys, workers)
	}, func(q aQueue, z harness.Sizes) (harness.Outcome, error) {
		var left atomic.Int64
		left.Store(int64(z.Keys))
		got := make(chan int, workers)
		for _, key := range queueKeys(min(loopedKeys, z.Keys)) {
			q.add(key)
		}
		c, err := probe.CostOf(func() error {
			var wg sync.WaitGroup
			for range workers {
				wg.Go(func() {
					w, n := q.worker(), 0
					var last object.Key
					for left.Add(-1) >= 0 {
						key, ok := w.next()
						if !ok {
							break
						}
						if n++; n > 1 {
							q.add(last)
						}
						last = key
					}
					if w.rest(); n > 0 {
						q.add(last)
					}
					got <- n
				})
			}
			wg.Wait()
			return nil
		})
		close(got)
		all := 0
		for n := range got {
			all += n
		}
		return ofKeys(c, all), err
	},
		harness.Measure{Name: perKey, Unit: harness.Time, Ratio: 0.6},
		harness.Measure{Name: allocsPerKey, Limit: harness.AtMost(0)})
}

// burstBench adds many keys at once, of which none is queued, to a queue whose workers wait.
func burstBench(workers int) harness.Bench {
	return queueBench(fmt.Sprintf("burst/%d", workers), func(z harness.Sizes) string {
		return fmt.Sprintf("%s keys at once, for workers that wait: %d", report.Digits(float64(z.Keys/10)), workers)
	}, func(q aQueue, z harness.Sizes) (harness.Outcome, error) {
		keys := queueKeys(z.Keys / 10)
		var got atomic.Int64
		all := make(chan struct{}, 1)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for w := q.worker(); ; {
					if _, ok := w.next(); !ok {
						return
					}
					if got.Add(1)%int64(len(keys)) == 0 {
						all <- struct{}{}
					}
				}
			})
		}
		time.Sleep(10 * time.Millisecond) // until they wait
		c, err := probe.CostOf(func() error {
			for range bursts {
				for _, key := range keys {
					q.add(key)
				}
				<-all
			}
			return nil
		})
		q.shutDown()
		wg.Wait()
		return ofKeys(c, int(got.Load())), err
	}, harness.Measure{Name: perKey, Unit: harness.Time, Ratio: 0.6})
}
