// SPDX-License-Identifier: Apache-2.0

package workqueue

import "context"

// Workers whose keys take about as long as the queue itself do less together than one alone: they
// spend their time on passing the lock, and what it guards, from core to core. So one that has
// worked briefly, and meets another one at the lock, steps aside: it waits as if no key was ready,
// and none is woken for quietFor. If the others are slow after all, it is back by then.
const (
	briefly  = 5_000   // nanoseconds
	quietFor = 100_000 // nanoseconds
)

// next is done and get in one step.
func (c *core) next(ctx context.Context, i int32, run uint32, o Outcome) (next int32, waited int64, err error) {
	now := c.now()
	met := !c.mu.TryLock()
	if met {
		c.mu.Lock()
	}
	return c.doneAndGet(ctx, met, i, run, o, now)
}

// doneAndGet does what next does, and has met another goroutine at the lock or not. It is called
// with the lock held.
func (c *core) doneAndGet(ctx context.Context, met bool, i int32, run uint32, o Outcome, now int64) (next int32, waited int64, err error) {
	c.tick(now)
	crowded := met && c.isCrowded(i, now)
	c.done(i, run, o, now)
	if crowded && !c.closed && len(c.running) > 0 {
		c.quiet = now + quietFor
		return c.await(ctx, now)
	}
	if i, waited := c.take(now); i != none {
		return i, waited, nil
	}
	return c.await(ctx, now)
}

// isCrowded reports whether a slot was worked on briefly, and another one was handed out meanwhile:
// who was met at the lock was no worker otherwise, but one that adds.
func (c *core) isCrowded(i int32, now int64) bool {
	if i >= c.slots.len() {
		return false
	}
	since := c.slots.at(i).since
	return now-since < briefly && c.handedOut > since
}
