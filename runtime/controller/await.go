// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// awaited has the keys whose next reconcile waits for writes of the last one. The queue holds each
// for at most Options.AwaitTimeout.
//
//	await ─┬─▶ the informers have seen all writes ─▶ seen ─▶ Queue.Release
//	       ├─▶ the time has passed: the hold, too ─▶ over, or tooLate if the key was not queued
//	       └─▶ the run ends ───────────────────────▶ close
type awaited struct {
	// set once at construction
	timeout time.Duration
	timer   *time.Timer // for tooLate, while there are waits
	len     atomic.Int32

	mu     sync.Mutex // mu guards the fields below, and those of each wait
	waits  map[object.Key]*wait
	closed bool
}

type wait struct {
	writes []unseen
	since  time.Time
}

type unseen struct {
	token object.Token
	by    Informer
	stop  func() bool // keeps by from calling seen; nil if it won't call
}

func (u unseen) String() string {
	what := fmt.Sprintf("%s %s at resourceVersion %s", u.token.Resource.GroupResource(), u.token.Key, u.token.ResourceVersion)
	if u.token.Gone {
		what = "the end of " + what
	}
	return what
}

func (a *awaited) init(timeout time.Duration) {
	a.timeout, a.timer, a.waits = timeout, time.NewTimer(timeout), map[object.Key]*wait{}
	a.timer.Stop()
}

func (a *awaited) begin(key object.Key, w *wait) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waits) == 0 {
		a.timer.Reset(a.timeout)
	}
	a.waits[key] = w
	a.len.Store(int32(len(a.waits)))
}

func (a *awaited) endLocked(key object.Key) {
	delete(a.waits, key)
	a.len.Store(int32(len(a.waits)))
}

var errAwaitTimeout = errors.New("Options.AwaitTimeout has passed")

// expired makes AwaitToken return without waiting.
var expired = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errAwaitTimeout)
	return ctx
}()

// unseen returns the writes not yet seen by informers of their resource. It skips writes in
// namespaces the informers don't read.
func (r *run) unseen(tokens []object.Token) (writes []unseen) {
	for _, token := range tokens {
		for _, i := range r.byResource[token.Resource.GroupResource()] {
			if errors.Is(i.AwaitToken(expired, token), errAwaitTimeout) {
				writes = append(writes, unseen{token: token, by: i})
			}
		}
	}
	return writes
}

// await marks an item done, and holds its key until the informers have seen the writes.
func (r *run) await(item workqueue.Item[object.Key], outcome workqueue.Outcome, writes []unseen) {
	r.controller.counts.awaited.Add(1)
	w := &wait{writes, time.Now()}
	r.awaited.begin(item.Key, w)
	outcome.Hold = r.awaited.timeout
	item.Done(outcome)
	r.watch(item.Key, w) // after Done, so seen finds a hold to end
}

// watch registers seen with the informers, which call it on goroutines counted by wg.
func (r *run) watch(key object.Key, w *wait) {
	a := &r.awaited
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || a.waits[key] != w {
		return
	}
	for n := range w.writes {
		write := w.writes[n]
		r.wg.Add(1)
		stop, err := write.by.AfterToken(write.token, func() {
			defer r.wg.Done()
			r.seen(key, w, write)
		})
		if err != nil {
			// AwaitToken returned no such error. The timeout will end the hold.
			r.wg.Done()
			continue
		}
		w.writes[n].stop = stop
	}
}

// seen is called when an informer has seen a write.
func (r *run) seen(key object.Key, w *wait, write unseen) {
	a := &r.awaited
	a.mu.Lock()
	defer a.mu.Unlock()
	w.writes = slices.DeleteFunc(w.writes, func(u unseen) bool { return u.token == write.token && u.by == write.by })
	if len(w.writes) == 0 && a.waits[key] == w {
		a.endLocked(key)
		r.queue.Release(key)
	}
}

// over is called for each key handed to a worker. A key still awaited then has timed out.
func (r *run) over(key object.Key) {
	a := &r.awaited
	if a.len.Load() == 0 {
		return
	}
	a.mu.Lock()
	w := a.waits[key]
	if w == nil {
		a.mu.Unlock()
		return
	}
	a.endLocked(key)
	writes := r.stopLocked(w)
	a.mu.Unlock()
	r.reportUnseen(writes, "key", textOf(key))
}

// tooLate ends timed-out waits of keys the queue did not hand out, because nothing was to do.
func (r *run) tooLate() {
	a, now := &r.awaited, time.Now()
	late := map[object.Key][]unseen{}
	a.mu.Lock()
	next := a.timeout
	for key, w := range a.waits {
		left := a.timeout - now.Sub(w.since)
		if left > 0 {
			next = min(next, left)
			continue
		}
		a.endLocked(key)
		late[key] = r.stopLocked(w)
	}
	if len(a.waits) > 0 {
		a.timer.Reset(max(next, a.timeout/16)) // not once per wait, if there are many
	}
	a.mu.Unlock()
	for key, writes := range late {
		r.reportUnseen(writes, "key", textOf(key))
	}
}

// stopLocked keeps the informers from calling seen, and returns the unseen writes.
func (r *run) stopLocked(w *wait) []unseen {
	for _, write := range w.writes {
		if write.stop != nil && write.stop() {
			r.wg.Done()
		}
	}
	return slices.Clone(w.writes)
}

// closeAwaited ends all waits at the end of a run, and keeps unseen writes for the next run.
func (r *run) closeAwaited() {
	a := &r.awaited
	a.mu.Lock()
	defer a.mu.Unlock()
	a.closed = true
	a.timer.Stop()
	var writes []unseen
	for key, w := range a.waits {
		a.endLocked(key)
		writes = append(writes, r.stopLocked(w)...)
	}
	r.controller.keepUnseen(writes)
}

func (c *Controller) keepUnseen(writes []unseen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unseen = append(c.unseen, writes...)
}

func (r *run) reportUnseen(writes []unseen, values ...any) {
	for _, write := range writes {
		if err := write.by.AwaitToken(expired, write.token); err != nil {
			r.controller.counts.unseen.Add(1)
			r.logger.Error(err, "A reconcile may not see what the last one of its key wrote", append(values, "write", write.String())...)
		}
	}
}

func (r *run) awaitLast() {
	c := r.controller
	c.mu.Lock()
	writes := c.unseen
	c.unseen = nil
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.ctx, r.awaited.timeout)
	defer cancel()
	writes = slices.DeleteFunc(writes, func(u unseen) bool { return u.by.AwaitToken(ctx, u.token) == nil })
	if r.ctx.Err() != nil {
		c.keepUnseen(writes)
		return
	}
	r.reportUnseen(writes)
}

func (a *awaited) describe() (lines []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, w := range a.waits {
		var writes []string
		for _, write := range w.writes {
			writes = append(writes, write.String())
		}
		lines = append(lines, fmt.Sprintf("%s awaits %s for %v", textOf(key), strings.Join(writes, ", "), time.Since(w.since).Round(time.Millisecond)))
	}
	slices.Sort(lines)
	return lines
}
