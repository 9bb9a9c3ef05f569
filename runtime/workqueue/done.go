// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// most is how many hand-outs of a level there are in a row at most while another one has a key.
const most = 16

// choose returns the level that the next hand-out is of, of which one has a key. Low is due before
// it was passed over 16 times; Normal one hand-out earlier, for the case that both are due.
func (c *core) choose() int {
	switch {
	case c.ready[2].n > 0 && c.passed[2] >= most-1:
		return 2
	case c.ready[1].n > 0 && c.passed[1] >= most-2:
		return 1
	case c.ready[0].n > 0:
		return 0
	case c.ready[1].n > 0:
		return 1
	}
	return 2
}

// take hands out a slot, if one is ready.
func (c *core) take(now int64) (i int32, waited int64) {
	c.tick(now)
	if c.readyKeys() == 0 {
		return none, 0
	}
	l := c.choose()
	for other := range c.ready {
		if c.ready[other].n > 0 {
			c.passed[other]++
		}
	}
	c.passed[l] = 0
	i = c.ready[l].first
	s := c.slots.at(i)
	c.unready(s)
	waited = max(0, now-s.since)
	c.waited.count(waited)
	c.runs++
	c.handedOut = now
	s.flags, s.since, s.run, s.pos = running, now, c.runs, int32(len(c.running))
	c.running = append(c.running, i)
	return i, waited
}

func (c *core) readyKeys() int { return c.ready[0].n + c.ready[1].n + c.ready[2].n }

// done ends a hand-out. It does nothing if that has ended already.
func (c *core) done(i int32, run uint32, o Outcome, now int64) {
	if i >= c.slots.len() {
		return
	}
	s := c.slots.at(i)
	if !s.is(running) || s.run != run {
		return
	}
	var delay time.Duration
	if o.Failed && !c.closed {
		delay = c.retryDelay(s.failures) // first, as it may panic
	}
	c.stopRunning(s, now)
	how, due, next := s.flags&(again|delayed), s.time(), s.next
	if how&again != 0 {
		c.added[next]--
	}
	s.flags, s.since = 0, now
	c.countFailure(s, o.Failed)
	switch {
	case how == 0:
	case o.Failed || o.After > 0:
		s.level = min(s.level, next)
	default:
		s.level = next
	}
	if c.closed {
		c.doneClosed(i, how, o, now)
		return
	}
	if how == delayed && o.Failed {
		due = max(due, c.floor(s))
	}
	if o.Failed {
		c.retries++
		retryAt := later(now, max(0, delay))
		if o.After > 0 {
			retryAt = min(retryAt, max(later(now, o.After), c.floor(s)))
		}
		if how&delayed == 0 || retryAt <= due {
			how, due = how|delayed|retry, retryAt
		}
	} else if o.After > 0 && how&again == 0 {
		c.retries++
		if at := later(now, o.After); how&delayed == 0 || at < due {
			how, due = how|delayed, at
		}
	}
	if o.Hold > 0 {
		c.hold(i, how, due, later(now, o.Hold))
		return
	}
	c.comeBack(i, how, due, now)
}

// retryDelay asks the limiter how long a slot waits that has failed so often, and now once more. If
// that panics, it unlocks the core, for the callers of other methods.
func (c *core) retryDelay(failures uint8) (delay time.Duration) {
	returned := false
	defer func() {
		if !returned {
			c.mu.Unlock()
		}
	}()
	delay = c.limiter.Delay(int(oneMore(failures)), c.random.Float64())
	returned = true
	return delay
}

// oneMore is the number of failures after another one.
func oneMore(failures uint8) uint8 { return min(failures, 254) + 1 }

// hold holds a slot back until a time. What it will do then stands in flags and since.
func (c *core) hold(i int32, how flags, due, until int64) {
	s := c.slots.at(i)
	s.flags, s.since = held|how, due
	c.delays.push(until, i, s)
	c.held++
}

func (c *core) stopRunning(s *slot, now int64) {
	last := c.running[len(c.running)-1]
	c.running[s.pos] = last
	c.slots.at(last).pos = s.pos
	c.running = c.running[:len(c.running)-1]
	c.worked.count(max(0, now-s.since))
}

func (c *core) countFailure(s *slot, failed bool) {
	switch {
	case failed && s.failures == 0:
		c.failing++
		s.failures = 1
	case failed:
		s.failures = oneMore(s.failures)
	default:
		c.forget(s)
	}
}

func (c *core) forget(s *slot) {
	if s.failures > 0 {
		c.failing--
		s.failures = 0
	}
}

// releaseHold ends the hold of a slot, if it is held.
func (c *core) releaseHold(i int32, now int64) {
	s := c.slots.at(i)
	if !s.is(held) {
		return
	}
	s.setTime(-1) // its time in the heap is of no slot any more
	c.delays.dropped(c.slots)
	c.endHold(i, now)
}
