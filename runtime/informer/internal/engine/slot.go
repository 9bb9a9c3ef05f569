// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
)

// slot is the part of a subscription that pool.mu guards: its turns, and what was published for it
// since it last looked. Every transition is one method of this file, and one critical section:
//
//	absent      not in a run, or no longer                 ──join──▶ ready
//	idle        nothing waits                              ──publish, notify──▶ ready
//	ready       in the pool's queue                        ──begin──▶ delivering, if an event is
//	                                                       pending; else turning
//	delivering  the handler is called with that event      ──end──▶ idle; turning, if more came
//	turning     looks at what waits, and delivers it       ──end──▶ idle; turning, if more came;
//	                                                       absent, if the run is over or the
//	                                                       subscription was removed
//
// An idle subscription has nothing waiting. A change that comes alone becomes its pending event:
// the worker calls the handler with it, and looks at nothing else. All other work is in the tail,
// or, under Subscription.mu, in the replays or due as a resync. A turn looks at all of that. When
// work is added during a turn, more is set. No work is overlooked, because it is added before more
// is set, and the end of a turn reads more in the same critical section in which the subscription
// becomes idle. A change that comes alone costs its publisher one lock, with any number of
// handlers, and each delivery of it one more.
//
// A subscription that was removed has no pending event and no tail, and gets none.
type slot struct {
	state     slotState
	more      bool
	removed   bool
	after     *Subscription     // the next one that is ready
	goroutine uint64            // the number of the one that has the turn, or had it last
	pending   changelog.Change  // is delivered first; the worker reads it without the lock
	pendingAt time.Duration     // when it was published, since Informer.epoch
	tail      changelog.Stretch // what was logged since the last fetch
}

type slotState uint8

const (
	absent slotState = iota
	idle
	ready
	delivering
	turning
)

// pendingWaits reports whether there is a pending event whose callback has not begun.
func (sl *slot) pendingWaits() bool { return sl.pending.Type != 0 && sl.state != delivering }

// joinLocked gives a subscription its first turn in a run. If the previous run ended before the
// pending event was delivered, that is delivered first. It counts as published now: its callback
// begins at about that time (see statusLocked).
func (p *pool) joinLocked(s *Subscription) {
	if s.slot.more = s.slot.pendingWaits(); s.slot.more {
		s.slot.pendingAt = p.informer.now()
	}
	s.slot.state = ready
	p.ready.push(s)
}

// publish hands changes to the subscriptions: a single change becomes the pending event of those
// that are idle; everything else goes through the log. It takes as long for many changes as for
// one. It reports whether the log has kept the slice, and appends the subscriptions that lag to
// laggards. It is called with Informer.mu held, which guards the log.
func (p *pool) publish(log *changelog.Log, changes []changelog.Change, at time.Duration, subs []*Subscription, laggards []laggard) (kept bool, _ []laggard) {
	alone := len(changes) == 1
	var filled *changelog.Batch
	p.mu.Lock()
	for _, s := range subs {
		sl := &s.slot
		switch {
		case sl.removed:
			continue
		case alone && sl.state == idle && s.config.Threshold != 0:
			sl.state, sl.pending, sl.pendingAt = ready, changes[0], at
			p.ready.push(s)
			continue
		case filled == nil:
			filled = log.Append(changes, at)
		}
		sl.tail.Extend(filled)
		logged := s.logged.Add(int64(len(changes)))
		p.notifyLocked(s)
		if l := newLaggard(s, logged); l.lags(l.taken) || s.slow.Load() {
			laggards = append(laggards, l)
		}
	}
	w := p.searchLocked()
	p.mu.Unlock()
	w.wakeUp()
	return filled != nil && !alone, laggards
}

// notify gives subscriptions a turn, because something waits for them. It may be called with
// Informer.mu and Subscription.mu held.
func (p *pool) notify(subs ...*Subscription) {
	p.mu.Lock()
	for _, s := range subs {
		p.notifyLocked(s)
	}
	w := p.searchLocked()
	p.mu.Unlock()
	w.wakeUp()
}

func (p *pool) notifyLocked(s *Subscription) {
	if s.slot.state == idle {
		s.slot.state = ready
		p.ready.push(s)
		return
	}
	s.slot.more = true
}

// beginLocked begins the turn of a subscription that was ready. It reports whether the worker has
// to deliver the pending event.
func (p *pool) beginLocked(w *worker, s *Subscription, over bool) (pending bool) {
	sl := &s.slot
	sl.goroutine = w.goroutine
	if pending = sl.pendingWaits() && !over; pending {
		sl.state = delivering
	} else {
		sl.state, sl.more = turning, false
	}
	p.watchLocked()
	return pending
}

// endLocked ends a turn. It returns true if more has come meanwhile: then the next turn has begun.
// over reports that the subscription's part in the run has ended.
func (p *pool) endLocked(w *worker, s *Subscription, over bool) (again bool) {
	sl := &s.slot
	if sl.state == delivering {
		sl.pending = changelog.Change{}
	}
	again = sl.more && !over
	switch sl.more = false; {
	case over:
		sl.state = absent
	case again:
		sl.state, sl.goroutine = turning, w.goroutine
	default:
		sl.state = idle
	}
	return again
}

// fetch takes the tail out of the slot.
func (p *pool) fetch(s *Subscription) changelog.Stretch {
	p.mu.Lock()
	defer p.mu.Unlock()
	tail := s.slot.tail
	s.slot.tail = changelog.Stretch{}
	return tail
}

// remove drops what waits, so that no further callback begins, and gives the subscription a last
// turn, which ends its timer and its recorder. It reports whether the pending event is being
// delivered, and returns the number of the goroutine that had the last turn. It is called with
// Subscription.mu held.
func (p *pool) remove(s *Subscription) (running bool, goroutine uint64) {
	p.mu.Lock()
	sl := &s.slot
	if running = sl.state == delivering; !running {
		sl.pending = changelog.Change{}
	}
	sl.removed, sl.tail = true, changelog.Stretch{}
	s.took = s.logged.Load()
	goroutine = sl.goroutine
	p.notifyLocked(s)
	w := p.searchLocked()
	p.mu.Unlock()
	w.wakeUp()
	return running, goroutine
}

// view is what Status and measure see of a slot.
type view struct {
	delivering, waits bool // the pending event is being delivered, or waits
	pending           changelog.Change
	pendingAt         time.Duration
	logged            int64
	tail              changelog.Stretch
	tailAt            time.Duration // when its first change was published, if there is one
}

func (p *pool) view(s *Subscription) view {
	p.mu.Lock()
	defer p.mu.Unlock()
	sl := &s.slot
	v := view{delivering: sl.state == delivering, waits: sl.pendingWaits(), pending: sl.pending, pendingAt: sl.pendingAt, logged: s.logged.Load(), tail: sl.tail}
	if sl.tail.Len() > 0 {
		_, v.tailAt = sl.tail.Next()
	}
	return v
}
