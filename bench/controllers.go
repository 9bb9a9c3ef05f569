// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"

	"github.com/go-logr/logr"
	prom "github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// keyAdder queues a key.
type keyAdder func(object.Key)

// begin starts a controller of a side, with metrics and without a log, that calls reconcile.
func begin(s harness.Side, workers int, reconcile func(object.Key)) (add keyAdder, stop func() error, err error) {
	switch s {
	case harness.ClientGo:
		return beginByHand(workers, reconcile)
	case harness.ControllerRuntime:
		return beginControllerRuntime(workers, reconcile)
	}
	return beginOurs(workers, reconcile)
}

func beginOurs(workers int, reconcile func(object.Key)) (keyAdder, func() error, error) {
	metrics, err := prometheus.NewControllers(prom.NewRegistry())
	if err != nil {
		return nil, nil, err
	}
	c, err := controller.New("bench", func(_ context.Context, key object.Key) (controller.Result, error) {
		reconcile(key)
		return controller.Result{}, nil
	}, controller.Options{Concurrency: workers, Metrics: metrics})
	if err != nil {
		return nil, nil, err
	}
	stop := runUntil(func(ctx context.Context) error { _ = c.Run(ctx); return nil })
	return func(key object.Key) { c.Enqueue(key) }, stop, nil
}

// beginByHand is the loop that controllers on client-go have, as in sample-controller. It does not
// recover from panics.
func beginByHand(workers int, reconcile func(object.Key)) (keyAdder, func() error, error) {
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName](),
		workqueue.TypedRateLimitingQueueConfig[types.NamespacedName]{Name: "bench"})
	reconcileOne := func(_ context.Context, key types.NamespacedName) error {
		reconcile(object.Key(key))
		return nil
	}
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for {
				key, shutDown := queue.Get()
				if shutDown {
					return
				}
				func() {
					defer queue.Done(key)
					if err := reconcileOne(context.Background(), key); err != nil {
						queue.AddRateLimited(key)
						return
					}
					queue.Forget(key)
				}()
			}
		})
	}
	stop := func() error {
		queue.ShutDown()
		all.Wait()
		return nil
	}
	return func(key object.Key) { queue.Add(types.NamespacedName(key)) }, stop, nil
}

func beginControllerRuntime(workers int, reconcileOne func(object.Key)) (keyAdder, func() error, error) {
	yes := true
	c, err := ctrl.NewTypedUnmanaged("bench", ctrl.TypedOptions[reconcile.Request]{
		MaxConcurrentReconciles: workers,
		SkipNameValidation:      &yes,
		RecoverPanic:            &yes,
		Logger:                  logr.Discard(),
		Reconciler: reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
			reconcileOne(object.Key(req.NamespacedName))
			return reconcile.Result{}, nil
		}),
	})
	if err != nil {
		return nil, nil, err
	}
	queues := make(chan workqueue.TypedRateLimitingInterface[reconcile.Request], 1)
	err = c.Watch(source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		queues <- queue
		return nil
	}))
	if err != nil {
		return nil, nil, err
	}
	stop := runUntil(c.Start)
	queue := <-queues
	return func(key object.Key) { queue.Add(reconcile.Request{NamespacedName: types.NamespacedName(key)}) }, stop, nil
}

// runUntil runs a controller until stop is called, without a log.
func runUntil(run func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	result := make(chan error, 1)
	go func() { result <- run(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}
