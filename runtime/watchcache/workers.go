// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"errors"
	"sync"
)

// turns is how many batches a watcher gets before it is the next one's turn.
const turns = 4

// readyQueue has the watchers that wait for a worker, each at most once.
type readyQueue struct {
	changed sync.Cond // of mu

	mu       sync.Mutex // mu guards what follows
	watchers []*Watcher
	next     int // index of the first one
	stopped  bool
}

// push adds watchers.
func (q *readyQueue) push(watchers []*Watcher) {
	if len(watchers) == 0 {
		return
	}
	q.mu.Lock()
	if q.next == len(q.watchers) {
		q.watchers, q.next = q.watchers[:0], 0
	}
	q.watchers = append(q.watchers, watchers...)
	q.mu.Unlock()
	if len(watchers) == 1 {
		q.changed.Signal()
	} else {
		q.changed.Broadcast()
	}
}

// pop waits for a watcher and takes it out. It returns nil when the queue is stopped and empty.
func (q *readyQueue) pop() *Watcher {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.next == len(q.watchers) {
		if q.stopped {
			return nil
		}
		q.changed.Wait()
	}
	w := q.watchers[q.next]
	q.watchers[q.next] = nil
	q.next++
	return w
}

func (q *readyQueue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.changed.Broadcast()
}

// work serves watchers until the cache stops.
func (c *Cache) work() {
	events := make([]Event, 0, batchEvents)
	for w := c.ready.pop(); w != nil; w = c.ready.pop() {
		w.serve(events)
	}
}

// serve calls receive until the watcher is asleep, or blocked, or has had its turns. events has
// room for a batch.
func (w *Watcher) serve(events []Event) {
	for range turns {
		batch, err := w.read(events[:0])
		switch {
		case errors.Is(err, errClosed):
			return
		case err != nil:
			w.receive(nil, err)
			return
		case len(batch) == 0:
			return
		}
		more := w.receive(batch, nil)
		clear(batch)
		if !more && !w.flows() {
			return
		}
	}
	w.c.ready.push([]*Watcher{w})
}

// flows reports whether a watcher gets more although receive has returned false: because Ready was
// called meanwhile, or to learn that it has ended.
func (w *Watcher) flows() bool {
	if w.flow.CompareAndSwap(flowing, blocked) {
		return w.ended.Load() != nil && w.flow.CompareAndSwap(blocked, flowing)
	}
	w.flow.Store(flowing)
	return true
}
