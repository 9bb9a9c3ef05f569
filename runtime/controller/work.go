// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

var (
	errTimeout = errors.New("Options.Timeout has passed")
	errGoexit  = errors.New("the reconcile has called runtime.Goexit")
)

// work is a worker's goroutine. It ends when ctx is done, after its current reconcile, or when the
// queue has nothing more.
func (r *run) work(ctx context.Context) {
	var item workqueue.Item[object.Key]
	var current *itemContext // of the current reconcile
	defer func() {
		if current != nil && !current.crashes {
			// The reconcile called runtime.Goexit, which ends this goroutine.
			item.Done(r.finish(item, current, Result{}, errGoexit))
			r.wg.Go(func() { r.work(ctx) })
		}
	}()
	for {
		var err error
		if item, err = r.queue.Get(ctx); err != nil {
			return
		}
		r.endWait(item.Key)
		begun := &itemContext{Context: r.reconcileCtx, run: r, key: item.Key}
		if !r.buckets.begin(begun) {
			item.Done(workqueue.Outcome{})
			continue
		}
		current = begun
		result, err := r.call(begun)
		current = nil
		item.Done(r.finish(item, begun, result, err))
	}
}

func (r *run) call(item *itemContext) (result Result, err error) {
	c := r.controller
	c.counts.active.Add(1)
	var began time.Time // zero without metrics
	if c.options.Metrics != nil {
		began = time.Now()
	}
	ctx := item.Context
	if c.options.Timeout > 0 {
		limited, cancel := context.WithTimeoutCause(ctx, c.options.Timeout, errTimeout)
		defer cancel()
		ctx = limited
	}
	item.Context = ctx
	defer func() {
		c.counts.active.Add(-1)
		r.buckets.done(item)
		if !began.IsZero() {
			c.counts.addDuration(time.Since(began))
		}
		if v := recover(); v != nil {
			if c.options.Crash {
				item.crashes = true
				panic(v)
			}
			c.counts.panics.Add(1)
			err = &panicError{fmt.Sprint("panic: ", v), string(debug.Stack())}
		}
		if c.options.Timeout > 0 && context.Cause(ctx) == errTimeout {
			c.counts.timeouts.Add(1)
		}
	}()
	return c.reconcile(item, item.key)
}

type panicError struct{ text, stack string }

func (e *panicError) Error() string { return e.text }

// finish decides what follows a reconcile, and returns the outcome. The item may already be done
// when it returns.
func (r *run) finish(item workqueue.Item[object.Key], ended *itemContext, result Result, err error) workqueue.Outcome {
	counts, options := &r.controller.counts, &r.controller.options
	outcome, err := workqueue.Outcome{After: max(0, result.RequeueAfter)}, withText(err)
	if ended.handedOver && (errors.Is(err, partition.ErrNotOwned) || errors.Is(err, context.Canceled)) {
		r.controller.outcomes.record(item.Key, nil)
		return workqueue.Outcome{Failed: true} // for a key that is here again
	}
	r.controller.outcomes.record(item.Key, err)
	switch {
	case err == nil && outcome.After > 0:
		counts.again.Add(1)
	case err == nil:
		counts.succeeded.Add(1)
	case isTerminal(err):
		counts.terminal.Add(1)
		r.report(item, err, "Reconcile failed, and is not retried")
	case options.MaxRetries > 0 && item.Failures >= options.MaxRetries:
		counts.failed.Add(1)
		r.report(item, err, "Reconcile failed too often, and is not retried")
	default:
		counts.failed.Add(1)
		outcome.Failed = true
		r.report(item, err, "Reconcile failed")
	}
	if ended.handedOver {
		return outcome
	}
	if writes := r.unseenWrites(ended.writes.all()); len(writes) > 0 {
		r.await(item, outcome, writes)
	}
	return outcome
}

// withText returns err, or an error that says so if err's Error method panics. The usual case is a
// nil pointer of an error type.
func withText(err error) (checked error) {
	if err == nil {
		return nil
	}
	defer func() {
		if v := recover(); v != nil {
			checked = &panicError{fmt.Sprintf("the Error method of a %T has panicked: %v", err, v), string(debug.Stack())}
		}
	}()
	_ = err.Error()
	return err
}

// report logs an error, unless the end of the run caused it.
func (r *run) report(item workqueue.Item[object.Key], err error, message string) {
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
