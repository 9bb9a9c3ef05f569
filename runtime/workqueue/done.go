// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// maxConsecutive is the highest number of consecutive hand-outs of a level while another one has a
// key.
const maxConsecutive = 16

// nextLevelLocked returns the level of the next hand-out. Low is due after it was passed over 15
// times, Normal one hand-out earlier in case both are due.
func (q *Queue[K]) nextLevelLocked() int {
	switch {
	case q.ready[2].n > 0 && q.passedOver[2] >= maxConsecutive-1:
		return 2
	case q.ready[1].n > 0 && q.passedOver[1] >= maxConsecutive-2:
		return 1
	case q.ready[0].n > 0:
		return 0
	case q.ready[1].n > 0:
		return 1
	}
	return 2
}

func (q *Queue[K]) handOutLocked(now time.Duration) (item Item[K], ok bool) {
	q.tickLocked(now)
	if !q.hasReadyLocked() {
		return item, false
	}
	l := q.nextLevelLocked()
	for other := range q.ready {
		if q.ready[other].n > 0 {
			q.passedOver[other]++
		}
	}
	q.passedOver[l] = 0
	e := q.ready[l].first
	q.removeReadyLocked(e)
	q.waited.count(max(0, now-e.since))
	q.handOuts++
	e.state, e.since, e.run = running, now, q.handOuts
	q.running.push(e)
	return Item[K]{
		Key: e.key, Level: levelOf(e.level), Failures: int(e.failures), queue: q, entry: e, run: e.run,
	}, true
}

func (q *Queue[K]) hasReadyLocked() bool { return q.ready[0].n+q.ready[1].n+q.ready[2].n > 0 }

// doneLocked ends a hand-out, unless it has ended already.
func (q *Queue[K]) doneLocked(e *entry[K], run uint64, o Outcome, now time.Duration) {
	if e.state != running || e.run != run {
		return
	}
	if e.purged {
		o = Outcome{}
	}
	q.running.remove(e)
	if len(q.purges) > 0 {
		q.endRunLocked(run)
	}
	q.worked.count(max(0, now-e.since))
	e.since = now
	q.countFailureLocked(e, o.Failed)
	switch {
	case !e.requeue && !e.requeueLater:
	case o.Failed || o.After > 0:
		e.level = min(e.level, e.requeueLevel)
	default:
		e.level = e.requeueLevel
	}
	if q.closed {
		q.doneAfterCloseLocked(e, o, now)
		return
	}
	switch {
	case o.Failed:
		q.retries++
		at := addTime(now, q.limiter.delay(int(e.failures), rand.Float64()))
		if o.After > 0 {
			at = min(at, max(addTime(now, o.After), q.earliestRetry(e)))
		}
		e.requeueAt = max(e.requeueAt, q.earliestRetry(e)) // unused unless requeueLater
		if !e.requeueLater || at <= e.requeueAt {
			e.requeueLater, e.requeueAt, e.requeueRetry = true, at, true
		}
	case o.After > 0 && !e.requeue:
		q.retries++
		if at := addTime(now, o.After); !e.requeueLater || at < e.requeueAt {
			e.requeueLater, e.requeueAt = true, at
		}
	}
	if o.Hold > 0 {
		q.heldKeys++
		q.waitLocked(e, held, addTime(now, o.Hold))
		return
	}
	q.requeueLocked(e, now)
}

// requeueLocked gives a key its next state after its run or hold.
func (q *Queue[K]) requeueLocked(e *entry[K], now time.Duration) {
	requeue, later, at, retry := e.requeue, e.requeueLater, e.requeueAt, e.requeueRetry
	e.requeue, e.requeueLater, e.requeueRetry = false, false, false
	soon := q.earliestRetry(e)
	if later {
		soon = min(soon, at)
	}
	switch {
	case requeue && e.failures == 0:
		q.makeReadyLocked(e, at)
	case requeue && soon <= now:
		q.makeReadyLocked(e, now)
	case requeue:
		q.enqueueLocked(e, soon, now, false)
	case later:
		q.enqueueLocked(e, at, now, retry)
	default:
		q.removeLocked(e)
	}
}

// endHoldLocked ends the hold of a key already removed from the heap.
func (q *Queue[K]) endHoldLocked(e *entry[K], now time.Duration) {
	q.heldKeys--
	e.since = now
	if e.requeue && e.failures == 0 {
		e.requeueAt = now
	}
	q.requeueLocked(e, now)
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
		q.failingKeys++
	}
	e.failures = min(e.failures, 254) + 1
}

func (q *Queue[K]) forgetLocked(e *entry[K]) {
	if e.failures > 0 {
		q.failingKeys--
		e.failures = 0
	}
}
