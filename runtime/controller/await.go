// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// awaited are the keys whose next reconcile waits for what the last one has written. The queue
// holds each of them back for Options.AwaitTimeout at most, and a goroutine waits for them.
type awaited[K comparable] struct {
	len atomic.Int32 // of waits

	mu    sync.Mutex // mu guards what follows
	waits map[K]*wait
}

// wait is one hold of a key.
type wait struct {
	writes []unseen
	since  time.Time
}

// unseen is a write that an informer has not seen yet.
type unseen struct {
	token object.Token
	by    Informer
}

func (u unseen) String() string {
	what := fmt.Sprintf("%s %s at resourceVersion %s", u.token.Resource.GroupResource(), u.token.Key, u.token.ResourceVersion)
	if u.token.Gone {
		what = "the end of " + what
	}
	return what
}

func (a *awaited[K]) begin(key K, w *wait) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waits == nil {
		a.waits = map[K]*wait{}
	}
	a.waits[key] = w
	a.len.Store(int32(len(a.waits)))
}

// end ends a wait. If it is still that of the key, end calls release, which must end the hold: so
// it never ends a later one.
func (a *awaited[K]) end(key K, w *wait, release func(K)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waits[key] == w {
		delete(a.waits, key)
		a.len.Store(int32(len(a.waits)))
		release(key)
	}
}

// over is called when a key was handed out: its hold has ended.
func (a *awaited[K]) over(key K) {
	if a.len.Load() == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waits, key)
	a.len.Store(int32(len(a.waits)))
}

// done is a context that is done.
var done = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// unseen returns the writes that the informers of their resource have not seen yet, without those
// in namespaces that these don't read.
func (r *run[K]) unseen(tokens []object.Token) (writes []unseen) {
	for _, token := range tokens {
		for _, i := range r.byResource[token.Resource.GroupResource()] {
			if errors.Is(i.AwaitToken(done, token), context.Canceled) {
				writes = append(writes, unseen{token, i})
			}
		}
	}
	return writes
}

var errAwaitTimeout = errors.New("Options.AwaitTimeout has passed")

// await ends an item so that its key is held back until the informers have seen some writes.
func (r *run[K]) await(item workqueue.Item[K], outcome workqueue.Outcome, writes []unseen) {
	timeout := r.controller.options.AwaitTimeout
	r.controller.counts.awaited.Add(1)
	w := &wait{writes, time.Now()}
	r.awaited.begin(item.Key, w)
	outcome.Hold = timeout
	item.Done(outcome)
	r.wg.Go(func() {
		if late := r.awaitAll(writes, timeout, "key", textOf(item.Key)); r.ctx.Err() != nil {
			r.controller.mu.Lock()
			r.controller.unseen = append(r.controller.unseen, late...)
			r.controller.mu.Unlock()
		}
		r.awaited.end(item.Key, w, r.queue.Release)
	})
}

// awaitAll waits for writes, and returns those that were not seen. It logs and counts them, unless
// the run ends.
func (r *run[K]) awaitAll(writes []unseen, timeout time.Duration, values ...any) (late []unseen) {
	ctx, cancel := context.WithTimeoutCause(r.ctx, timeout, errAwaitTimeout)
	defer cancel()
	for _, write := range writes {
		err := write.by.AwaitToken(ctx, write.token)
		if err == nil {
			continue
		}
		late = append(late, write)
		if r.ctx.Err() == nil {
			r.controller.counts.unseen.Add(1)
			r.logger.Error(err, "A reconcile may not see what the last one of its key wrote", append(values, "write", write.String())...)
		}
	}
	return late
}

// awaitLast waits for what the last reconciles of the run before have written.
func (r *run[K]) awaitLast() {
	c := r.controller
	c.mu.Lock()
	writes := c.unseen
	c.unseen = nil
	c.mu.Unlock()
	if late := r.awaitAll(writes, c.options.AwaitTimeout); r.ctx.Err() != nil {
		c.mu.Lock()
		c.unseen = append(c.unseen, late...)
		c.mu.Unlock()
	}
}

// describe returns the waits for people, the longest first.
func (a *awaited[K]) describe() (all []Awaiting) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for key, w := range a.waits {
		status := Awaiting{Key: textOf(key), Since: w.since}
		for _, write := range w.writes {
			status.Writes = append(status.Writes, write.String())
		}
		all = append(all, status)
	}
	slices.SortFunc(all, func(a, b Awaiting) int { return a.Since.Compare(b.Since) })
	return all
}
