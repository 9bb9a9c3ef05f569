// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// run is one run of a controller. Its goroutines are the caller of Run and those of wg.
type run struct {
	// set once at construction
	controller   *Controller
	ctx          context.Context // Run's, with the controller's logger
	reconcileCtx context.Context // parent of the reconciles'; lasts for Options.Grace longer
	cancel       context.CancelCauseFunc
	logger       klog.Logger
	loggerKey    any        // context key of the logger
	informers    []Informer // must have synced; each once
	byResource   map[schema.GroupResource][]Informer
	queue        *workqueue.Queue[object.Key]
	wg           sync.WaitGroup
	tracker      waitTracker
	buckets      *buckets // nil without Options.Ring
	addKey       addFunc

	mu            sync.Mutex // mu guards the fields below
	registrations []*informer.Registration
	leases        []*informer.Lease // of informers, in the same order
	synced        bool
}

func newRun(ctx context.Context, c *Controller) *run {
	r := &run{controller: c, logger: klog.FromContext(ctx).WithValues("controller", c.name), loggerKey: loggerKey()}
	r.ctx = klog.NewContext(ctx, r.logger)
	r.reconcileCtx, r.cancel = context.WithCancelCause(context.WithoutCancel(r.ctx))
	r.findInformers()
	r.queue = workqueue.NewFair(c.options.Queue, c.options.Tenant)
	r.tracker.init(c.options.AwaitTimeout)
	r.addKey = r.queue.AddWith
	if r.buckets = newBuckets(r); r.buckets != nil {
		r.addKey = r.buckets.add
	}
	return r
}

func (r *run) add(keys []object.Key) {
	if r.buckets.postpone(keys) {
		return
	}
	for _, key := range keys {
		r.addKey(key, workqueue.AddOptions{})
	}
}

// do runs until the context is done, or returns an error if it can't begin to reconcile. It returns
// after all goroutines have ended.
func (r *run) do() error {
	release, err := r.startInformers()
	// Last, because running reconciles read the informers:
	defer release()
	defer r.buckets.end()
	defer r.stop()
	if err != nil {
		return err
	}
	defer r.removeHandlers()
	if err := r.addHandlers(); err != nil {
		return err
	}
	if err := r.waitForSync(); err != nil {
		return err
	}
	r.awaitLastRun()
	if r.ctx.Err() == nil {
		r.start()
	}
	for {
		select {
		case <-r.tracker.timer.C:
			r.endTimedOut()
		case <-r.ctx.Done():
			return nil
		}
	}
}

func (r *run) findInformers() {
	all := slices.Clone(r.controller.options.Reads)
	for _, w := range r.controller.watches {
		all = append(all, w.informers...)
	}
	r.byResource = map[schema.GroupResource][]Informer{}
	for _, i := range all {
		if slices.Contains(r.informers, i) {
			continue
		}
		r.informers = append(r.informers, i)
		if resource := i.Resource().GroupResource(); !resource.Empty() {
			r.byResource[resource] = append(r.byResource[resource], i)
		}
	}
}

// startInformers keeps the informers running until release is called. release waits for the end of
// those that nothing else uses.
func (r *run) startInformers() (release func(), err error) {
	ctx := context.WithoutCancel(r.ctx)
	release = func() {
		for _, lease := range r.heldLeases() {
			_ = lease.Release(ctx) // fails only if ctx is done
		}
	}
	for _, i := range r.informers {
		lease, err := i.Acquire(ctx)
		if err != nil {
			return release, fmt.Errorf("starting an informer: %w", err)
		}
		r.mu.Lock()
		r.leases = append(r.leases, lease)
		r.mu.Unlock()
	}
	return release, nil
}

func (r *run) heldLeases() []*informer.Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.leases)
}

func (r *run) addHandlers() error {
	for n, w := range r.controller.watches {
		if w.prepare != nil {
			if err := w.prepare(); err != nil {
				return w.wrapError(n, err)
			}
		}
		if w.register == nil {
			continue
		}
		registration, err := w.register(w.withDelay(r.addKey), "controller "+r.controller.name+": "+w.name, r.buckets.callsOf(n))
		if err != nil {
			return w.wrapError(n, err)
		}
		r.mu.Lock()
		r.registrations = append(r.registrations, registration)
		r.mu.Unlock()
	}
	return nil
}

func (r *run) removeHandlers() {
	for _, registration := range r.handlers() {
		registration.Remove()
	}
}

func (r *run) handlers() []*informer.Registration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.registrations)
}

func (r *run) start() {
	c := r.controller
	r.mu.Lock()
	r.synced = true
	r.mu.Unlock()
	workers := r.ctx
	if c.options.ShutDown != workqueue.Drop {
		workers = context.WithoutCancel(r.ctx) // the queue ends the workers
	}
	for range c.options.Concurrency {
		r.wg.Go(func() { r.work(workers) })
	}
	if r.buckets != nil {
		r.buckets.join()
		r.wg.Go(func() { r.buckets.queueGranted(r.ctx) })
	}
	for _, w := range c.watches {
		if w.every != nil {
			r.wg.Go(func() { w.every(r.ctx, w.withDelay(r.addKey)) })
		}
	}
}

func (r *run) stop() {
	cause := context.Cause(r.ctx)
	if cause == nil {
		cause = errors.New("the run has failed")
	}
	ctx, grace := context.WithoutCancel(r.ctx), r.controller.options.Grace
	if r.controller.options.ShutDown != workqueue.Drop && r.hasSynced() {
		r.finishQueue(ctx)
		grace = 0
	}
	timer := time.AfterFunc(grace, func() { r.cancel(cause) })
	defer r.cancel(cause)
	defer timer.Stop()
	_ = r.queue.ShutDown(ctx, workqueue.Drop) // fails only if ctx is done
	r.closeWaits()
	r.wg.Wait()
}

var errGrace = errors.New("Options.Grace has passed")

// finishQueue lets the workers reconcile queued keys for up to Options.Grace. It drops the rest
// before the contexts of running reconciles end, so none begins with an ended context.
func (r *run) finishQueue(ctx context.Context) {
	options := &r.controller.options
	limited, cancel := context.WithTimeoutCause(ctx, options.Grace, errGrace)
	defer cancel()
	if err := r.queue.ShutDown(limited, options.ShutDown); err != nil {
		_ = r.queue.ShutDown(limited, workqueue.Drop) // drops the rest without waiting
		r.logger.Error(err, "Some queued keys were not reconciled before the end")
	}
}

func (r *run) hasSynced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}
