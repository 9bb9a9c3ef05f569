// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

var (
	errTimeout = errors.New("Options.Timeout has passed")
	errGoexit  = errors.New("the reconcile has called runtime.Goexit")
)

// work is the goroutine of a worker. It ends when ctx is done, after the reconcile that runs then.
func (r *run[K]) work(ctx context.Context) {
	var item workqueue.Item[K]
	reconciling := false
	defer func() {
		if reconciling {
			// It has called runtime.Goexit, which ends this goroutine.
			r.finish(item, Result{}, errGoexit)
			r.wg.Go(func() { r.work(ctx) })
		}
	}()
	for {
		var err error
		if item, err = r.queue.Get(ctx); err != nil {
			return
		}
		reconciling = true
		result, err := r.call(item.Key, &reconciling)
		reconciling = false
		r.finish(item, result, err)
	}
}

// call calls the controller's function. reconciling becomes false if a panic ends the process.
func (r *run[K]) call(key K, reconciling *bool) (result Result, err error) {
	c := r.controller
	r.over(key)
	c.counts.active.Add(1)
	ctx := r.reconciles
	if c.options.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errTimeout)
		defer cancel()
		ctx = limited
	}
	defer func() {
		c.counts.active.Add(-1)
		if v := recover(); v != nil {
			if c.options.Crash {
				*reconciling = false
				panic(v)
			}
			c.counts.panics.Add(1)
			err = &panicError{fmt.Sprint("panic: ", v), string(debug.Stack())}
		}
		if c.options.Timeout > 0 && context.Cause(ctx) == errTimeout {
			c.counts.timeouts.Add(1)
		}
	}()
	return c.reconcile(&itemContext[K]{ctx, r, key}, key)
}

type panicError struct{ text, stack string }

func (e *panicError) Error() string { return e.text }

// finish decides what comes after a reconcile.
func (r *run[K]) finish(item workqueue.Item[K], result Result, err error) {
	counts, options := &r.controller.counts, &r.controller.options
	outcome := workqueue.Outcome{After: max(0, result.After)}
	switch {
	case err == nil && outcome.After > 0:
		counts.again.Add(1)
	case err == nil:
		counts.succeeded.Add(1)
	case isTerminal(err):
		counts.terminal.Add(1)
		r.report(item, err, "Reconcile failed, and is not tried again")
	case options.MaxRetries > 0 && item.Failures >= options.MaxRetries:
		counts.failed.Add(1)
		r.report(item, err, "Reconcile failed too often, and is not tried again")
	default:
		counts.failed.Add(1)
		outcome.Failed = true
		r.report(item, err, "Reconcile failed")
	}
	if loop, found := r.loops.reconciled(item.Key, result.Await); found {
		if loop.Reconciles == hot {
			counts.hotLoops.Add(1)
		}
		r.logger.Error(nil, "What the reconciles of a key write queues it again and again: write only what differs, or filter the watch, for example by GenerationChanged",
			"key", loop.Key, "writes", loop.Object, "reconciles", loop.Reconciles, "for", time.Since(loop.Since))
	}
	if writes := r.unseen(result.Await); len(writes) > 0 {
		r.await(item, outcome, writes)
		return
	}
	item.Done(outcome)
}

// report logs an error, unless it comes from the end of the run.
func (r *run[K]) report(item workqueue.Item[K], err error, message string) {
	r.controller.counts.remember(textOf(item.Key), err)
	if r.ctx.Err() != nil && (errors.Is(err, context.Cause(r.ctx)) || errors.Is(err, r.ctx.Err())) {
		return
	}
	values := []any{"key", textOf(item.Key), "failures", item.Failures + 1}
	var panicked *panicError
	if errors.As(err, &panicked) {
		values = append(values, "stack", panicked.stack)
	}
	r.logger.Error(err, message, values...)
}
