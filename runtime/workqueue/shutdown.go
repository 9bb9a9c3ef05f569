// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// Mode is what [Queue.ShutDown] does with keys that were added and not handed out.
type Mode uint8

const (
	// Drop hands out nothing more.
	Drop Mode = iota
	// Finish hands out what is ready. It drops what is delayed or held, and what was added while
	// the key was worked on.
	Finish
	// Drain hands out what is ready, and once more the keys that were added before the shutdown
	// while they were worked on. It drops what is delayed or held, or would be when it is done.
	Drain
)

// closing is the part of core that is about its end. Its lock guards all of it.
type closing struct {
	closed  bool
	mode    Mode
	dropped int
	ended   chan struct{} // closed when nothing is running, nor will be
	isEnded bool
	added   [levels]int // running keys that were added again, by level
	held    int
	failing int
}

// shut closes the queue, or makes its mode stricter.
func (c *core) shut(mode Mode, now int64) {
	if !c.closed {
		c.tick(now)
		for c.delays.isDue(now) { // then it is ready, and not delayed
			c.comeUp(now)
		}
		c.closed, c.mode = true, min(mode, Drain)
		c.dropWaiting(now)
		if c.timer != nil {
			c.timer.Stop()
			c.armed = 0
		}
	}
	c.mode = min(c.mode, mode)
	if c.mode == Drop {
		for l := range c.ready {
			for c.ready[l].n > 0 {
				i := c.ready[l].first
				c.unready(c.slots.at(i))
				c.drop(i, now)
			}
		}
	}
	c.checkEnd()
}

// dropWaiting drops what is paced, delayed or held.
func (c *core) dropWaiting(now int64) {
	for c.paced.n > 0 {
		i := c.paced.first
		c.paced.remove(c.slots, c.slots.at(i))
		c.drop(i, now)
	}
	for c.delays.len() > 0 {
		e := c.delays.pop()
		s := c.slots.at(e.slot)
		if !s.waitsFor(e) {
			continue
		}
		if !s.is(held) {
			c.drop(e.slot, now)
			continue
		}
		c.held--
		if s.is(again | delayed) {
			c.drop(e.slot, now)
		} else {
			c.release(e.slot, now)
		}
	}
	c.delays = delays{}
}

// drop frees a slot that is in no list and not running, with its key unworked.
func (c *core) drop(i int32, now int64) {
	c.dropped++
	c.keys.drop(i)
	c.release(i, now)
}

// doneClosed is the end of a hand-out after the queue was closed.
func (c *core) doneClosed(i int32, how flags, o Outcome, now int64) {
	switch {
	case how&again != 0 && c.mode == Drain && o.Hold <= 0:
		c.makeReady(i, now)
	case how != 0 || o.Failed || o.After > 0:
		c.drop(i, now)
	default:
		c.release(i, now)
	}
	c.checkEnd()
}

// isOver reports whether nothing more will be handed out.
func (c *core) isOver() bool {
	return c.closed && c.readyKeys() == 0 && (c.mode != Drain || c.added == [levels]int{})
}

func (c *core) checkEnd() {
	if !c.isOver() {
		return
	}
	c.wakeAll()
	if len(c.running) == 0 && !c.isEnded {
		c.isEnded = true
		close(c.ended)
	}
}

// ShutDown ends the queue: nothing can be added any more, retries of failed keys included. It
// returns when every item that was handed out is done; in the modes Finish and Drain, that includes
// what the workers have yet to get, so they must go on until Get returns [ErrShutDown].
//
// If ctx ends first, the error names the keys that are still worked on, how long they have been,
// and how many are ready, and wraps context.Cause(ctx). The queue stays shut down, and ShutDown may
// be called again: to wait again, or with a stricter mode, which then holds. The order is Drain,
// Finish, Drop; a mode that is less strict than the present one changes nothing. What was dropped
// is in [Status].
func (q *Queue[K]) ShutDown(ctx context.Context, mode Mode) error {
	now := q.core.now()
	q.core.mu.Lock()
	q.core.shut(mode, now)
	q.core.unlockAndWake(now) // a worker that has stepped aside: its timer was stopped
	select {
	case <-q.core.ended: // counts, even if ctx has ended
	default:
		select {
		case <-q.core.ended:
		case <-ctx.Done():
			return q.hangs(context.Cause(ctx))
		}
	}
	q.endOnce.Do(q.endMetrics)
	return nil
}

// mostNamed is how many keys an error names.
const mostNamed = 10

// hangs returns the error of a shutdown that took too long.
func (q *Queue[K]) hangs(cause error) error {
	s := q.Status()
	var text strings.Builder
	fmt.Fprintf(&text, "work queue %q: shut down: %d keys are being worked on and %d are ready", q.name, len(s.Running), s.High+s.Normal+s.Low)
	for n, key := range s.Running {
		if n == mostNamed {
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
