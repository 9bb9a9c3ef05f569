// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// entry is a key in the queue.
//
//	            ┌──────────── delay, failure ────────────┐
//	            ▼                                        │
//	add ─▶ delayed ─▶ paced (after a failure) ─▶ ready ─▶ running ─▶ gone
//	 │                                             ▲     │
//	 └──────────────────── now ────────────────────┘     └─▶ held ─▶ any of these
//
// The queue's lock guards it. Times count from the creation of the queue.
type entry[K comparable] struct {
	key        K
	tenant     *tenant[K]    // nil unless the queue was made by NewFair
	next, prev *entry[K]     // in the ready, paced or running list
	since      time.Duration // when it became ready or running, or its last attempt failed
	due        time.Duration // end of the wait while delayed or held
	order      uint64        // breaks ties of due
	index      int           // in Queue.delays, while delayed or held
	run        uint64        // number of its last hand-out
	state      state
	level      uint8 // by number
	failures   uint8
	retry      bool // while delayed: after a failure, so it will be paced
	purged     bool // while running: the outcome doesn't count

	// Set by adds and outcomes during a run or hold, in effect after it.
	requeue      bool // ready at once
	requeueLater bool // ready at requeueAt; as a retry if requeueRetry
	requeueRetry bool
	requeueLevel uint8 // while running: the level of the add
	requeueAt    time.Duration
}

type state uint8

const (
	gone state = iota // not in the queue
	ready
	running
	paced // waits for Options.RetryRate
	delayed
	held // waits for Release
)

type list[K comparable] struct {
	first, last *entry[K]
	n           int
}

func (l *list[K]) push(e *entry[K]) {
	e.prev, e.next = l.last, nil
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.n++
}

func (l *list[K]) remove(e *entry[K]) {
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
	l.n--
}

// delays is a [heap.Interface] of entries that wait for a time, the earliest first.
type delays[K comparable] []*entry[K]

func (d delays[K]) Len() int { return len(d) }

func (d delays[K]) Less(i, j int) bool {
	return d[i].due < d[j].due || d[i].due == d[j].due && d[i].order < d[j].order
}

func (d delays[K]) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].index, d[j].index = i, j
}

func (d *delays[K]) Push(x any) {
	e := x.(*entry[K])
	e.index = len(*d)
	*d = append(*d, e)
}

func (d *delays[K]) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return e
}
