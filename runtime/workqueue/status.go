// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"slices"
	"time"
)

// Status is a state of a queue at one moment. Times are in UTC.
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
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickLocked(now)
	s := Status[K]{
		High: q.ready[0].n, Normal: q.ready[1].n, Low: q.ready[2].n,
		Delayed: len(q.delays) - q.held, Paced: q.paced.n, Held: q.held, Failing: q.failing,
		ShutDown: q.closed, Dropped: q.dropped, DroppedKeys: slices.Clone(q.droppedKeys),
	}
	if len(q.delays) > 0 {
		s.NextDue = q.at(q.delays[0].due)
	}
	if e := q.oldestLocked(); e != nil {
		oldest := q.statusOfLocked(e)
		s.Oldest = &oldest
	}
	for e := q.running.first; e != nil; e = e.next {
		s.Running = append(s.Running, q.statusOfLocked(e))
	}
	return s
}

// StatusOf returns where a key is. The second result reports whether the queue knows the key.
func (q *Queue[K]) StatusOf(key K) (KeyStatus[K], bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickLocked(now)
	if e := q.entries[key]; e != nil {
		return q.statusOfLocked(e), true
	}
	return KeyStatus[K]{}, false
}

func (q *Queue[K]) statusOfLocked(e *entry[K]) KeyStatus[K] {
	k := KeyStatus[K]{
		Key: e.key, Level: levelOf(e.level), Failures: int(e.failures),
		Running: e.state == running, Held: e.state == held, Paced: e.state == paced,
		Ready: e.state == ready || e.state == running && e.again,
	}
	if e.state == running || e.state == ready || e.state != held && e.failures > 0 {
		k.Since = q.at(e.since)
	}
	switch {
	case e.state == delayed || e.state == held:
		k.Due = q.at(e.due)
	case e.state == running && e.later:
		k.Due = q.at(e.then)
	}
	return k
}

// oldestLocked returns the key that has been ready for longest; nil if none is ready.
func (q *Queue[K]) oldestLocked() (oldest *entry[K]) {
	for l := range q.ready {
		if e := q.ready[l].first; e != nil && (oldest == nil || e.since < oldest.since) {
			oldest = e
		}
	}
	return oldest
}
