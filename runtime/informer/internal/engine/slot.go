// SPDX-License-Identifier: Apache-2.0

package engine

import "time"

// slot is the part of a subscription that pool.mu guards: its turns, and what was published for it
// since it last looked. Every transition is one method of this file, and one critical section:
//
//	absent    not in a run, or its part in it is over  ──join──▶ ready
//	idle      nothing waits                            ──publish, notify──▶ ready
//	ready     in the pool's queue                      ──begin──▶ telling, if there is a head; else turning
//	telling   the handler is called with the head      ──end──▶ idle; turning if more has come
//	turning   looks at what waits, and delivers it     ──end──▶ idle; turning if more has come; absent if the
//	                                                            run is over, or it was removed
//
// An idle subscription has nothing waiting. A change that comes alone is its head: the handler is
// called with it without another look. Everything else is in the tail, or, under Subscription.mu,
// in the replays or due as a resync. A turn looks at all of that; more is set for whatever comes
// since it began to. So nothing is overlooked: what comes is there before more is set, and the end
// of a turn looks at more in the section in which the subscription becomes idle. A change that
// comes alone costs its publisher one lock, with any number of handlers, and each delivery of it
// another one.
//
// What was removed has no head and no tail, and gets none.
type slot struct {
	state     slotState
	more      bool
	removed   bool
	after     *Subscription // the next one that is ready
	goroutine uint64        // that has the turn, or had it last
	head      change        // comes before all else; the worker reads it without the lock
	headAt    time.Duration // when it was published, after Informer.epoch
	tail      stretch       // what was logged since a turn has looked
}

type slotState uint8

const (
	absent slotState = iota
	idle
	ready
	telling
	turning
)

// headWaits reports whether there is a head whose callback has not begun.
func (sl *slot) headWaits() bool { return sl.head.kind != 0 && sl.state != telling }

// joinLocked gives a subscription its first turn in a run. If the run before has ended before its
// head was told, that comes before the turn.
func (p *pool) joinLocked(s *Subscription) {
	s.slot.state, s.slot.more = ready, s.slot.headWaits()
	p.ready.push(s)
}

// publish gives changes to the subscriptions: as their head, if it is one change and they are idle;
// else by way of the log. It takes as long for many changes as for one. It reports whether the log
// has kept the slice, and appends those that lag to laggards. It is called with Informer.mu held,
// which guards the log.
func (p *pool) publish(log *changeLog, changes []change, at time.Duration, subs []*Subscription, laggards []laggard) (kept bool, _ []laggard) {
	alone := len(changes) == 1
	var filled *node
	p.mu.Lock()
	for _, s := range subs {
		sl := &s.slot
		switch {
		case sl.removed:
			continue
		case alone && sl.state == idle && s.config.Threshold != 0:
			sl.state, sl.head, sl.headAt = ready, changes[0], at
			p.ready.push(s)
			continue
		case filled == nil:
			filled = log.append(changes, at)
		}
		sl.tail.extend(filled)
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

// notify says that something waits for subscriptions. It may be called with Informer.mu and
// Subscription.mu held.
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

// beginLocked begins the turn of a subscription that was ready. It reports whether that is to tell
// the head.
func (p *pool) beginLocked(w *worker, s *Subscription, over bool) (head bool) {
	sl := &s.slot
	sl.goroutine = w.goroutine
	if head = sl.headWaits() && !over; head {
		sl.state = telling
	} else {
		sl.state, sl.more = turning, false
	}
	p.watchLocked()
	return head
}

// endLocked ends a turn, unless there is more to look at: then another turn has begun. The
// subscription's part in the run may be over.
func (p *pool) endLocked(w *worker, s *Subscription, over bool) (again bool) {
	sl := &s.slot
	if sl.state == telling {
		sl.head = change{}
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

// fetch takes the tail.
func (p *pool) fetch(s *Subscription) stretch {
	p.mu.Lock()
	defer p.mu.Unlock()
	tail := s.slot.tail
	s.slot.tail = stretch{}
	return tail
}

// remove drops what waits, so that no callback begins any more, and gives the subscription a last
// turn, which ends what belongs to the run. It reports whether the handler is being told the head,
// and which goroutine had the last turn. It is called with Subscription.mu held.
func (p *pool) remove(s *Subscription) (told bool, goroutine uint64) {
	p.mu.Lock()
	sl := &s.slot
	if told = sl.state == telling; !told {
		sl.head = change{}
	}
	sl.removed, sl.tail = true, stretch{}
	s.took = s.logged.Load()
	goroutine = sl.goroutine
	p.notifyLocked(s)
	w := p.searchLocked()
	p.mu.Unlock()
	w.wakeUp()
	return told, goroutine
}

// view is what others see of a slot.
type view struct {
	told, waits bool // the head
	head        change
	headAt      time.Duration
	tailAt      time.Duration // when the first change of the tail was published, if there is one
}

func (p *pool) view(s *Subscription) view {
	p.mu.Lock()
	defer p.mu.Unlock()
	sl := &s.slot
	v := view{told: sl.state == telling, waits: sl.headWaits(), head: sl.head, headAt: sl.headAt}
	if sl.tail.left > 0 {
		_, v.tailAt = sl.tail.next()
	}
	return v
}
