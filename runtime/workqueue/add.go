// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"container/heap"
	"math"
	"time"
)

// later returns t + d, or the maximum on overflow.
func later(t, d time.Duration) time.Duration {
	if sum := t + d; sum >= t {
		return sum
	}
	return math.MaxInt64
}

func (q *Queue[K]) addLocked(key K, level uint8, after, now time.Duration) {
	due := later(now, max(0, after))
	if after > 0 {
		q.retries++
	}
	e := q.entries[key]
	if e == nil {
		q.comeLocked(q.newLocked(key, level), due, now, false)
		return
	}
	switch e.state {
	case running, held:
		q.addForLaterLocked(e, level, due, now)
	case ready:
		if level < e.level {
			q.unreadyLocked(e)
			e.level = level
			q.ready[level].push(e)
		}
	case paced:
		e.level = min(e.level, level)
		if after <= 0 {
			q.paced.remove(e)
			q.comeLocked(e, q.notBefore(e, due), now, false)
		}
	case delayed:
		e.level = min(e.level, level)
		if after <= 0 {
			e.retry = false
		}
		if due = q.notBefore(e, due); due < e.due {
			heap.Remove(&q.delays, e.index)
			q.comeLocked(e, due, now, false)
		}
	}
}

// newLocked returns an entry in no state.
func (q *Queue[K]) newLocked(key K, level uint8) *entry[K] {
	e := q.spare
	if e == nil {
		e = new(entry[K])
	} else {
		q.spare = e.next
	}
	*e = entry[K]{key: key, level: level}
	q.entries[key] = e
	q.most = max(q.most, len(q.entries))
	return e
}

// addForLaterLocked makes a running or held key come back afterwards: at once, or at due.
func (q *Queue[K]) addForLaterLocked(e *entry[K], level uint8, due, now time.Duration) {
	next := &e.addedLevel
	if e.state == held { // its own level is otherwise unused
		next = &e.level
	}
	if !e.again && !e.later {
		*next = level
	}
	*next = min(*next, level)
	switch {
	case due <= now && !e.again:
		e.again = true
		q.adds++
		if e.state == running { // a retry of a held key stays
			e.later, e.then = false, now
		}
	case due > now && (!e.later || due < e.then) && (e.state == held || !e.again):
		e.later, e.then, e.thenRetry = true, due, false
	}
}

// floor is the earliest time a failed key may run again.
func (q *Queue[K]) floor(e *entry[K]) time.Duration { return later(e.since, max(0, q.limiter.Base)) }

func (q *Queue[K]) notBefore(e *entry[K], due time.Duration) time.Duration {
	if e.failures == 0 {
		return due
	}
	return max(due, q.floor(e))
}

// comeLocked makes a key in no state ready now, or at due. A retry then waits for its turn.
func (q *Queue[K]) comeLocked(e *entry[K], due, now time.Duration, retry bool) {
	switch {
	case due > now:
		e.retry = retry
		q.waitLocked(e, delayed, due)
	case retry && q.pace.interval > 0:
		e.state = paced
		q.paced.push(e)
	default:
		q.adds++
		q.makeReadyLocked(e, due)
	}
}

func (q *Queue[K]) makeReadyLocked(e *entry[K], since time.Duration) {
	e.state, e.since = ready, since
	q.ready[e.level].push(e)
}

func (q *Queue[K]) waitLocked(e *entry[K], as state, due time.Duration) {
	q.pushed++
	e.state, e.due, e.order = as, due, q.pushed
	heap.Push(&q.delays, e)
}

func (q *Queue[K]) unreadyLocked(e *entry[K]) {
	if q.ready[e.level].remove(e); q.ready[e.level].n == 0 {
		q.passed[e.level] = 0
	}
}

// atOnce limits the delays ended in one step, and so the time under the lock. Each hand-out has two
// steps, Get and Done, so due delays do not pile up.
const atOnce = 8

// tickLocked ends due delays and takes turns for paced keys.
func (q *Queue[K]) tickLocked(now time.Duration) {
	for n := 0; n < atOnce && q.isDueLocked(now); n++ {
		q.comeUpLocked(now)
	}
	for q.paced.n > 0 && q.pace.take(now) {
		e := q.paced.first
		q.paced.remove(e)
		q.comeLocked(e, now, now, false)
	}
}

func (q *Queue[K]) isDueLocked(now time.Duration) bool {
	return len(q.delays) > 0 && q.delays[0].due <= now
}

func (q *Queue[K]) comeUpLocked(now time.Duration) {
	e := heap.Pop(&q.delays).(*entry[K])
	if e.state == held {
		q.endHoldLocked(e, now)
		return
	}
	q.comeLocked(e, e.due, now, e.retry)
}

// goneLocked removes a key that is in no list.
func (q *Queue[K]) goneLocked(e *entry[K]) {
	q.forgetLocked(e)
	delete(q.entries, e.key)
	*e = entry[K]{next: q.spare} // run 0 matches no Item
	q.spare = e
	if len(q.entries) == 0 && q.most > keptRoom {
		q.entries, q.delays, q.spare, q.most = map[K]*entry[K]{}, nil, nil, 0
	}
}

// keptRoom is the capacity, in keys, that an empty queue keeps.
const keptRoom = 2048
