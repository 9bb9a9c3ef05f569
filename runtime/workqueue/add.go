// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"container/heap"
	"math"
	"time"
)

// addTime returns t + d, or the maximum on overflow.
func addTime(t, d time.Duration) time.Duration {
	if sum := t + d; sum >= t {
		return sum
	}
	return math.MaxInt64
}

func (q *Queue[K]) addLocked(key K, tenant string, level uint8, after, now time.Duration) {
	due := addTime(now, max(0, after))
	if after > 0 {
		q.retries++
	}
	e := q.entries[key]
	if e == nil {
		q.enqueueLocked(q.newEntryLocked(key, tenant, level), due, now, false)
		return
	}
	switch e.state {
	case running, held:
		q.addForRequeueLocked(e, level, due, now)
	case ready:
		if level < e.level {
			q.removeReadyLocked(e)
			e.level = level
			q.ready[level].push(e)
		}
	case paced:
		e.level = min(e.level, level)
		if after <= 0 {
			q.paced.remove(e)
			q.enqueueLocked(e, q.clampDue(e, due), now, false)
		}
	case delayed:
		e.level = min(e.level, level)
		if after <= 0 {
			e.retry = false
		}
		if due = q.clampDue(e, due); due < e.due {
			heap.Remove(&q.delays, e.index)
			q.enqueueLocked(e, due, now, false)
		}
	}
}

// newEntryLocked adds an entry without a state.
func (q *Queue[K]) newEntryLocked(key K, tenant string, level uint8) *entry[K] {
	e := q.freeEntries
	if e == nil {
		e = new(entry[K])
	} else {
		q.freeEntries = e.next
	}
	*e = entry[K]{key: key, level: level}
	if q.tenantOf != nil {
		q.joinTenantLocked(e, tenant)
	}
	q.entries[key] = e
	q.maxEntries = max(q.maxEntries, len(q.entries))
	return e
}

// addForRequeueLocked requeues a running or held key after its run or hold: at once, or at due.
func (q *Queue[K]) addForRequeueLocked(e *entry[K], level uint8, due, now time.Duration) {
	next := &e.requeueLevel
	if e.state == held { // its own level is otherwise unused
		next = &e.level
	}
	if !e.requeue && !e.requeueLater {
		*next = level
	}
	*next = min(*next, level)
	e.purged = false
	switch {
	case due <= now && !e.requeue:
		e.requeue = true
		q.adds++
		if e.state == running { // a held key keeps its retry
			e.requeueLater, e.requeueAt = false, now
		}
	case due > now && (!e.requeueLater || due < e.requeueAt) && (e.state == held || !e.requeue):
		e.requeueLater, e.requeueAt, e.requeueRetry = true, due, false
	}
}

// earliestRetry returns the earliest time a failed key may run again.
func (q *Queue[K]) earliestRetry(e *entry[K]) time.Duration {
	return addTime(e.since, max(0, q.limiter.Base))
}

// clampDue returns due, but for a failed key not less than earliestRetry.
func (q *Queue[K]) clampDue(e *entry[K], due time.Duration) time.Duration {
	if e.failures == 0 {
		return due
	}
	return max(due, q.earliestRetry(e))
}

// enqueueLocked makes a key without a state ready now, or at due. A retry then waits for its turn.
func (q *Queue[K]) enqueueLocked(e *entry[K], due, now time.Duration, retry bool) {
	switch {
	case due > now:
		e.retry = retry
		q.waitLocked(e, delayed, due)
	case retry && q.retryRate.interval > 0:
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
	q.pushes++
	e.state, e.due, e.order = as, due, q.pushes
	heap.Push(&q.delays, e)
}

func (q *Queue[K]) removeReadyLocked(e *entry[K]) {
	if q.ready[e.level].remove(e); q.ready[e.level].n == 0 {
		q.passedOver[e.level] = 0
	}
}

// maxDelaysPerStep limits the time under the lock. Each hand-out has two steps, Get and Done, so
// due delays do not pile up.
const maxDelaysPerStep = 8

// tickLocked ends due delays and takes turns for paced keys.
func (q *Queue[K]) tickLocked(now time.Duration) {
	for n := 0; n < maxDelaysPerStep && q.hasDueDelayLocked(now); n++ {
		q.endDelayLocked(now)
	}
	for q.paced.n > 0 && q.retryRate.take(now) {
		e := q.paced.first
		q.paced.remove(e)
		q.enqueueLocked(e, now, now, false)
	}
}

func (q *Queue[K]) hasDueDelayLocked(now time.Duration) bool {
	return len(q.delays) > 0 && q.delays[0].due <= now
}

func (q *Queue[K]) endDelayLocked(now time.Duration) {
	e := heap.Pop(&q.delays).(*entry[K])
	if e.state == held {
		q.endHoldLocked(e, now)
		return
	}
	q.enqueueLocked(e, e.due, now, e.retry)
}

// removeLocked removes a key that is in no list.
func (q *Queue[K]) removeLocked(e *entry[K]) {
	q.forgetLocked(e)
	if e.tenant != nil {
		q.leaveTenantLocked(e)
	}
	delete(q.entries, e.key)
	*e = entry[K]{next: q.freeEntries} // run 0 matches no Item
	q.freeEntries = e
	if len(q.entries) == 0 && q.maxEntries > keptCapacity {
		q.entries, q.delays, q.freeEntries, q.maxEntries = map[K]*entry[K]{}, nil, nil, 0
		if q.tenantOf != nil {
			q.tenants = map[string]*tenant[K]{}
		}
	}
}

// keptCapacity is the capacity, in keys, that an empty queue keeps.
const keptCapacity = 2048
