// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"slices"
	"time"
)

// Status is the state of a queue at one moment. Times are in UTC.
type Status[K comparable] struct {
	// High, Normal and Low are the numbers of ready keys by level.
	High   int `json:"high"`
	Normal int `json:"normal"`
	Low    int `json:"low"`
	// Delayed is the number of keys that wait for a time, after a delay or a failure. NextDue is
	// the earliest such time, or zero.
	Delayed int       `json:"delayed"`
	NextDue time.Time `json:"nextDue,omitzero"`
	// Paced is the number of failed keys whose delay has ended, and that wait for
	// Options.RetryRate.
	Paced int `json:"paced,omitempty"`
	// Held is the number of keys that wait for Release.
	Held int `json:"held,omitempty"`
	// Failing is the number of keys, in any state, whose last attempt failed.
	Failing int `json:"failing,omitempty"`
	// Tenants is the number of tenants, of a queue made by [NewFair], with keys in any state.
	Tenants int `json:"tenants,omitempty"`
	// Oldest is the key that has been ready for longest, or nil.
	Oldest *KeyStatus[K] `json:"oldest,omitempty"`
	// Running are the running keys, the longest-running first.
	Running []KeyStatus[K] `json:"running,omitempty"`
	// ShutDown reports whether ShutDown was called.
	ShutDown bool `json:"shutDown,omitempty"`
	// Dropped is the number of keys dropped by ShutDown. DroppedKeys has the first ones, at most
	// 100.
	Dropped     int `json:"dropped,omitempty"`
	DroppedKeys []K `json:"droppedKeys,omitempty"`
}

// KeyStatus is the state of a key at one moment.
type KeyStatus[K comparable] struct {
	Key K `json:"key"`
	// Level is the level of the key's next hand-out, or of its present one if it is running.
	Level Level `json:"level"`
	// Failures is the number of consecutive failed attempts.
	Failures int `json:"failures,omitempty"`
	// Running reports whether a worker has the key, and Ready whether it can be handed out. Both
	// are true for a key added during its run.
	Running bool `json:"running,omitempty"`
	Ready   bool `json:"ready,omitempty"`
	// Held reports whether the key waits for Release, and Paced whether it waits for
	// Options.RetryRate.
	Held  bool `json:"held,omitempty"`
	Paced bool `json:"paced,omitempty"`
	// Since is the hand-out of a running key, the time a ready key became ready, or else the end of
	// a failed attempt of a key that is not held. Otherwise it is zero.
	Since time.Time `json:"since,omitzero"`
	// Due is the end of the key's delay, or the latest end of its hold. Otherwise it is zero.
	Due time.Time `json:"due,omitzero"`
}

// Status returns the state of the queue. It takes time proportional to the number of running and
// dropped keys and of tenants.
func (q *Queue[K]) Status() Status[K] {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickLocked(now)
	s := Status[K]{
		High: q.ready[0].len(), Normal: q.ready[1].len(), Low: q.ready[2].len(), Tenants: len(q.tenants),
		Delayed: len(q.delays) - q.heldKeys, Paced: q.paced.len(), Held: q.heldKeys, Failing: q.failingKeys,
		ShutDown: q.closed, Dropped: q.dropped, DroppedKeys: slices.Clone(q.droppedKeys),
	}
	if len(q.delays) > 0 {
		s.NextDue = q.at(q.delays[0].due)
	}
	if e := q.oldestReadyLocked(); e != nil {
		oldest := q.statusOfLocked(e)
		s.Oldest = &oldest
	}
	for e := q.running.first; e != nil; e = e.next {
		s.Running = append(s.Running, q.statusOfLocked(e))
	}
	return s
}

// StatusOf returns the state of a key. The second result reports whether the queue knows it.
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
		Ready: e.state == ready || e.state == running && e.requeue,
	}
	if e.state == running || e.state == ready || e.state != held && e.failures > 0 {
		k.Since = q.at(e.since)
	}
	switch {
	case e.state == delayed || e.state == held:
		k.Due = q.at(e.due)
	case e.state == running && e.requeueLater:
		k.Due = q.at(e.requeueAt)
	}
	return k
}

func (q *Queue[K]) oldestReadyLocked() (oldest *entry[K]) {
	for l := range q.ready {
		if e := q.ready[l].oldest(); e != nil && (oldest == nil || e.since < oldest.since) {
			oldest = e
		}
	}
	return oldest
}
