// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// most is the highest number of consecutive hand-outs of a level while another one has a key.
const most = 16

// chooseLocked returns the level of the next hand-out. Low is due after it was passed over 15
// times, Normal one hand-out earlier in case both are due.
func (q *Queue[K]) chooseLocked() int {
	switch {
	case q.ready[2].n > 0 && q.passed[2] >= most-1:
		return 2
	case q.ready[1].n > 0 && q.passed[1] >= most-2:
		return 1
	case q.ready[0].n > 0:
		return 0
	case q.ready[1].n > 0:
		return 1
	}
	return 2
}

func (q *Queue[K]) takeLocked(now time.Duration) (item Item[K], ok bool) {
	q.tickLocked(now)
	if q.readyLocked() == 0 {
		return item, false
	}
	l := q.chooseLocked()
	for other := range q.ready {
		if q.ready[other].n > 0 {
			q.passed[other]++
		}
	}
	q.passed[l] = 0
	e := q.ready[l].first
	q.unreadyLocked(e)
	q.waited.count(max(0, now-e.since))
	q.runs++
	e.state, e.since, e.run = running, now, q.runs
	q.running.push(e)
	return Item[K]{
		Key: e.key, Level: levelOf(e.level), Failures: int(e.failures), queue: q, entry: e, run: e.run,
	}, true
}

func (q *Queue[K]) readyLocked() int { return q.ready[0].n + q.ready[1].n + q.ready[2].n }

// doneLocked ends a hand-out, unless it has ended already.
func (q *Queue[K]) doneLocked(e *entry[K], run uint64, o Outcome, now time.Duration) {
	if e.state != running || e.run != run {
		return
	}
	q.running.remove(e)
	q.worked.count(max(0, now-e.since))
	e.since = now
	q.countFailureLocked(e, o.Failed)
	switch {
	case !e.again && !e.later:
	case o.Failed || o.After > 0:
		e.level = min(e.level, e.addedLevel)
	default:
		e.level = e.addedLevel
	}
	if q.closed {
		q.doneClosedLocked(e, o, now)
		return
	}
	switch {
	case o.Failed:
		q.retries++
		at := later(now, q.limiter.delay(int(e.failures), rand.Float64()))
		if o.After > 0 {
			at = min(at, max(later(now, o.After), q.floor(e)))
		}
		e.then = max(e.then, q.floor(e)) // unused unless later
		if !e.later || at <= e.then {
			e.later, e.then, e.thenRetry = true, at, true
		}
	case o.After > 0 && !e.again:
		q.retries++
		if at := later(now, o.After); !e.later || at < e.then {
			e.later, e.then = true, at
		}
	}
	if o.Hold > 0 {
		q.held++
		q.waitLocked(e, held, later(now, o.Hold))
		return
	}
	q.comeBackLocked(e, now)
}

// comeBackLocked puts a key where it belongs after its run or hold.
func (q *Queue[K]) comeBackLocked(e *entry[K], now time.Duration) {
	again, later, then, retry := e.again, e.later, e.then, e.thenRetry
	e.again, e.later, e.thenRetry = false, false, false
	soon := q.floor(e)
	if later {
		soon = min(soon, then)
	}
	switch {
	case again && e.failures == 0:
		q.makeReadyLocked(e, then)
	case again && soon <= now:
		q.makeReadyLocked(e, now)
	case again:
		q.comeLocked(e, soon, now, false)
	case later:
		q.comeLocked(e, then, now, retry)
	default:
		q.goneLocked(e)
	}
}

// endHoldLocked ends the hold of a key already removed from the heap.
func (q *Queue[K]) endHoldLocked(e *entry[K], now time.Duration) {
	q.held--
	e.since = now
	if e.again && e.failures == 0 {
		e.then = now
	}
	q.comeBackLocked(e, now)
}

func (q *Queue[K]) releaseLocked(key K, now time.Duration) {
	if e := q.entries[key]; e != nil && e.state == held {
		heap.Remove(&q.delays, e.index)
		q.endHoldLocked(e, now)
	}
}

func (q *Queue[K]) countFailureLocked(e *entry[K], failed bool) {
	if !failed {
		q.forgetLocked(e)
		return
	}
	if e.failures == 0 {
		q.failing++
	}
	e.failures = min(e.failures, 254) + 1
}

func (q *Queue[K]) forgetLocked(e *entry[K]) {
	if e.failures > 0 {
		q.failing--
		e.failures = 0
	}
}
