// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"container/heap"
	"maps"
	"slices"
)

// purge is a call of Purge whose running keys are not all done. The queue's lock guards it.
type purge struct {
	runs  map[uint64]struct{} // numbers of hand-outs
	ended chan struct{}
}

// maxPurgedPerStep limits the time under the lock.
const maxPurgedPerStep = 256

// Purge drops the keys for which match returns true, for a program that is not responsible for them
// any more.
//
//   - A waiting key is removed, with its failures.
//   - A running key is gone when its [Item] is done, whatever the [Outcome], unless it is added
//     again before. Then the Outcome counts as usual.
//
// The channel is closed when the matching keys that were running are done; it is closed already if
// there were none. Keys added during the call may be dropped, too.
//
// match is called on the caller's goroutine, once for each key in the queue, without the queue's
// lock. Purge holds the lock to list the keys, for about 2 ms if there are 100,000, and then for
// 256 removed keys at a time.
func (q *Queue[K]) Purge(match func(key K) bool) (ended <-chan struct{}) {
	keys := slices.DeleteFunc(q.Keys(), func(key K) bool { return !match(key) })
	p := &purge{map[uint64]struct{}{}, make(chan struct{})}
	for some := range slices.Chunk(keys, maxPurgedPerStep) {
		now := q.now()
		q.mu.Lock()
		q.tickLocked(now)
		for _, key := range some {
			if e := q.entries[key]; e != nil {
				q.purgeLocked(e, p)
			}
		}
		q.checkEndLocked()
		q.unlockAndWake(now)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	maps.DeleteFunc(p.runs, func(run uint64, _ struct{}) bool { return !q.isRunningLocked(run) })
	if len(p.runs) == 0 {
		close(p.ended)
	} else {
		q.purges = append(q.purges, p)
	}
	return p.ended
}

func (q *Queue[K]) isRunningLocked(run uint64) bool {
	for e := q.running.first; e != nil; e = e.next {
		if e.run == run {
			return true
		}
	}
	return false
}

// Keys returns all keys in the queue, running ones included, in no order.
func (q *Queue[K]) Keys() []K {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.AppendSeq(make([]K, 0, len(q.entries)), maps.Keys(q.entries))
}

func (q *Queue[K]) purgeLocked(e *entry[K], p *purge) {
	switch e.state {
	case running:
		e.requeue, e.requeueLater, e.purged = false, false, true
		p.runs[e.run] = struct{}{}
		return
	case ready:
		q.removeReadyLocked(e)
	case paced:
		q.paced.remove(e)
	case held:
		q.heldKeys--
		heap.Remove(&q.delays, e.index)
	case delayed:
		heap.Remove(&q.delays, e.index)
	}
	q.removeLocked(e)
}

// endRunLocked tells calls of Purge about the end of a hand-out.
func (q *Queue[K]) endRunLocked(run uint64) {
	q.purges = slices.DeleteFunc(q.purges, func(p *purge) bool {
		delete(p.runs, run)
		if len(p.runs) > 0 {
			return false
		}
		close(p.ended)
		return true
	})
}
