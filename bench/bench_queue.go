// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const (
	// loopedKeys go round in a loop.
	loopedKeys = 1000
	// bursts come one after the other.
	bursts = 3
	// dueWithin is the time in which delays end.
	dueWithin  = 2 * time.Second
	dueWorkers = 4
)

func queueBenches() []harness.Bench {
	list := []harness.Bench{cycleBench()}
	for _, workers := range []int{1, 4, 64} {
		list = append(list, loopBench(workers))
	}
	for _, workers := range []int{1, 4, 64} {
		list = append(list, burstBench(workers))
	}
	return append(list, queuedKeysBench(), dueBench(), idleQueueBench())
}

// queueKeys are keys of two strings, of about 35 bytes of text.
func queueKeys(n int) []object.Key {
	keys := make([]object.Key, n)
	for i := range keys {
		keys[i] = object.Key{Namespace: fmt.Sprintf("namespace-%03d", i%100), Name: fmt.Sprintf("%s%08d", queueKeyName, i)}
	}
	return keys
}

const queueKeyName = "deployment-"

// numberOf returns which of the queueKeys it is.
func numberOf(key object.Key) int {
	n, err := strconv.Atoi(key.Name[len(queueKeyName):])
	if err != nil {
		return -1
	}
	return n
}

// queueBench measures work on a queue.
func queueBench(name string, title func(harness.Sizes) string, once func(q aQueue, z harness.Sizes) (harness.Outcome, error), measures ...harness.Measure) harness.Bench {
	return harness.Bench{
		Name: "queue/" + name, Title: title, Measures: measures, Others: []harness.Side{harness.ControllerRuntime},
		Prepare: func(e harness.Env) (func() (harness.Outcome, error), func() error, error) {
			return func() (harness.Outcome, error) {
				q, err := newQueue(e.Side)
				if err != nil {
					return harness.Outcome{}, err
				}
				defer q.shutDown()
				o, err := once(q, e.Sizes)
				if err == nil {
					err = checkMetrics(e.Side)
				}
				return o, err
			}, nil, nil
		},
	}
}

const (
	perKey       = "CPU time, per key"
	allocsPerKey = "allocations, per key"
)

var besideControllerRuntime = harness.Mark{Side: harness.ControllerRuntime, Ratio: 0.1}

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
							if _, ok := w.get(); ok {
								n++
							}
							w.done()
						}
					}
					return nil
				}
			}
			_ = cycle(len(keys))()
			n = 0
			c, err := probe.CostOf(cycle(z.Keys))
			return ofKeys(c, n), err
		},
		harness.Measure{Name: perKey, Unit: harness.Time, Ratio: 0.3, Also: besideControllerRuntime},
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

// loopBench has workers that add each key again when they are done with it.
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
					for left.Add(-1) >= 0 {
						key, ok := w.get()
						if !ok {
							break
						}
						n++
						w.done()
						q.add(key)
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
		harness.Measure{Name: perKey, Unit: harness.Time, Ratio: 0.3, Also: besideControllerRuntime},
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
				for w := q.worker(); ; w.done() {
					if _, ok := w.get(); !ok {
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
	}, harness.Measure{Name: perKey, Unit: harness.Time, Ratio: 0.5, Also: besideControllerRuntime})
}

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

// dueBench delays many keys, which become due within a short time.
func dueBench() harness.Bench {
	b := queueBench("due", func(z harness.Sizes) string {
		return fmt.Sprintf("%s delays end within %v, with workers: %d", report.Digits(float64(z.Keys)), dueWithin, dueWorkers)
	}, dueOnce,
		harness.Measure{Name: "lateness, median", Unit: harness.Time, Ratio: 0.1},
		harness.Measure{Name: "lateness, 99th percentile", Unit: harness.Time},
		harness.Measure{Name: "CPU time to come up, per key", Unit: harness.Time},
		harness.Measure{Name: "CPU time to add", Unit: harness.Time})
	b.Others = nil
	return b
}

func dueOnce(q aQueue, z harness.Sizes) (harness.Outcome, error) {
	keys, dues := queueKeys(z.Keys), make([]time.Duration, z.Keys)
	lead := max(50*time.Millisecond, 10*time.Second*time.Duration(z.Keys)/1_000_000)
	within := min(dueWithin, dueWithin*time.Duration(z.Keys)/100_000)
	for i, n := range rand.New(rand.NewPCG(7, 0)).Perm(len(keys)) {
		dues[i] = lead + within*time.Duration(n)/time.Duration(len(keys))
	}
	late := make([][]float64, dueWorkers)
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(keys)))
	all := make(chan struct{})
	began := time.Now()
	for n := range dueWorkers {
		wg.Go(func() {
			for w := q.worker(); ; w.done() {
				key, ok := w.get()
				if !ok {
					return
				}
				late[n] = append(late[n], float64(time.Since(began)-dues[numberOf(key)]))
				if left.Add(-1) == 0 {
					close(all)
				}
			}
		})
	}
	adding, err := probe.CostOf(func() error {
		for i, key := range keys {
			q.addAfter(key, dues[i]-time.Since(began))
		}
		return nil
	})
	if took := time.Since(began); err == nil && took > lead {
		err = fmt.Errorf("adding took %v, longer than the %v until the first delay ends", took, lead)
	}
	if err != nil {
		return harness.Outcome{}, err
	}
	meter := probe.StartMeter()
	<-all
	c := meter.Stop()
	q.shutDown()
	wg.Wait()
	lateness := slices.Concat(late...)
	slices.Sort(lateness)
	return harness.Outcome{Seen: harness.Seen{Objects: len(keys), Events: len(lateness)}, Values: map[string]float64{
		"lateness, median":             lateness[len(lateness)/2],
		"lateness, 99th percentile":    lateness[len(lateness)*99/100],
		"CPU time to come up, per key": c.Per(len(keys)).CPU,
		"CPU time to add":              adding.Per(len(keys)).CPU,
	}}, nil
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
