// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"slices"
	"time"
)

// Status is a state of a queue at one moment.
type Status[K comparable] struct {
	// High, Normal and Low are how many keys of each level are ready to be handed out.
	High   int `json:"high"`
	Normal int `json:"normal"`
	Low    int `json:"low"`
	// Delayed is how many keys wait for a time, because of a delay or a failure. NextDue is when
	// the first one is due, the zero time if there is none.
	Delayed int       `json:"delayed"`
	NextDue time.Time `json:"nextDue,omitzero"`
	// Paced is how many keys have waited their delay after a failure and wait for
	// Options.RetryRate.
	Paced int `json:"paced,omitempty"`
	// Held is how many keys wait for Release.
	Held int `json:"held,omitempty"`
	// Failing is how many keys have failed at their last attempt, in whatever state they are.
	Failing int `json:"failing,omitempty"`
	// Oldest is the key that has been ready for longest. It is nil if no key is ready.
	Oldest *KeyStatus[K] `json:"oldest,omitempty"`
	// Running are the keys that are worked on, the one that has been for longest first.
	Running []KeyStatus[K] `json:"running,omitempty"`
	// ShutDown reports whether ShutDown was called.
	ShutDown bool `json:"shutDown,omitempty"`
	// Dropped is how many keys were dropped by ShutDown. DroppedKeys are the first of them, 100 at
	// most.
	Dropped     int `json:"dropped,omitempty"`
	DroppedKeys []K `json:"droppedKeys,omitempty"`
}

// KeyStatus is where a key is at one moment.
type KeyStatus[K comparable] struct {
	Key K `json:"key"`
	// Level is the level at which the key will be handed out, or was if it is running.
	Level Level `json:"level"`
	// Failures is how many attempts in a row have failed.
	Failures int `json:"failures,omitempty"`
	// Running reports whether the key is worked on, and Ready whether it can be handed out. If both
	// are true, it was added while it was worked on.
	Running bool `json:"running,omitempty"`
	Ready   bool `json:"ready,omitempty"`
	// Held reports whether the key waits for Release, and Paced whether it waits for
	// Options.RetryRate.
	Held  bool `json:"held,omitempty"`
	Paced bool `json:"paced,omitempty"`
	// Since is when the key was handed out if it is running, when it became ready if it is, and
	// when its last attempt ended if that failed and the key is not held. Else it is the zero time.
	Since time.Time `json:"since,omitzero"`
	// Due is when the delay of the key ends, or the hold at the latest. The zero time means that it
	// waits for neither.
	Due time.Time `json:"due,omitzero"`
}

// Status returns the state of the queue. It takes time in proportion to the number of running keys,
// and of dropped ones.
func (q *Queue[K]) Status() Status[K] {
	c := &q.core
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick(now)
	s := Status[K]{
		High: c.ready[0].n, Normal: c.ready[1].n, Low: c.ready[2].n,
		Delayed: c.waitingKeys(), Paced: c.paced.n, Held: c.held, Failing: c.failing,
		ShutDown: c.closed, Dropped: c.dropped, DroppedKeys: slices.Clone(q.keys.dropped),
	}
	if due, ok := c.nextDue(); ok {
		s.NextDue = c.at(due)
	}
	if i := c.oldest(); i != none {
		oldest := q.statusOf(i)
		s.Oldest = &oldest
	}
	for _, i := range c.running {
		s.Running = append(s.Running, q.statusOf(i))
	}
	slices.SortFunc(s.Running, func(a, b KeyStatus[K]) int { return a.Since.Compare(b.Since) })
	return s
}

// StatusOf returns where a key is. The second result reports whether the queue knows the key.
func (q *Queue[K]) StatusOf(key K) (KeyStatus[K], bool) {
	c, hash, now := &q.core, q.hash(key), q.core.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick(now)
	if i := q.find(key, hash); i != none {
		return q.statusOf(i), true
	}
	return KeyStatus[K]{}, false
}

// statusOf returns the status of a slot that is not free. The lock is held.
func (q *Queue[K]) statusOf(i int32) KeyStatus[K] {
	s := q.core.slots.at(i)
	k := KeyStatus[K]{
		Key: *q.keys.at(i), Level: levelOf(s.level), Failures: int(s.failures),
		Running: s.is(running), Held: s.is(held), Paced: s.is(paced),
		Ready: s.is(ready) || s.is(running) && s.is(again),
	}
	if s.is(running|ready) || !s.is(held) && s.failures > 0 {
		k.Since = q.core.at(s.since)
	}
	if s.is(delayed | held) {
		k.Due = q.core.at(s.time())
	}
	return k
}

// waitingKeys is how many keys wait for a time.
func (c *core) waitingKeys() int {
	return c.used - c.readyKeys() - c.paced.n - c.held - len(c.running)
}

// nextDue returns when the first delay ends.
func (c *core) nextDue() (due int64, ok bool) {
	for {
		first, ok := c.delays.first()
		if !ok || c.slots.at(first.slot).waitsFor(first) {
			return first.due, ok
		}
		c.delays.pop()
		c.delays.stale--
	}
}

// oldest returns the slot that has been ready for longest, if one is ready.
func (c *core) oldest() int32 {
	oldest := none
	for l := range c.ready {
		if c.ready[l].n == 0 {
			continue
		}
		if i := c.ready[l].first; oldest == none || c.slots.at(i).since < c.slots.at(oldest).since {
			oldest = i
		}
	}
	return oldest
}
