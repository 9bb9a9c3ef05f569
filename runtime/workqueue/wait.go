// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"context"
	"math"
	"slices"
	"time"
)

// waiter is a goroutine that waits in Get.
type waiter struct {
	woken chan struct{} // has room for one
}

// wake is called without the lock, so that the woken goroutine finds it free.
func (w *waiter) wake() {
	if w != nil {
		w.woken <- struct{}{}
	}
}

// get waits until a slot can be handed out. If the error is nil, it returns with the lock held.
func (c *core) get(ctx context.Context) (i int32, waited int64, err error) {
	if ctx.Err() != nil {
		return none, 0, context.Cause(ctx)
	}
	now := c.now()
	c.mu.Lock()
	if i, waited := c.take(now); i != none {
		return i, waited, nil
	}
	return c.await(ctx, now)
}

// await waits until a slot can be handed out. It is called with the lock held, and returns as get
// does.
func (c *core) await(ctx context.Context, now int64) (i int32, waited int64, err error) {
	w := c.newWaiter()
	for {
		if c.isOver() {
			c.spare = append(c.spare, w)
			c.mu.Unlock()
			return none, 0, ErrShutDown
		}
		c.waiters = append(c.waiters, w)
		c.arm(now)
		c.mu.Unlock()
		select {
		case <-w.woken:
		case <-ctx.Done():
			c.giveUp(w)
			return none, 0, context.Cause(ctx)
		}
		now = c.now()
		c.mu.Lock()
		c.waking = false
		if i, waited := c.take(now); i != none {
			c.spare = append(c.spare, w)
			return i, waited, nil
		}
	}
}

func (c *core) newWaiter() *waiter {
	if n := len(c.spare); n > 0 {
		w := c.spare[n-1]
		c.spare = c.spare[:n-1]
		return w
	}
	return &waiter{woken: make(chan struct{}, 1)}
}

// giveUp ends the waiting of a goroutine whose context has ended. If it was woken, another one is,
// in its place.
func (c *core) giveUp(w *waiter) {
	now := c.now()
	c.mu.Lock()
	if at := slices.Index(c.waiters, w); at >= 0 {
		c.waiters = slices.Delete(c.waiters, at, at+1)
		c.spare = append(c.spare, w)
		c.mu.Unlock()
		return
	}
	c.waking = false
	next := c.toWake(now)
	c.mu.Unlock()
	next.wake()
}

// toWake returns a waiter that has to be woken, if there is work for one. One is woken at a time:
// it takes a key and, if there is more, has the next one woken. So a worker that is quick does the
// work of many keys for one wake-up, and for slow ones all workers are woken soon. After a worker
// has stepped aside, none is woken for a while, unless no key is worked on.
func (c *core) toWake(now int64) *waiter {
	last := len(c.waiters) - 1
	if c.waking || last < 0 || c.readyKeys() == 0 {
		return nil
	}
	if now < c.quiet && len(c.running) > 0 {
		c.arm(now) // until the end of quiet at most
		return nil
	}
	w := c.waiters[last]
	c.waiters[last] = nil
	c.waiters = c.waiters[:last]
	c.waking = true
	return w
}

// wakeAll has all waiters see that the queue is over.
func (c *core) wakeAll() {
	for _, w := range c.waiters {
		w.woken <- struct{}{} // has room: w is woken once for each time that it waits
	}
	clear(c.waiters)
	c.waiters = c.waiters[:0]
}

// unlockAndWake ends an operation that may have made a slot ready, or delayed one.
func (c *core) unlockAndWake(now int64) {
	var w *waiter
	if len(c.waiters) > 0 {
		w = c.toWake(now)
		c.arm(now)
	}
	c.mu.Unlock()
	w.wake()
}

// arm sets the timer to when a key can be handed out, if a goroutine waits for one.
func (c *core) arm(now int64) {
	if len(c.waiters) == 0 {
		return
	}
	next := int64(math.MaxInt64)
	if first, ok := c.delays.first(); ok {
		next = first.due
	}
	if c.paced.n > 0 {
		next = min(next, c.pace.open())
	}
	if now < c.quiet && c.readyKeys() > 0 {
		next = min(next, c.quiet)
	}
	if next == math.MaxInt64 || c.armed != 0 && c.armed <= next {
		return
	}
	c.armed = max(next, now+1)
	wait := time.Duration(c.armed - now)
	if c.timer == nil {
		c.timer = time.AfterFunc(wait, c.fire)
		return
	}
	c.timer.Reset(wait)
}

// fire is what the timer calls.
func (c *core) fire() {
	now := c.now()
	c.mu.Lock()
	if c.armed > now {
		// it was set again while it fired
		c.mu.Unlock()
		return
	}
	c.armed = 0
	c.tick(now)
	w := c.toWake(now)
	c.arm(now)
	c.mu.Unlock()
	w.wake()
}
