// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // Kubernetes' own
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	crmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
	ours "github.com/informer-gen/informer-gen/runtime/workqueue"
)

// aQueue is a work queue of either side, with metrics.
type aQueue interface {
	add(object.Key)
	worker() queueWorker
	// shutDown ends every get, also of workers that wait.
	shutDown()
}

// queueWorker is one goroutine's part: one key after the other, as a controller's worker does it.
type queueWorker struct {
	// next is done with the last key, if there is one, and gets another.
	next func() (key object.Key, ok bool)
	// rest is done with the last key.
	rest func()
}

// A key that failed waits for so long.
const queueBackoff = time.Hour

const queueName = "bench"

func newQueue(s harness.Side) (aQueue, error) {
	switch s {
	case harness.Ours:
		provider, err := prometheus.NewQueues(prom.NewRegistry())
		if err != nil {
			return nil, err
		}
		return ourQueue{ours.New[object.Key](ours.Options{
			Name: queueName, Metrics: provider, Limiter: ours.Exponential{Base: queueBackoff, Max: 2 * queueBackoff},
		})}, nil
	case harness.ClientGo:
		return newTheirQueue(workqueue.NewTypedRateLimitingQueueWithConfig(theirLimiter(),
			workqueue.TypedRateLimitingQueueConfig[object.Key]{Name: queueName})), nil
	case harness.ControllerRuntime:
		return newTheirQueue(priorityqueue.New(queueName, func(o *priorityqueue.Opts[object.Key]) { o.RateLimiter = theirLimiter() })), nil
	}
	return nil, fmt.Errorf("%s has no work queue here", s)
}

func theirLimiter() workqueue.TypedRateLimiter[object.Key] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[object.Key](queueBackoff, 2*queueBackoff)
}

// checkMetrics returns an error if the side has not counted what it did.
func checkMetrics(s harness.Side) error {
	var from prom.Gatherer
	switch s {
	case harness.ClientGo:
		from = legacyregistry.DefaultGatherer
	case harness.ControllerRuntime:
		from = crmetrics.Registry
	default:
		return nil
	}
	families, err := from.Gather()
	if err != nil {
		return err
	}
	for _, family := range families {
		if family.GetName() == "workqueue_adds_total" && len(family.GetMetric()) > 0 && family.GetMetric()[0].GetCounter().GetValue() > 0 {
			return nil
		}
	}
	return fmt.Errorf("%s has counted nothing: its metrics are off", s)
}

type ourQueue struct{ *ours.Queue[object.Key] }

func (q ourQueue) add(key object.Key) { q.Add(key) }

func (q ourQueue) worker() queueWorker {
	ctx := context.Background()
	var item ours.Item[object.Key]
	return queueWorker{
		next: func() (object.Key, bool) {
			item.Done(ours.Outcome{})
			var err error
			item, err = q.Get(ctx)
			return item.Key, err == nil
		},
		rest: func() { item.Done(ours.Outcome{}) },
	}
}

func (q ourQueue) shutDown() { _ = q.ShutDown(context.Background(), ours.Drop) }

type theirQueue struct {
	workqueue.TypedRateLimitingInterface[object.Key]
	end func()
}

func newTheirQueue(q workqueue.TypedRateLimitingInterface[object.Key]) theirQueue {
	return theirQueue{q, sync.OnceFunc(q.ShutDown)} // controller-runtime's panics the second time
}

func (q theirQueue) add(key object.Key) { q.Add(key) }

func (q theirQueue) worker() queueWorker {
	var key object.Key
	has := false
	rest := func() {
		if has {
			q.Forget(key)
			q.Done(key)
		}
		has = false
	}
	return queueWorker{
		next: func() (object.Key, bool) {
			rest()
			var over bool
			key, over = q.Get()
			has = !over
			return key, has
		},
		rest: rest,
	}
}

func (q theirQueue) shutDown() { q.end() }
