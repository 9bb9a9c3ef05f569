// SPDX-License-Identifier: Apache-2.0

package shard

import "time"

// reset returns the writes of a coordinator while there is no table, or one with other settings: a
// new table, after the end of all work by the old one. If the old one was deleted, members that may
// know it lose their Leases, because nobody can tell how old their views are.
func (v *view) reset(settings string, buckets int, t times, now time.Duration) []write {
	writes := v.expire(now)
	over := true // nobody works by the old table
	var highest uint64
	for b, e := range v.table.buckets {
		highest = max(highest, e.Epoch)
		if e.Owner != "" && v.members[e.Owner] == nil {
			w, _ := v.evict(b, e, t, now)
			writes = append(writes, w)
			over = false
		}
	}
	for _, m := range v.members {
		for b := range max(len(m.ready), len(m.released)) {
			highest = max(highest, epochOf(m.ready, b), epochOf(m.released, b))
		}
		switch {
		case v.isDead(m.identity, now), m.state == joining && m.settings == settings:
			continue
		case v.absent && !m.state.gone() && m.state != joining:
			writes = append(writes, m.take(evicted))
		}
		over = false
	}
	if !over {
		return writes
	}
	next := table{generation: v.table.generation + 1, settings: settings, duration: v.table.duration, buckets: make([]entry, buckets)}
	if !v.absent {
		next.version = v.table.version
	}
	for b := range next.buckets {
		next.buckets[b].Epoch = highest
	}
	return append(writes, write{table: &next})
}
