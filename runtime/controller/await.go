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

// waitTracker has the keys whose next reconcile waits for writes of the last one. The queue holds
// each for at most Options.AwaitTimeout.
//
//	await ─┬─▶ the informers have seen all writes ─▶ seen ─▶ Queue.Release
//	       ├─▶ the timeout, which ends the hold ───▶ endWait, or endTimedOut if not queued
//	       └─▶ the run ends ───────────────────────▶ closeWaits
type waitTracker struct {
	// set once at construction
	timeout time.Duration
	timer   *time.Timer // for endTimedOut, while there are waits
	len     atomic.Int32

	mu     sync.Mutex // mu guards the fields below, and those of each wait
	waits  map[object.Key]*wait
	closed bool
}

type wait struct {
	writes []unseenWrite
	since  time.Time
}

type unseenWrite struct {
	token    object.Token
	informer Informer
	stop     func() bool // keeps the informer from calling seen; nil if it won't call
}

func (u unseenWrite) String() string {
	what := fmt.Sprintf("%s %s at resourceVersion %s", u.token.Resource.GroupResource(), u.token.Key, u.token.ResourceVersion)
	if u.token.Gone {
		what = "the end of " + what
	}
	return what
}

func (t *waitTracker) init(timeout time.Duration) {
	t.timeout, t.timer, t.waits = timeout, time.NewTimer(timeout), map[object.Key]*wait{}
	t.timer.Stop()
}

func (t *waitTracker) begin(key object.Key, w *wait) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.waits) == 0 {
		t.timer.Reset(t.timeout)
	}
	t.waits[key] = w
	t.len.Store(int32(len(t.waits)))
}

func (t *waitTracker) endLocked(key object.Key) {
	delete(t.waits, key)
	t.len.Store(int32(len(t.waits)))
}

var errAwaitTimeout = errors.New("Options.AwaitTimeout has passed")

// expiredContext makes AwaitToken return without waiting.
var expiredContext = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errAwaitTimeout)
	return ctx
}()

// unseenWrites returns the writes not yet seen by informers of their resource. It skips writes in
// namespaces the informers don't read.
func (r *run) unseenWrites(tokens []object.Token) (writes []unseenWrite) {
	for _, token := range tokens {
		for _, i := range r.byResource[token.Resource.GroupResource()] {
			if errors.Is(i.AwaitToken(expiredContext, token), errAwaitTimeout) {
				writes = append(writes, unseenWrite{token: token, informer: i})
			}
		}
	}
	return writes
}

// await marks an item done, and holds its key until the informers have seen the writes.
func (r *run) await(item workqueue.Item[object.Key], outcome workqueue.Outcome, writes []unseenWrite) {
	r.controller.counts.awaited.Add(1)
	w := &wait{writes, time.Now()}
	r.tracker.begin(item.Key, w)
	outcome.Hold = r.tracker.timeout
	item.Done(outcome)
	r.watch(item.Key, w) // after Done, so seen finds a hold to end
}

// watch registers seen with the informers, which call it on goroutines counted by wg.
func (r *run) watch(key object.Key, w *wait) {
	t := &r.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed || t.waits[key] != w {
		return
	}
	for n := range w.writes {
		write := w.writes[n]
		r.wg.Add(1)
		stop, err := write.informer.AfterToken(write.token, func() {
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
func (r *run) seen(key object.Key, w *wait, write unseenWrite) {
	t := &r.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	w.writes = slices.DeleteFunc(w.writes, func(u unseenWrite) bool { return u.token == write.token && u.informer == write.informer })
	if len(w.writes) == 0 && t.waits[key] == w {
		t.endLocked(key)
		r.queue.Release(key)
	}
}

// endWait is called for each key handed to a worker. A key still awaited then has timed out.
func (r *run) endWait(key object.Key) {
	t := &r.tracker
	if t.len.Load() == 0 {
		return
	}
	t.mu.Lock()
	w := t.waits[key]
	if w == nil {
		t.mu.Unlock()
		return
	}
	t.endLocked(key)
	writes := r.stopLocked(w)
	t.mu.Unlock()
	r.reportUnseenOf(key, writes)
}

// endTimedOut ends timed-out waits of keys the queue did not hand out, because nothing was to do.
func (r *run) endTimedOut() {
	t, now := &r.tracker, time.Now()
	timedOut := map[object.Key][]unseenWrite{}
	t.mu.Lock()
	next := t.timeout
	for key, w := range t.waits {
		left := t.timeout - now.Sub(w.since)
		if left > 0 {
			next = min(next, left)
			continue
		}
		t.endLocked(key)
		timedOut[key] = r.stopLocked(w)
	}
	if len(t.waits) > 0 {
		t.timer.Reset(max(next, t.timeout/16)) // not once per wait, if there are many
	}
	t.mu.Unlock()
	for key, writes := range timedOut {
		r.reportUnseenOf(key, writes)
	}
}

// stopLocked keeps the informers from calling seen, and returns the unseen writes.
func (r *run) stopLocked(w *wait) []unseenWrite {
	for _, write := range w.writes {
		if write.stop != nil && write.stop() {
			r.wg.Done()
		}
	}
	return slices.Clone(w.writes)
}

// closeWaits ends all waits at the end of a run, and keeps unseen writes for the next run.
func (r *run) closeWaits() {
	t := &r.tracker
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	t.timer.Stop()
	var writes []unseenWrite
	for key, w := range t.waits {
		t.endLocked(key)
		if unseen := r.stopLocked(w); r.buckets.holds(key) {
			writes = append(writes, unseen...)
		}
	}
	r.controller.keepUnseen(writes)
}

func (c *Controller) keepUnseen(writes []unseenWrite) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unseenWrites = append(c.unseenWrites, writes...)
}

func (r *run) reportUnseenOf(key object.Key, writes []unseenWrite) {
	if r.buckets.holds(key) { // else the informers may have dropped the objects
		r.reportUnseen(writes, "key", textOf(key))
	}
}

func (r *run) reportUnseen(writes []unseenWrite, values ...any) {
	for _, write := range writes {
		if err := write.informer.AwaitToken(expiredContext, write.token); err != nil {
			r.controller.counts.unseen.Add(1)
			r.logger.Error(err, "A reconcile may read the state before the last write of its key", append(values, "write", write.String())...)
		}
	}
}

func (r *run) awaitLastRun() {
	c := r.controller
	c.mu.Lock()
	writes := c.unseenWrites
	c.unseenWrites = nil
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(r.ctx, r.tracker.timeout)
	defer cancel()
	writes = slices.DeleteFunc(writes, func(u unseenWrite) bool { return u.informer.AwaitToken(ctx, u.token) == nil })
	if r.ctx.Err() != nil {
		c.keepUnseen(writes)
		return
	}
	r.reportUnseen(writes)
}

func (t *waitTracker) describe() (lines []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for key, w := range t.waits {
		var writes []string
		for _, write := range w.writes {
			writes = append(writes, write.String())
		}
		lines = append(lines, fmt.Sprintf("%s awaits %s for %v", textOf(key), strings.Join(writes, ", "), time.Since(w.since).Round(time.Millisecond)))
	}
	slices.Sort(lines)
	return lines
}
