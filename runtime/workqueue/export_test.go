// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Check returns an error if the parts of the queue don't fit together.
func (q *Queue[K]) Check() error {
	c := &q.core
	c.mu.Lock()
	defer c.mu.Unlock()
	in := map[int32]string{}
	note := func(i int32, where string, is bool) error {
		if was, ok := in[i]; ok {
			return fmt.Errorf("slot %d is both %s and %s", i, was, where)
		}
		if in[i] = where; !is {
			return fmt.Errorf("slot %d is %s, and doesn't know it", i, where)
		}
		return nil
	}
	var all []error
	walk := func(l list, where string, is func(*slot) bool) {
		n, previous := 0, none
		if l.n == 0 {
			return
		}
		for i := l.first; i != none; i, previous, n = c.slots.at(i).a, i, n+1 {
			if s := c.slots.at(i); s.b != previous {
				all = append(all, fmt.Errorf("slot %d: the one before it is %d, and it has %d", i, previous, s.b))
			}
			all = append(all, note(i, where, is(c.slots.at(i))))
		}
		if n != l.n || previous != l.last {
			all = append(all, fmt.Errorf("%s: %d of %d slots, the last one is %d, not %d", where, n, l.n, previous, l.last))
		}
	}
	for n, l := range c.ready {
		walk(l, "ready", func(s *slot) bool { return s.flags == ready && s.level == uint8(n) })
	}
	walk(c.paced, "paced", func(s *slot) bool { return s.flags == paced })
	for at, i := range c.running {
		s := c.slots.at(i)
		all = append(all, note(i, "running", s.is(running) && s.pos == int32(at) && !(s.is(again) && s.is(delayed))))
	}
	stale := 0
	for at := root; at < len(c.delays.heap); at++ {
		e := c.delays.heap[at]
		if at > root && e.before(c.delays.heap[parentOf(at)]) {
			all = append(all, fmt.Errorf("delay %d of the heap is before its parent", at))
		}
		if s := c.slots.at(e.slot); !s.waitsFor(e) {
			stale++
		} else {
			all = append(all, note(e.slot, "waiting", s.flags&(running|ready|paced) == 0))
		}
	}
	if stale != c.delays.stale {
		all = append(all, fmt.Errorf("%d delays are stale, not %d", stale, c.delays.stale))
	}
	free := 0
	for i := c.free; i != none; i = c.slots.at(i).a {
		all = append(all, note(i, "free", c.slots.at(i).flags == 0))
		free++
	}
	if used := int(c.slots.len()) - free; len(in) != int(c.slots.len()) || used != c.used || used != c.table.n {
		all = append(all, fmt.Errorf("%d slots, %d somewhere, %d free, %d used, %d in the table", c.slots.len(), len(in), free, c.used, c.table.n))
	}
	for i := range c.slots.len() {
		if s := c.slots.at(i); in[i] != "free" && q.find(*q.keys.at(i), s.hash) != i {
			all = append(all, fmt.Errorf("slot %d is not found", i))
		}
	}
	return errors.Join(all...)
}

// Slots returns how many slots the queue has.
func (q *Queue[K]) Slots() int { return int(q.core.slots.len()) }

// Delays returns how many times are in the heap.
func (q *Queue[K]) Delays() int { return q.core.delays.len() }

// BucketOf returns which bucket counts a duration.
func BucketOf(took int64) int {
	var d durations
	d.count(took)
	return slices.Index(d.Counts[:], 1)
}

// NextMet is Next, by a worker that has met another goroutine at the lock.
func (q *Queue[K]) NextMet(ctx context.Context, item Item[K], outcome Outcome) (Item[K], error) {
	c, now := &q.core, q.core.now()
	c.mu.Lock()
	return q.handOut(c.doneAndGet(ctx, true, item.slot, item.run, outcome, now))
}
