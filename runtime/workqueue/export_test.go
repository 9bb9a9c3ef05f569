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
	rest := [lines]int{}
	keys := 0
	for name, t := range q.tenants {
		if keys += t.keys; t.keys == 0 || t.name != name {
			all = append(all, fmt.Errorf("tenant %q has the name %q and %d keys", name, t.name, t.keys))
		}
		for n, own := range t.lines {
			state := ready
			if n == levels {
				state = paced
			}
			walk(own.rest, state, func(e *entry[K]) bool { return e.tenant == t && (state == paced || e.level == uint8(n)) })
			rest[n] += own.rest.n
			if own.first == nil && own.rest.n > 0 {
				all = append(all, fmt.Errorf("tenant %q has %d keys and no first one in line %d", name, own.rest.n, n))
			}
		}
	}
	if q.tenantOf != nil && keys != len(q.entries) {
		all = append(all, fmt.Errorf("tenants have %d of %d keys", keys, len(q.entries)))
	}
	walkLine := func(l line[K], as state, fits func(*entry[K]) bool) {
		walk(l.list, as, func(e *entry[K]) bool {
			return notRequeued(e) && fits(e) && (e.tenant == nil || e.tenant.lines[l.number].first == e)
		})
		if l.rest != rest[l.number] {
			all = append(all, fmt.Errorf("line %d counts %d further keys of tenants, not %d", l.number, l.rest, rest[l.number]))
		}
	}
	for n, l := range q.ready {
		walkLine(l, ready, func(e *entry[K]) bool { return e.level == uint8(n) })
	}
	walkLine(q.paced, paced, func(*entry[K]) bool { return true })
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
