// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Check returns an error if the lists of the queue contradict the states of its keys.
func (q *Queue[K]) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []error
	in := map[*entry[K]]state{}
	check := func(e *entry[K], as state, fits bool) {
		if _, twice := in[e]; twice || !fits || e.state != as || q.entries[e.key] != e {
			all = append(all, fmt.Errorf("key %v is in the list of state %d, and is %+v", e.key, as, e))
		}
		in[e] = as
	}
	walk := func(l list[K], as state, fits func(*entry[K]) bool) {
		var last *entry[K]
		n := 0
		for e := l.first; e != nil; last, e, n = e, e.next, n+1 {
			check(e, as, e.prev == last && fits(e))
		}
		if n != l.n || last != l.last {
			all = append(all, fmt.Errorf("list of state %d: %d of %d keys, the last one is %v, not %v", as, n, l.n, last, l.last))
		}
	}
	notRequeued := func(e *entry[K]) bool { return !e.requeue && !e.requeueLater }
	for n, l := range q.ready {
		walk(l, ready, func(e *entry[K]) bool { return notRequeued(e) && e.level == uint8(n) })
	}
	walk(q.paced, paced, notRequeued)
	walk(q.running, running, func(e *entry[K]) bool { return !(e.requeue && e.requeueLater) })
	for at, e := range q.delays {
		check(e, e.state, e.index == at && (e.state == held || e.state == delayed && notRequeued(e)))
		if at > 0 && q.delays.Less(at, (at-1)/2) {
			all = append(all, fmt.Errorf("delay %d of the heap is before its parent", at))
		}
	}
	if len(in) != len(q.entries) {
		all = append(all, fmt.Errorf("%d keys in the map, %d in lists", len(q.entries), len(in)))
	}
	return errors.Join(all...)
}

// Capacity returns the largest number of keys in the queue's map at once.
func (q *Queue[K]) Capacity() int { return q.maxEntries }

// Delays returns the size of the heap.
func (q *Queue[K]) Delays() int { return len(q.delays) }

// BucketOf returns the bucket of a duration.
func BucketOf(took time.Duration) int {
	var d durations
	d.count(took)
	return slices.Index(d.Counts[:], 1)
}

// DelayAfter returns the delay after a number of failures.
func (e Exponential) DelayAfter(failures int, random float64) time.Duration {
	return e.delay(failures, random)
}
