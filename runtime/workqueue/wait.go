// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"context"
	"math"
	"time"
)

// Get waits for a ready key and hands it out. The caller works on it and calls [Item.Done]. The
// error is [ErrShutDown] when nothing more will be handed out, or context.Cause(ctx) if ctx ends
// first. Then there is no item.
func (q *Queue[K]) Get(ctx context.Context) (Item[K], error) {
	if ctx.Err() != nil {
		return Item[K]{}, context.Cause(ctx)
	}
	now := q.now()
	q.mu.Lock()
	for {
		if item, ok := q.handOutLocked(now); ok {
			q.unlockAndWake(now)
			return item, nil
		}
		if q.isExhaustedLocked() {
			q.mu.Unlock()
			return Item[K]{}, ErrShutDown
		}
		q.waitingWorkers++
		q.armLocked(now)
		q.mu.Unlock()
		woken := false
		select {
		case <-q.wake:
			woken = true
		case <-q.exhausted:
		case <-ctx.Done():
		}
		now = q.now()
		q.mu.Lock()
		q.waitingWorkers--
		if woken {
			q.waking = false
		} else if ctx.Err() != nil {
			q.mu.Unlock() // any value of wake is for another worker
			return Item[K]{}, context.Cause(ctx)
		}
	}
}

// unlockAndWake ends an operation that may have made a key ready or delayed one. It wakes one
// worker, which takes a key and, if there is more, wakes the next. So a quick worker does the work
// of many keys for one wake-up, and slow ones are all woken soon.
func (q *Queue[K]) unlockAndWake(now time.Duration) {
	wakes := q.waitingWorkers > 0 && !q.waking && q.hasReadyLocked()
	if wakes {
		q.waking = true
	}
	q.armLocked(now)
	q.mu.Unlock() // first, so the worker finds it free
	if wakes {
		q.wake <- struct{}{} // has room for one
	}
}

// armLocked sets the timer to the next possible hand-out if a worker waits. A worker being woken
// does that itself.
func (q *Queue[K]) armLocked(now time.Duration) {
	if q.waitingWorkers == 0 || q.waking {
		return
	}
	next := time.Duration(math.MaxInt64)
	if len(q.delays) > 0 {
		next = q.delays[0].due
	}
	if q.paced.n > 0 {
		next = min(next, q.retryRate.nextTurn())
	}
	if next == math.MaxInt64 || q.timerDue != 0 && q.timerDue <= next {
		return
	}
	q.timerDue = max(next, now+1)
	if q.timer == nil {
		q.timer = time.AfterFunc(q.timerDue-now, q.fire)
		return
	}
	q.timer.Reset(q.timerDue - now)
}

func (q *Queue[K]) fire() {
	now := q.now()
	q.mu.Lock()
	if q.timerDue > now { // reset while it fired
		q.mu.Unlock()
		return
	}
	q.timerDue = 0
	q.tickLocked(now)
	q.unlockAndWake(now)
}
