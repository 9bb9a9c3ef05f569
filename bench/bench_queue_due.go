// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
)

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
	type handOut struct{ at, due time.Duration }
	handOuts := make([][]handOut, dueWorkers)
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(len(keys)))
	all := make(chan struct{})
	began := time.Now()
	for n := range dueWorkers {
		handOuts[n] = make([]handOut, 0, len(keys))
		wg.Go(func() {
			for w := q.worker(); ; {
				key, ok := w.next()
				if !ok {
					return
				}
				handOuts[n] = append(handOuts[n], handOut{time.Since(began), dues[numberOf(key)]})
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
	added := time.Since(began)
	if err != nil {
		return harness.Outcome{}, err
	}
	meter := probe.StartMeter()
	<-all
	c := meter.Stop()
	q.shutDown()
	wg.Wait()
	var lateness []float64
	for _, h := range slices.Concat(handOuts...) {
		// If the machine is so slow that a delay has ended before all keys were added, this key is
		// late from then on.
		lateness = append(lateness, float64(max(0, h.at-max(h.due, added))))
	}
	slices.Sort(lateness)
	return harness.Outcome{Seen: harness.Seen{Objects: len(keys), Events: len(lateness)}, Values: map[string]float64{
		"lateness, median":             lateness[len(lateness)/2],
		"lateness, 99th percentile":    lateness[len(lateness)*99/100],
		"CPU time to come up, per key": c.Per(len(keys)).CPU,
		"CPU time to add":              adding.Per(len(keys)).CPU,
	}}, nil
}
