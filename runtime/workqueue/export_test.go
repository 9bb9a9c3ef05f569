// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Check returns an error if the parts of the queue don't fit together.
func (q *Queue[K]) Check() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []error
	in := map[*entry[K]]state{}
	note := func(e *entry[K], as state, fits bool) {
		if _, twice := in[e]; twice || !fits || e.state != as || q.entries[e.key] != e {
			all = append(all, fmt.Errorf("key %v is where those of state %d are, and is %+v", e.key, as, e))
		}
		in[e] = as
	}
	walk := func(l list[K], as state, fits func(*entry[K]) bool) {
		var last *entry[K]
		n := 0
		for e := l.first; e != nil; last, e, n = e, e.next, n+1 {
			note(e, as, e.prev == last && fits(e))
		}
		if n != l.n || last != l.last {
			all = append(all, fmt.Errorf("state %d: %d of %d keys, the last one is %v, not %v", as, n, l.n, last, l.last))
		}
	}
	none := func(e *entry[K]) bool { return !e.again && !e.later }
	for n, l := range q.ready {
		walk(l, ready, func(e *entry[K]) bool { return none(e) && e.level == uint8(n) })
	}
	walk(q.paced, paced, none)
	walk(q.running, running, func(e *entry[K]) bool { return !(e.again && e.later) })
	for at, e := range q.delays {
		note(e, e.state, e.index == at && (e.state == held || e.state == delayed && none(e)))
		if at > 0 && q.delays.Less(at, (at-1)/2) {
			all = append(all, fmt.Errorf("delay %d of the heap is before its parent", at))
		}
	}
	if len(in) != len(q.entries) {
		all = append(all, fmt.Errorf("%d keys in the map, %d somewhere", len(q.entries), len(in)))
	}
	return errors.Join(all...)
}

// Room returns how many keys the queue's map has had at once.
func (q *Queue[K]) Room() int { return q.most }

// Delays returns how many times are in the heap.
func (q *Queue[K]) Delays() int { return len(q.delays) }

// BucketOf returns which bucket counts a duration.
func BucketOf(took time.Duration) int {
	var d durations
	d.count(took)
	return slices.Index(d.Counts[:], 1)
}

// DelayAfter returns the delay after so many failures.
func (e Exponential) DelayAfter(failures int, random float64) time.Duration {
	return e.delay(failures, random)
}
