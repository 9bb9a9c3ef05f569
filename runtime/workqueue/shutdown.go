// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Mode tells [Queue.ShutDown] how to treat waiting keys.
type Mode uint8

const (
	// Drop hands out nothing more.
	Drop Mode = iota
	// Finish hands out ready keys. It drops delayed and held keys, and keys added while they run.
	Finish
	// Drain hands out ready keys, and once more those added before the shutdown while they ran. It
	// drops keys that are delayed or held, or would be after their run.
	Drain
)

const maxDroppedKeys = 100

func (q *Queue[K]) closeLocked(mode Mode, now time.Duration) {
	if !q.closed {
		q.tickLocked(now)
		for q.hasDueDelayLocked(now) { // a key whose delay has ended counts as ready
			q.endDelayLocked(now)
		}
		q.closed, q.mode = true, min(mode, Drain)
		q.dropWaitingLocked()
		if q.timer != nil {
			q.timer.Stop()
			q.timerDue = 0
		}
	}
	if q.mode = min(q.mode, mode); q.mode == Drop {
		for l := range q.ready {
			for q.ready[l].n > 0 {
				e := q.ready[l].first
				q.removeReadyLocked(e)
				q.dropLocked(e)
			}
		}
	}
	q.checkEndLocked()
}

func (q *Queue[K]) dropWaitingLocked() {
	for q.paced.n > 0 {
		e := q.paced.first
		q.paced.remove(e)
		q.dropLocked(e)
	}
	waiting := q.delays
	q.delays, q.heldKeys = nil, 0
	for _, e := range waiting {
		if e.state == held && !e.requeue && !e.requeueLater {
			q.removeLocked(e)
		} else {
			q.dropLocked(e)
		}
	}
}

// dropLocked drops a key that is in no list.
func (q *Queue[K]) dropLocked(e *entry[K]) {
	q.dropped++
	if len(q.droppedKeys) < maxDroppedKeys {
		q.droppedKeys = append(q.droppedKeys, e.key)
	}
	q.removeLocked(e)
}

func (q *Queue[K]) doneAfterCloseLocked(e *entry[K], o Outcome, now time.Duration) {
	switch {
	case e.requeue && q.mode == Drain && o.Hold <= 0:
		e.requeue = false
		q.makeReadyLocked(e, now)
	case e.requeue || e.requeueLater || o.Failed || o.After > 0:
		q.dropLocked(e)
	default:
		q.removeLocked(e)
	}
	q.checkEndLocked()
}

func (q *Queue[K]) isExhaustedLocked() bool {
	if !q.closed || q.hasReadyLocked() {
		return false
	}
	for e := q.running.first; e != nil && q.mode == Drain; e = e.next {
		if e.requeue {
			return false
		}
	}
	return true
}

func (q *Queue[K]) checkEndLocked() {
	if !q.isExhaustedLocked() {
		return
	}
	closeOnce(q.exhausted)
	if q.running.n == 0 {
		closeOnce(q.ended)
	}
}

// closeOnce closes a channel without senders, unless it is closed.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// ShutDown ends the queue: nothing can be added any more, not even retries. It returns when every
// item handed out is done. With Finish and Drain, that includes items yet to be handed out, so
// workers must go on until Get returns [ErrShutDown].
//
// If ctx ends first, the error names the running keys, their running times, and the number of ready
// keys, and wraps context.Cause(ctx). The queue stays shut down. ShutDown may be called again, to
// wait again or to switch to a stricter mode. The order is Drain, Finish, Drop; a less strict mode
// changes nothing. [Status] has the dropped keys.
func (q *Queue[K]) ShutDown(ctx context.Context, mode Mode) error {
	now := q.now()
	q.mu.Lock()
	q.closeLocked(mode, now)
	q.unlockAndWake(now) // for keys that became ready: the timer was stopped
	select {
	case <-q.ended: // takes precedence over the end of ctx
	default:
		select {
		case <-q.ended:
		case <-ctx.Done():
			return q.timeoutError(context.Cause(ctx))
		}
	}
	q.endOnce.Do(q.endMetrics)
	return nil
}

const maxNamedKeys = 10

func (q *Queue[K]) timeoutError(cause error) error {
	s := q.Status()
	var text strings.Builder
	fmt.Fprintf(&text, "work queue %q: shut down: %d keys are being worked on and %d are ready", q.name, len(s.Running), s.High+s.Normal+s.Low)
	for n, key := range s.Running {
		if n == maxNamedKeys {
			fmt.Fprintf(&text, ", and %d more", len(s.Running)-n)
			break
		}
		between := ", "
		if n == 0 {
			between = "; running: "
		}
		fmt.Fprintf(&text, "%s%v for %v", between, key.Key, time.Since(key.Since).Round(time.Millisecond))
	}
	return fmt.Errorf("%s: %w", &text, cause)
}
