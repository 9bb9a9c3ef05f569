// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// add adds a slot, which may be in any state, or in none because it is new.
func (c *core) add(i int32, level uint8, after time.Duration, now int64) {
	s := c.slots.at(i)
	due := later(now, max(0, after))
	if after > 0 {
		c.retries++
	}
	switch {
	case s.is(running):
		c.addToRunning(s, level, due, now)
	case s.is(held):
		c.addToHeld(s, level, due, now)
	case s.is(ready):
		if level < s.level {
			c.unready(s)
			s.level = level
			c.ready[level].push(c.slots, i, s)
		}
	case s.is(paced):
		s.level = min(s.level, level)
		if after <= 0 {
			c.paced.remove(c.slots, s)
			c.wait(i, c.notBefore(s, due), now)
		}
	case s.is(delayed):
		s.level = min(s.level, level)
		due = c.notBefore(s, due)
		if after <= 0 {
			s.flags &^= retry
		}
		if due < s.time() {
			s.flags = 0
			c.delays.dropped(c.slots)
			c.wait(i, due, now)
		}
	default:
		s.level = level
		c.wait(i, due, now)
	}
}

// floor is the earliest time at which a slot runs again that has failed.
func (c *core) floor(s *slot) int64 { return later(s.since, time.Duration(c.least)) }

// notBefore returns due, or the floor of a slot that has failed.
func (c *core) notBefore(s *slot, due int64) int64 {
	if s.failures == 0 {
		return due
	}
	return max(due, c.floor(s))
}

// wait makes a slot ready, or delays it until due.
func (c *core) wait(i int32, due, now int64) {
	if due <= now {
		c.makeReady(i, now)
		c.adds++
		return
	}
	c.makeDelayed(i, due, 0)
}

// unready takes a slot out of the list of its level.
func (c *core) unready(s *slot) {
	if c.ready[s.level].remove(c.slots, s); c.ready[s.level].n == 0 {
		c.passed[s.level] = 0
	}
}

// addToRunning has a slot that is running come back when it is done: at once, or at due.
func (c *core) addToRunning(s *slot, level uint8, due, now int64) {
	if !s.is(again | delayed) {
		s.next = level
	}
	if s.is(again) {
		c.added[s.next]--
	}
	s.next = min(s.next, level)
	switch {
	case s.is(again):
	case due <= now:
		s.flags = running | again
		s.setTime(now)
		c.adds++
	case !s.is(delayed) || due < s.time():
		s.flags = running | delayed
		s.setTime(due)
	}
	if s.is(again) {
		c.added[s.next]++
	}
}

// addToHeld has a slot that is held come back when the hold has ended: at once, or at due, which
// stands in since.
func (c *core) addToHeld(s *slot, level uint8, due, now int64) {
	if !s.is(again | delayed) {
		s.level = level
	}
	s.level = min(s.level, level)
	switch {
	case due <= now:
		s.flags |= again
	case !s.is(delayed) || due < s.since:
		s.flags = s.flags&^retry | delayed
		s.since = due
	}
}

// endHold has a held slot take up what was added meanwhile. The caller has dropped its time from
// the heap.
func (c *core) endHold(i int32, now int64) {
	s := c.slots.at(i)
	was, due := s.flags, s.since
	s.flags, s.since = 0, now
	c.held--
	if was&again != 0 {
		c.adds++
		if s.failures == 0 {
			due = now
		}
	}
	c.comeBack(i, was&(again|delayed|retry), due, now)
}

// comeBack puts a slot that is in no state where it belongs: with again it was added, without
// failures at the time due; with delayed it waits until due, with retry because it failed. Its
// attempt, if it failed, ended at since.
func (c *core) comeBack(i int32, how flags, due, now int64) {
	s := c.slots.at(i)
	switch {
	case how&again != 0 && s.failures == 0:
		c.makeReady(i, due)
	case how&again != 0:
		soon := c.floor(s)
		if how&delayed != 0 {
			soon = min(soon, due)
		}
		if soon > now {
			c.makeDelayed(i, soon, 0)
			return
		}
		c.makeReady(i, now)
	case how&delayed != 0 && due <= now:
		s.flags = delayed | how&retry
		c.due(i, due)
	case how&delayed != 0:
		c.makeDelayed(i, due, how&retry)
	default:
		c.release(i, now)
	}
}
