// SPDX-License-Identifier: Apache-2.0

package engine

import "sync"

// crew is the goroutines of one run that call handlers. They take turns: whoever has a subscription's turn calls its handler
// until nothing waits for it, then takes the next subscription that is ready.
//
//	publish ─▶ ready: s ─▶ s ─▶ s       in a turn:  worker, worker            a turn ends: look at ready, else park or end
//	            ▲                       searching:  at most one               a search ends in a turn; before that, if more is
//	            └─ a turn may begin                 that was woken or started ready, it wakes or starts the next one
//	                                    parked:     at most two
//
// Whenever a subscription is ready, a worker that is not in a turn looks for it, or has been woken or started in order to.
// So one goroutine serves any number of handlers that are quick, and a handler that does not return keeps one goroutine and
// delays no other handler.
type crew struct {
	run *run // set once at construction

	// mu guards what follows. Lock order: after Subscription.mu.
	mu        sync.Mutex
	ready     queue
	parked    []*worker // wait for wake; the last one is woken first
	searching bool      // a worker was woken or started, and has not looked at ready yet
	closed    bool      // nothing becomes ready any more
}

// maxParked is how many workers stay while there is nothing to do. With one, a second handler that is ready at the same time
// would cost a new goroutine each time.
const maxParked = 2

// worker is a goroutine of a crew.
type worker struct {
	wake      chan struct{} // of capacity 1
	goroutine uint64
	searching bool // crew.searching is about this worker; crew.mu guards it
}

// queue is a list of subscriptions that are ready: each has a turn that has not begun. The zero queue is empty.
type queue struct{ first, last *Subscription }

func (q *queue) push(s *Subscription) {
	if q.first == nil {
		q.first = s
	} else {
		q.last.after = s
	}
	q.last = s
}

func (q *queue) pop() *Subscription {
	s := q.first
	q.first, s.after = s.after, nil
	if q.first == nil {
		q.last = nil
	}
	return s
}

// add says that subscriptions have become ready. A nil crew has none. It may be called with Informer.mu held.
func (c *crew) add(more queue) {
	if more.first == nil {
		return
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return
	}
	if c.ready.first == nil {
		c.ready = more
	} else {
		c.ready.last.after, c.ready.last = more.first, more.last
	}
	w := c.searchLocked()
	c.mu.Unlock()
	w.wakeUp()
}

// close lets the workers end when nothing is ready.
func (c *crew) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, w := range c.parked {
		w.wake <- struct{}{}
	}
	c.parked = nil
}

// searchLocked sees to it that a worker looks at what is ready. It returns the one that the caller has to wake, if any.
func (c *crew) searchLocked() *worker {
	if c.ready.first == nil || c.searching {
		return nil
	}
	c.searching = true
	if n := len(c.parked); n > 0 {
		w := c.parked[n-1]
		c.parked = c.parked[:n-1]
		w.searching = true
		return w
	}
	c.start(nil)
	return nil
}

func (w *worker) wakeUp() {
	if w != nil {
		w.wake <- struct{}{}
	}
}

// start starts a worker: in the turn of s, or, for nil, searching.
func (c *crew) start(s *Subscription) { c.run.wg.Go(func() { c.work(s) }) }

// work is a worker's goroutine.
func (c *crew) work(s *Subscription) {
	w := &worker{wake: make(chan struct{}, 1), goroutine: goroutineID(), searching: s == nil}
	ended := false
	defer func() {
		if !ended && !s.crashing {
			c.start(s) // a callback has called runtime.Goexit; another goroutine goes on with the turn
		}
	}()
	if s == nil {
		s = c.next(w)
	}
	for ; s != nil; s = c.next(w) {
		s.turn(c.run, w.goroutine)
	}
	ended = true
}

// next waits for a turn that can begin. It returns nil if the worker is to end.
func (c *crew) next(w *worker) *Subscription {
	c.mu.Lock()
	for c.ready.first == nil {
		c.foundLocked(w)
		if c.closed || len(c.parked) == maxParked {
			c.mu.Unlock()
			return nil
		}
		c.parked = append(c.parked, w)
		c.mu.Unlock()
		<-w.wake
		c.mu.Lock()
	}
	c.foundLocked(w)
	s := c.ready.pop()
	other := c.searchLocked()
	c.mu.Unlock()
	other.wakeUp()
	return s
}

// foundLocked ends the worker's search, if it is searching.
func (c *crew) foundLocked(w *worker) {
	if w.searching {
		w.searching, c.searching = false, false
	}
}
