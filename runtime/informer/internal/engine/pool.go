// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync"
	"time"
)

// pool is the handler pool: its workers are the goroutines of a run that call handlers. A worker
// takes a turn of one subscription: it calls the handler until nothing waits for it. Then it takes
// the next subscription that is ready. slot.go has the states of a subscription.
//
//	publish ─▶ ready: s ─▶ s ─▶ s       in a turn:  worker, worker
//	            ▲                       searching:  at most one that was woken or started
//	            └─ a turn may begin     parked:     at most two
//
// When a turn ends, its worker takes the next subscription from ready. If there is none, it parks
// or ends. A search ends in the same way: in a turn, parked, or with the worker's end. Before a
// worker begins a turn, it wakes or starts the next one if more subscriptions are ready.
//
// Whenever a subscription is ready, a worker that is not in a turn looks for it, or was woken or
// started to do so. So one goroutine serves any number of quick handlers. A handler that does not
// return keeps one goroutine, and delays no other handler.
type pool struct {
	informer *Informer // set once at construction

	// mu guards what follows, and each subscription's slot. Lock order: after Subscription.mu.
	mu        sync.Mutex
	run       *run // the run that was opened and has not ended, or nil
	ready     queue
	parked    []*worker   // wait on wake; the last one is woken first
	searching bool        // a worker was woken or started, and has not looked at ready yet
	workers   int         // how many were started and have not ended
	closed    bool        // no subscription becomes ready any more
	watchdog  *time.Timer // sets look; nil until it is first needed in this run
	watched   bool        // the watchdog is set
	look      bool        // a worker should look for callbacks that do not return
}

// maxParked is how many workers stay while there is nothing to do. With one, a second handler that
// is ready at the same time would need a new goroutine each time.
const maxParked = 2

// worker is a goroutine of a pool.
type worker struct {
	wake      chan struct{} // of capacity 1
	goroutine uint64
	searching bool // this is the worker for which pool.searching is true; pool.mu guards it
}

// queue is a list of subscriptions that are ready: each has a turn that has not begun. The zero
// queue is empty.
type queue struct{ first, last *Subscription }

func (q *queue) push(s *Subscription) {
	if q.first == nil {
		q.first = s
	} else {
		q.last.slot.after = s
	}
	q.last = s
}

func (q *queue) pop() *Subscription {
	s := q.first
	q.first, s.slot.after = s.slot.after, nil
	if q.first == nil {
		q.last = nil
	}
	return s
}

// open begins a run: each subscription gets a first turn.
func (p *pool) open(r *run, subs []*Subscription) {
	p.mu.Lock()
	p.run, p.closed = r, false
	p.mu.Unlock()
	p.join(subs...)
}

// join gives subscriptions their first turn in a run that is open.
func (p *pool) join(subs ...*Subscription) {
	p.mu.Lock()
	for _, s := range subs {
		p.joinLocked(s)
	}
	w := p.searchLocked()
	p.mu.Unlock()
	w.wakeUp()
}

// close lets the workers end when nothing is ready.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.parked {
		w.wake <- struct{}{}
	}
	p.parked = nil
}

// leave notes that the run has ended.
func (p *pool) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.run = nil
	p.unwatchLocked()
}

// searchLocked ensures that a worker looks at ready. It returns the worker that the caller has to
// wake, or nil.
func (p *pool) searchLocked() *worker {
	if p.ready.first == nil && !p.look || p.searching {
		return nil
	}
	p.searching = true
	if n := len(p.parked); n > 0 {
		w := p.parked[n-1]
		p.parked = p.parked[:n-1]
		w.searching = true
		return w
	}
	p.startLocked(nil)
	return nil
}

func (w *worker) wakeUp() {
	if w != nil {
		w.wake <- struct{}{}
	}
}

// startLocked starts a worker. It begins in the turn of s, or, if s is nil, by searching.
func (p *pool) startLocked(s *Subscription) {
	r := p.run
	p.workers++
	r.wg.Go(func() { p.work(r, s) })
}

// replace starts a worker in place of one that runtime.Goexit has ended. If that happened in a
// turn, the new worker continues the turn. Otherwise it happened in the logger.
func (p *pool) replace(s *Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case s != nil:
		s.slot.more = true
		p.startLocked(s)
	case !p.searching:
		p.searching = true
		p.startLocked(nil)
	}
	p.workers--
}

// work is a worker's goroutine.
func (p *pool) work(r *run, s *Subscription) {
	w := &worker{wake: make(chan struct{}, 1), goroutine: goroutineID(), searching: s == nil}
	ended := false
	defer func() {
		if !ended && (s == nil || !s.crashing) {
			p.replace(s)
		}
	}()
	over := false
	for {
		done, pending := s, false
		s = nil
		if s, pending = p.next(r, w, done, over); s == nil {
			break
		}
		if pending {
			s.begin(r)
			s.call(r, &s.slot.pending, s.slot.pendingAt)
			over = false
		} else {
			over = s.turn(r)
		}
	}
	ended = true
}

// next ends the worker's turn, if it has one, and waits until another turn can begin, which may be
// one of the same subscription. If pending is true, the worker has to deliver the pending event in
// it. next returns nil if the worker has to end.
func (p *pool) next(r *run, w *worker, done *Subscription, over bool) (s *Subscription, pending bool) {
	p.mu.Lock()
	if done != nil && p.endLocked(w, done, over) {
		p.mu.Unlock()
		return done, false
	}
	for p.ready.first == nil || p.look {
		p.endSearchLocked(w)
		switch {
		case p.look:
			p.lookLocked(r)
		case p.closed || len(p.parked) == maxParked:
			p.workers--
			p.mu.Unlock()
			return nil, false
		default:
			p.parked = append(p.parked, w)
			p.mu.Unlock()
			<-w.wake
			p.mu.Lock()
		}
	}
	p.endSearchLocked(w)
	s = p.ready.pop()
	pending = p.beginLocked(w, s, closed(r.over))
	other := p.searchLocked()
	p.mu.Unlock()
	other.wakeUp()
	return s, pending
}

// endSearchLocked ends the worker's search, if it is searching.
func (p *pool) endSearchLocked(w *worker) {
	if w.searching {
		w.searching, p.searching = false, false
	}
}
