// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"slices"
	"time"
)

// view has the table and the members as this process last saw them, and the times when it first saw
// that. It may be old. The times are this process's own, by the monotonic clock: no other machine's
// clock decides.
type view struct {
	table  table // the last one; zero before the first
	absent bool  // the table's Lease does not exist now
	// changed has, for each bucket, the time when this process first saw its owner, epoch and
	// revocation.
	changed []time.Duration
	members map[string]*seen
}

// seen is a member's Lease.
type seen struct {
	lease
	at    time.Duration // when this process first saw this version
	first time.Duration // when it saw the member's first version
}

// setTable notes a version of the table, unless it is older than the last one. A new Lease, after
// somebody has deleted the old one, begins anew.
func (v *view) setTable(t table, now time.Duration) {
	if t.uid == v.table.uid && t.generation < v.table.generation {
		return
	}
	changed := make([]time.Duration, len(t.buckets))
	for b, e := range t.buckets {
		changed[b] = now
		if b < len(v.table.buckets) {
			if old := v.table.buckets[b]; old.Owner == e.Owner && old.Epoch == e.Epoch && old.Revoking == e.Revoking {
				changed[b] = v.changed[b]
			}
		}
	}
	v.table, v.changed = t, changed
}

// setMember notes a version of a member's Lease. One that is gone stays gone.
func (v *view) setMember(l lease, now time.Duration) {
	old := v.members[l.identity]
	switch {
	case old != nil && (old.version == l.version || old.state.gone() && !l.state.gone()):
		return
	case v.members == nil:
		v.members = map[string]*seen{}
	}
	s := &seen{l, now, now}
	if old != nil {
		s.first = old.first
	}
	v.members[l.identity] = s
}

// removeMember notes the absence of a member's Lease.
func (v *view) removeMember(identity string) { delete(v.members, identity) }

// isDead reports whether a member sends nothing any more, for good.
func (v *view) isDead(identity string, now time.Duration) bool {
	m := v.members[identity]
	switch {
	case m == nil:
		return false // its Lease is missing, which says nothing about its fence
	case m.state == evicted:
		return now-m.at >= m.duration
	}
	return m.state == left || m.state == expired
}

// isUsable reports whether a member may be granted buckets.
func (v *view) isUsable(identity string) bool {
	m := v.members[identity]
	return m != nil && m.state == active && m.settings == v.table.settings
}

func (v *view) anyUsable() bool {
	for identity := range v.members {
		if v.isUsable(identity) {
			return true
		}
	}
	return false
}

// hasReleased reports whether the owner of a bucket no longer works on it.
func (v *view) hasReleased(bucket int, e entry, now time.Duration) bool {
	m := v.members[e.Owner]
	return v.isDead(e.Owner, now) || m != nil && epochOf(m.released, bucket) >= e.Epoch
}

// write is one conditional request: it succeeds only if the server still has the version that the
// decision was based on.
type write struct {
	table *table // to write, or nil
	// Otherwise, a member's Lease: it is written without holder, in a state that is final, or
	// removed.
	identity, version string // version "": create it
	state             memberState
	duration          time.Duration
	remove            bool
}

// times are the coordinator's.
type times struct {
	lease     time.Duration // LeaseDuration, for members whose own is unknown
	release   time.Duration // for a member to release a bucket
	forget    time.Duration // for which the Leases of dead members are kept
	wallClock int64         // now, in seconds, for people
}

// decide returns the writes that bring the table closer to a plan. Several coordinators, with views
// of any age, do no harm: each write is conditional, and is based on final facts only: a release,
// and a death.
func (v *view) decide(p plan, t times, now time.Duration) []write {
	writes := v.expire(now)
	uses := map[string]bool{} // members in the table
	for b, e := range v.table.buckets {
		uses[e.Owner], uses[e.Next], uses[e.Spare] = true, true, true
		if w, ok := v.evict(b, e, t, now); ok {
			writes = append(writes, w)
		}
	}
	for _, m := range v.members {
		if m.state.gone() && !uses[m.identity] && now-m.at >= t.forget {
			writes = append(writes, write{identity: m.identity, version: m.version, remove: true})
		}
	}
	next := v.table
	next.buckets = slices.Clone(v.table.buckets)
	changed := false
	for b, old := range v.table.buckets {
		e := v.advance(b, old, p.owners[b], now)
		if e.Spare = p.spares[b]; e.Owner == old.Owner && p.owners[b] == old.Spare {
			e.Spare = old.Spare // which loads it, to own it; the next spare comes after that
		}
		if e == old {
			continue
		}
		if e.Owner != old.Owner || e.Epoch != old.Epoch {
			e.Since = t.wallClock
			if m := v.members[e.Owner]; m != nil {
				next.duration = max(next.duration, m.duration)
			}
		}
		next.buckets[b], changed = e, true
	}
	if changed {
		next.generation++
		writes = append(writes, write{table: &next})
	}
	return writes
}

// expire takes the Leases not renewed in time.
func (v *view) expire(now time.Duration) (writes []write) {
	for _, m := range v.members {
		if !m.state.gone() && now-m.at >= m.duration {
			writes = append(writes, m.take(expired))
		}
	}
	return writes
}

// take returns a write to take a member's Lease, if it was not renewed meanwhile.
func (m *seen) take(state memberState) write {
	return write{identity: m.identity, version: m.version, state: state, duration: m.duration}
}

// evict takes the Lease of an owner without a Lease, or too slow to release a bucket.
func (v *view) evict(bucket int, e entry, t times, now time.Duration) (write, bool) {
	m := v.members[e.Owner]
	switch {
	case e.Owner == "":
		return write{}, false
	case m == nil:
		return write{identity: e.Owner, state: evicted, duration: max(t.lease, v.table.duration)}, true
	case e.Revoking && !m.state.gone() && !v.hasReleased(bucket, e, now) && now-v.changed[bucket] >= t.release:
		return m.take(evicted), true
	}
	return write{}, false
}

// advance returns the next entry of a bucket, or the same one.
func (v *view) advance(bucket int, e entry, target string, now time.Duration) entry {
	if e.Owner == "" || v.hasReleased(bucket, e, now) {
		if v.isUsable(e.Next) {
			target = e.Next
		}
		switch {
		case v.isUsable(target):
			return entry{Owner: target, Epoch: e.Epoch + 1}
		case e.Owner == "":
			return e
		}
		return entry{Epoch: e.Epoch}
	}
	if !v.isUsable(target) {
		target = ""
	}
	switch owner := v.members[e.Owner]; {
	case e.Revoking:
	case e.Next != "" && (!v.isUsable(e.Next) || target == e.Owner):
		e.Next = ""
	case e.Next == "" && target != e.Owner && target != "":
		e.Next = target
	case e.Next != "" && epochOf(v.members[e.Next].ready, bucket) >= e.Epoch:
		e.Revoking = true
	case target == "" && owner != nil && owner.state == leaving && !v.anyUsable():
		e.Revoking = true // nobody takes it
	}
	return e
}

// share returns the number of a member's buckets when none moves any more, by its weight.
func (v *view) share(identity string, weight int) int {
	sum := weight
	for other, m := range v.members {
		if other != identity && v.isUsable(other) {
			sum += m.weight
		}
	}
	return (len(v.table.buckets)*weight + sum - 1) / sum
}
