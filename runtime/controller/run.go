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

// run is one run of a controller. Its goroutines are the one of Run itself and those of wg.
type run struct {
	// set once at construction
	controller *Controller
	ctx        context.Context // of Run, with the controller's logger
	reconciles context.Context // the parent of theirs; lasts for Options.Grace longer
	cancel     context.CancelCauseFunc
	logger     klog.Logger
	loggerKey  any        // under which contexts have the logger
	informers  []Informer // that must have synced, each once
	byResource map[schema.GroupResource][]Informer
	queue      *workqueue.Queue[object.Key]
	wg         sync.WaitGroup
	awaited    awaited

	mu            sync.Mutex // mu guards what follows
	registrations []*informer.Registration
	leases        []*informer.Lease // of the informers, in their order
	synced        bool
}

func newRun(ctx context.Context, c *Controller) *run {
	r := &run{controller: c, logger: klog.FromContext(ctx).WithValues("controller", c.name), loggerKey: loggerKey()}
	r.ctx = klog.NewContext(ctx, r.logger)
	r.reconciles, r.cancel = context.WithCancelCause(context.WithoutCancel(r.ctx))
	r.findInformers()
	r.queue = workqueue.New[object.Key](c.options.Queue)
	r.awaited.init(c.options.AwaitTimeout)
	return r
}

// add queues keys without an event.
func (r *run) add(keys []object.Key) {
	for _, key := range keys {
		r.queue.Add(key)
	}
}

// do runs until the context is done, or fails before it has begun to reconcile. It returns after
// all goroutines have ended.
func (r *run) do() error {
	release, err := r.startInformers()
	// Last of all, because reconciles that still run read them:
	defer release()
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
	r.awaitLast()
	if r.ctx.Err() == nil {
		r.start()
	}
	for {
		select {
		case <-r.awaited.timer.C:
			r.tooLate()
		case <-r.ctx.Done():
			return nil
		}
	}
}

// findInformers sets the informers of the watches and options.
func (r *run) findInformers() {
	all := slices.Clone(r.controller.options.Reads)
	for _, w := range r.controller.watches {
		all = append(all, w.needs...)
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

// startInformers makes the informers run until release is called, which waits until those that
// nothing else uses have ended.
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
				return w.wrong(n, err)
			}
		}
		if w.register == nil {
			continue
		}
		registration, err := w.register(w.adding(r.queue.AddWith), "controller "+r.controller.name+": "+w.name)
		if err != nil {
			return w.wrong(n, err)
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

// start starts the workers and the watches by period.
func (r *run) start() {
	c := r.controller
	r.mu.Lock()
	r.synced = true
	r.mu.Unlock()
	workers := r.ctx
	if c.options.ShutDown != workqueue.Drop {
		workers = context.WithoutCancel(r.ctx) // the queue ends them
	}
	for range c.options.Concurrency {
		r.wg.Go(func() { r.work(workers) })
	}
	for _, w := range c.watches {
		if w.every != nil {
			r.wg.Go(func() { w.every(r.ctx, w.adding(r.queue.AddWith)) })
		}
	}
}

// stop ends the queue and the contexts of the reconciles that run, and waits for all goroutines.
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
	_ = r.queue.ShutDown(ctx, workqueue.Drop) // fails only if its context is done
	r.closeAwaited()
	r.wg.Wait()
}

var errGrace = errors.New("Options.Grace has passed")

// finishQueue has the workers reconcile what is queued, for as long as Options.Grace. It drops what
// is left then, before the contexts of those that run are done: the rest would begin with such a
// context.
func (r *run) finishQueue(ctx context.Context) {
	options := &r.controller.options
	limited, cancel := context.WithTimeoutCause(ctx, options.Grace, errGrace)
	defer cancel()
	if err := r.queue.ShutDown(limited, options.ShutDown); err != nil {
		_ = r.queue.ShutDown(limited, workqueue.Drop) // drops, and waits for none
		r.logger.Error(err, "Not all keys that were queued are reconciled at the end")
	}
}

func (r *run) hasSynced() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.synced
}
