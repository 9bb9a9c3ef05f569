// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	prom "github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // Kubernetes' own

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
	ours "github.com/informer-gen/informer-gen/runtime/workqueue"
)

const (
	queueWorkers = 4
	loopedKeys   = 1000 // go round in a loop
)

// queueBench has workers that add each key again after finishing it and getting the next one.
func queueBench() harness.Bench {
	return harness.Bench{
		Name: "queue",
		Title: func(harness.Sizes) string {
			return fmt.Sprintf("%d keys go round in a work queue, workers: %d", loopedKeys, queueWorkers)
		},
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			q, err := newQueue(e.Side)
			if err != nil {
				return harness.Outcome{}, err
			}
			defer q.shutDown()
			for _, key := range queueKeys(min(loopedKeys, e.Sizes.Keys)) {
				q.add(key)
			}
			var left atomic.Int64
			left.Store(int64(e.Sizes.Keys))
			c, err := probe.CostOf(func() error {
				var wg sync.WaitGroup
				for range queueWorkers {
					wg.Go(func() {
						next := q.worker()
						for last, n := (object.Key{}), 0; left.Add(-1) >= 0; n++ {
							key := next()
							if n > 0 {
								q.add(last)
							}
							last = key
						}
					})
				}
				wg.Wait()
				return nil
			})
			return harness.Outcome{Values: map[string]float64{"CPU time, per key": c.Per(e.Sizes.Keys).CPU}}, err
		}),
	}
}

func queueKeys(n int) []object.Key {
	keys := make([]object.Key, n)
	for i := range keys {
		keys[i] = object.Key{Namespace: fmt.Sprintf("namespace-%03d", i%100), Name: fmt.Sprintf("deployment-%08d", i)}
	}
	return keys
}

type benchQueue struct {
	add func(object.Key)
	// worker returns a function that finishes the last key, if there is one, and gets another.
	worker   func() (next func() object.Key)
	shutDown func()
}

func newQueue(s harness.Side) (benchQueue, error) {
	if s == harness.Ours {
		metrics, err := prometheus.New(prom.NewRegistry())
		if err != nil {
			return benchQueue{}, err
		}
		q := ours.New[object.Key](ours.Options{Name: "bench", Metrics: metrics})
		return benchQueue{
			add: func(key object.Key) { q.Add(key) },
			worker: func() func() object.Key {
				var item ours.Item[object.Key]
				has := false
				return func() object.Key {
					if has {
						item.Done(ours.Outcome{})
					}
					item, _ = q.Get(context.Background())
					has = true
					return item.Key
				}
			},
			shutDown: func() {
				ctx, cancel := context.WithCancel(context.Background())
				cancel() // without waiting for the workers' last keys
				_ = q.ShutDown(ctx, ours.Drop)
			},
		}, nil
	}
	q := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[object.Key](),
		workqueue.TypedRateLimitingQueueConfig[object.Key]{Name: "bench"})
	return benchQueue{
		add: q.Add,
		worker: func() func() object.Key {
			var key object.Key
			has := false
			return func() object.Key {
				if has {
					q.Forget(key)
					q.Done(key)
				}
				key, _ = q.Get()
				has = true
				return key
			}
		},
		shutDown: q.ShutDown,
	}, nil
}
