// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"maps"
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/partition"
)

// Status is the state of a ring, as a member sees it: the buckets, the members, and counts of
// moves.
type Status = partition.Status

// Bucket is the state of a bucket.
type Bucket = partition.BucketStatus

// Member is a process in the ring.
type Member = partition.MemberStatus

// Informer is an informer with this ring, and how it reads its part: by "namespaces", "server" or
// "client".
type Informer = partition.Mode

// Status returns the ring's state.
func (r *Ring) Status() Status {
	m := r.lastRun()
	s := Status{By: r.options.By.String(), LeaseDuration: r.options.LeaseDuration, Unclaimed: r.gate.Unclaimed(), Informers: r.hub.Modes()}
	if m == nil {
		return s
	}
	s.Identity, s.Coordinator = m.identity, m.coordinator.Holder()
	m.describe(&s)
	queued := make([]int, r.options.Buckets)
	for _, w := range r.hub.Workers() {
		w.Queued(queued)
	}
	for b := range min(len(queued), len(s.Buckets)) { // the table may be one of other settings
		s.Buckets[b].Keys = queued[b]
	}
	return s
}

func (m *run) describe(s *Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	s.State = string(m.lease.state)
	if m.renewed() && m.term.Err() != nil || m.ended {
		s.State = "lost"
	}
	s.Granted, s.Released, s.Evicted = m.counts.granted, m.counts.released, m.counts.evicted
	owned := map[string]int{}
	buckets := m.view.table.buckets
	if len(buckets) == 0 {
		buckets = make([]entry, len(m.unowned)) // there is no table, so nobody owns anything
	}
	for b, e := range buckets {
		owned[e.Owner]++
		state := Bucket{
			Owner: e.Owner, Next: e.Next, Spare: e.Spare, Epoch: e.Epoch, Revoking: e.Revoking,
		}
		if e.Since != 0 {
			state.Since = time.Unix(e.Since, 0).UTC()
		}
		if b < len(m.unowned) {
			if m.unowned[b] > 0 {
				state.UnownedFor = now - m.unowned[b]
			}
			state.State, state.LastOwner = m.member.claims[b].state.String(), m.lastOwner[b]
		}
		s.Buckets = append(s.Buckets, state)
	}
	for _, identity := range slices.Sorted(maps.Keys(m.view.members)) {
		other := m.view.members[identity]
		s.Members = append(s.Members, Member{Identity: identity, State: string(other.state), Weight: other.weight, Owned: owned[identity], Unchanged: now - other.at})
	}
}

// String returns the name of the constant.
func (s claimState) String() string {
	return [...]string{"away", "loading", "ready", "held", "draining"}[s]
}
