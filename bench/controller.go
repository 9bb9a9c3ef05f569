// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/probe"
	"github.com/informer-gen/informer-gen/bench/report"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/object"
)

const reconcileRounds = 5

// controllerBench measures the time from adding a key to the return of a reconcile that does
// nothing.
func controllerBench() harness.Bench {
	return harness.Bench{
		Name: "controller",
		Title: func(z harness.Sizes) string {
			return fmt.Sprintf("a burst of %s keys through a controller that does nothing, beside controller-runtime's; workers: %d",
				report.Digits(float64(z.Many)), queueWorkers)
		},
		Against: harness.ControllerRuntime,
		Prepare: prepared(func(e harness.Env) (harness.Outcome, error) {
			var left atomic.Int64
			ended := make(chan struct{}, 1) // gets a value when no key is left
			reconciled := func(object.Key) {
				if left.Add(-1) == 0 {
					ended <- struct{}{}
				}
			}
			begin := beginOurs
			if e.Side == harness.ControllerRuntime {
				begin = beginControllerRuntime
			}
			add, stop, err := begin(reconciled)
			if err != nil {
				return harness.Outcome{}, err
			}
			all := queueKeys(e.Sizes.Many)
			var sum probe.Cost
			// The first round lets caches and tables grow.
			for round := range 1 + reconcileRounds {
				cost, err := probe.CostOf(func() error {
					left.Store(int64(len(all)))
					for _, key := range all {
						add(key)
					}
					return rig.Wait(ended, "the reconciles")
				})
				if err != nil {
					return harness.Outcome{}, err
				}
				if round > 0 {
					sum = sum.Plus(cost)
				}
			}
			return harness.Outcome{Values: map[string]float64{"CPU time, per reconcile": sum.Per(reconcileRounds * len(all)).CPU}}, stop()
		}),
	}
}

func beginOurs(reconcile func(object.Key)) (add func(object.Key), stop func() error, err error) {
	c, err := controller.New("bench", func(_ context.Context, key object.Key) (controller.Result, error) {
		reconcile(key)
		return controller.Result{}, nil
	}, controller.Options{Concurrency: queueWorkers})
	if err != nil {
		return nil, nil, err
	}
	stop = runUntil(func(ctx context.Context) error { _ = c.Run(ctx); return nil })
	return func(key object.Key) { c.Enqueue(key) }, stop, nil
}

func beginControllerRuntime(reconcileOne func(object.Key)) (add func(object.Key), stop func() error, err error) {
	yes := true
	c, err := ctrl.NewTypedUnmanaged("bench", ctrl.TypedOptions[reconcile.Request]{
		MaxConcurrentReconciles: queueWorkers,
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
	stop = runUntil(c.Start)
	queue := <-queues
	return func(key object.Key) { queue.Add(reconcile.Request{NamespacedName: types.NamespacedName(key)}) }, stop, nil
}

func runUntil(run func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logr.Discard()))
	result := make(chan error, 1)
	go func() { result <- run(ctx) }()
	return func() error {
		cancel()
		return <-result
	}
}
