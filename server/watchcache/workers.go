// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"errors"
	"sync"
)

const (
	// batchesPerTurn is how many batches a watcher gets before the next watcher's turn.
	batchesPerTurn = 4
	// watchersPerPop is how many watchers a worker takes at once, to put them to sleep together.
	watchersPerPop = 64
)

// readyQueue holds the watchers waiting for a worker, each at most once.
type readyQueue struct {
	changed sync.Cond // of mu

	mu       sync.Mutex // mu guards what follows
	watchers []*Watcher
	next     int // index of the first one
	stopped  bool
}

func (q *readyQueue) push(watchers []*Watcher) {
	if len(watchers) == 0 {
		return
	}
	q.mu.Lock()
	// If the workers are so busy that the queue is never empty, reuse the room of taken watchers.
	left := len(q.watchers) - q.next
	if left == 0 || left <= q.next && len(q.watchers)+len(watchers) > cap(q.watchers) {
		n := copy(q.watchers, q.watchers[q.next:])
		clear(q.watchers[n:])
		q.watchers, q.next = q.watchers[:n], 0
	}
	q.watchers = append(q.watchers, watchers...)
	q.mu.Unlock()
	if len(watchers) == 1 {
		q.changed.Signal()
	} else {
		q.changed.Broadcast()
	}
}

// pop waits for watchers and moves some of them to the front of all, leaving a part for other
// workers. It returns their number; 0 when the queue is stopped and empty.
func (q *readyQueue) pop(all []*Watcher) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.next == len(q.watchers) {
		if q.stopped {
			return 0
		}
		q.changed.Wait()
	}
	waiting := q.watchers[q.next:]
	n := copy(all, waiting[:(len(waiting)+3)/4])
	clear(waiting[:n])
	q.next += n
	return n
}

func (q *readyQueue) stop() {
	q.mu.Lock()
	q.stopped = true
	q.mu.Unlock()
	q.changed.Broadcast()
}

func (c *Cache) work() {
	events := make([]Event, 0, batchEvents)
	watchers := make([]*Watcher, watchersPerPop)
	for n := c.ready.pop(watchers); n > 0; n = c.ready.pop(watchers) {
		sent := 0
		for i, w := range watchers[:n] {
			delivered, done := w.deliver(events)
			if sent += delivered; !done {
				watchers[i] = nil
			}
		}
		c.sent.Add(int64(sent))
		c.sleep(watchers[:n])
		clear(watchers[:n])
	}
}

// deliver calls receive until the watcher has read everything, is blocked, or has had its turns. It
// returns the number of events, and true if the watcher may be put to sleep. events has room for a
// batch.
func (w *Watcher) deliver(events []Event) (sent int, done bool) {
	for range batchesPerTurn {
		batch, err := w.read(events[:0])
		switch {
		case errors.Is(err, errClosed):
			return sent, false
		case err != nil:
			w.receive(nil, err)
			return sent, false
		case len(batch) == 0:
			return sent, true
		}
		sent += len(batch)
		more := w.receive(batch, nil)
		clear(batch)
		if !more && !w.wantsMore() {
			return sent, false
		}
		if w.pending == nil && !w.position.Load().hasNext() {
			return sent, true
		}
	}
	return sent, true
}

// wantsMore reports whether a watcher gets more although receive has returned false: because Ready
// was called meanwhile, or to learn of its end.
func (w *Watcher) wantsMore() bool {
	if w.flow.CompareAndSwap(flowing, blocked) {
		return w.ended.Load() != nil && w.flow.CompareAndSwap(blocked, flowing)
	}
	w.flow.Store(flowing)
	return true
}
