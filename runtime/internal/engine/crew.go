// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"
)

// crew is the goroutines of a run that call handlers. They take turns: whoever has a subscription's turn calls its handler
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
//
// A subscription is told of what waits for it as follows. All of it is written under mu:
//
//	not busy                  nothing waits for it. An event that comes alone is handed to it: it is busy, has a head, and is ready.
//	                          For anything else, which is in its log, backlog or replays already, it is busy and ready.
//	busy                      more is set for whatever comes; an event is in the log then.
//	busy, its turn begins     the worker clears more and looks at all that waits, under Subscription.mu. With a head, the handler is
//	                          called with it at once.
//	busy, its turn ends       the worker has called the handler with the head, or has found that nothing waits. If more is set, it
//	                          clears more and looks again. Else the subscription is not busy.
//
// Nothing is overlooked: what comes is there before more is set, and the end of a turn looks at more under the same lock
// under which the subscription stops being busy. So an event that comes alone costs its publisher one lock, with any
// number of handlers, and each delivery of it another one.
type crew struct {
	// mu guards what follows. Lock order: after Subscription.mu.
	mu        sync.Mutex
	run       *run // that was opened and has not ended; else nil
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

// place is the part of a subscription that crew.mu guards.
type place struct {
	after     *Subscription // the next one that is ready
	goroutine uint64        // that has the turn, or had it last
	busy      bool          // the turn has begun or is ready to begin, or the subscription has no part in a run
	more      bool          // something has come since the turn began to look
	state     headState
	head      change        // comes before everything else; while it is told, the worker reads it without the lock
	headAt    time.Duration // when it was published, after Informer.epoch
}

// headState says what place.head is.
type headState uint8

const (
	noHead    headState = iota // there is none
	headWaits                  // the turn has not begun
	headTold                   // the handler is being called with it
)

// clear drops the head.
func (p *place) clear() { p.state, p.head = noHead, change{} }

// queue is a list of subscriptions that are ready: each has a turn that has not begun. The zero queue is empty.
type queue struct{ first, last *Subscription }

func (q *queue) push(s *Subscription) {
	if q.first == nil {
		q.first = s
	} else {
		q.last.place.after = s
	}
	q.last = s
}

func (q *queue) pop() *Subscription {
	s := q.first
	q.first, s.place.after = s.place.after, nil
	if q.first == nil {
		q.last = nil
	}
	return s
}

// open begins a run: each subscription has a first turn.
func (c *crew) open(r *run, subs []*Subscription) {
	c.mu.Lock()
	c.run, c.closed = r, false
	for _, s := range subs {
		c.joinLocked(s)
	}
	w := c.searchLocked()
	c.mu.Unlock()
	w.wakeUp()
}

// join gives a subscription its first turn in a run that is open.
func (c *crew) join(s *Subscription) {
	c.mu.Lock()
	c.joinLocked(s)
	w := c.searchLocked()
	c.mu.Unlock()
	w.wakeUp()
}

func (c *crew) joinLocked(s *Subscription) {
	s.place.busy, s.place.more = true, false
	c.ready.push(s)
}

// notify says that something waits for subscriptions. It may be called with Informer.mu and Subscription.mu held.
func (c *crew) notify(subs ...*Subscription) {
	c.mu.Lock()
	for _, s := range subs {
		c.notifyLocked(s)
	}
	w := c.searchLocked()
	c.mu.Unlock()
	w.wakeUp()
}

func (c *crew) notifyLocked(s *Subscription) {
	if s.place.busy {
		s.place.more = true
		return
	}
	s.place.busy = true
	c.ready.push(s)
}

// hand hands a change to those for which nothing waits, and notes which these are. It returns how many have not got it. It is
// called with Informer.mu held.
func (c *crew) hand(one *change, at time.Duration, subs []*Subscription) (left int) {
	c.mu.Lock()
	for _, s := range subs {
		p := &s.place
		if s.handed = !p.busy && s.config.Threshold != 0; !s.handed {
			left++
			continue
		}
		p.busy, p.state, p.head, p.headAt = true, headWaits, *one, at
		c.ready.push(s)
	}
	w := c.searchLocked()
	c.mu.Unlock()
	w.wakeUp()
	return left
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

// leave says that the run has ended.
func (c *crew) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = nil
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
	c.startLocked(nil)
	return nil
}

func (w *worker) wakeUp() {
	if w != nil {
		w.wake <- struct{}{}
	}
}

// startLocked starts a worker: in the turn of s, or, for nil, searching.
func (c *crew) startLocked(s *Subscription) {
	r := c.run
	r.wg.Go(func() { c.work(r, s) })
}

// goOn starts a worker that goes on with a turn whose callback has called runtime.Goexit.
func (c *crew) goOn(s *Subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.place.more = true
	c.startLocked(s)
}

// work is a worker's goroutine.
func (c *crew) work(r *run, s *Subscription) {
	w := &worker{wake: make(chan struct{}, 1), goroutine: goroutineID(), searching: s == nil}
	ended := false
	defer func() {
		if !ended && !s.crashing {
			c.goOn(s)
		}
	}()
	for {
		var prompt bool
		if s, prompt = c.next(r, w, s); s == nil {
			break
		}
		if prompt {
			s.call(r, &s.place.head, s.place.headAt)
		} else {
			s.turn(r)
		}
	}
	ended = true
}

// next ends a turn, if the worker has one, and waits for another one that can begin, which may be of the same subscription. If
// prompt is true, that begins with the head. It returns nil if the worker is to end.
func (c *crew) next(r *run, w *worker, done *Subscription) (s *Subscription, prompt bool) {
	c.mu.Lock()
	if done != nil && c.doneLocked(w, done) {
		c.mu.Unlock()
		return done, false
	}
	for c.ready.first == nil {
		c.foundLocked(w)
		if c.closed || len(c.parked) == maxParked {
			c.mu.Unlock()
			return nil, false
		}
		c.parked = append(c.parked, w)
		c.mu.Unlock()
		<-w.wake
		c.mu.Lock()
	}
	c.foundLocked(w)
	s = c.ready.pop()
	p := &s.place
	p.goroutine = w.goroutine
	if prompt = p.state == headWaits && !closed(r.over); prompt {
		p.state = headTold
	} else {
		p.more = false
	}
	other := c.searchLocked()
	c.mu.Unlock()
	other.wakeUp()
	return s, prompt
}

// doneLocked ends a turn, unless it has to look at more.
func (c *crew) doneLocked(w *worker, s *Subscription) (more bool) {
	p := &s.place
	if p.state == headTold {
		p.clear()
	}
	if s.left {
		return false // it stays busy, so it gets no other turn
	}
	if more = p.more; more {
		p.more, p.goroutine = false, w.goroutine
	} else {
		p.busy = false
	}
	return more
}

// foundLocked ends the worker's search, if it is searching.
func (c *crew) foundLocked(w *worker) {
	if w.searching {
		w.searching, c.searching = false, false
	}
}
