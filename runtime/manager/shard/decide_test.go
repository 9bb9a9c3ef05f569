// SPDX-License-Identifier: Apache-2.0

package shard

import (
	"testing"
	"time"
)

// TestDecideEnds: while a bucket waits for its owner's release, and its next owner leaves as well,
// the coordinator doesn't write one table after the other.
func TestDecideEnds(t *testing.T) {
	for _, spare := range []string{"", "c", "d"} {
		r := newPlanRig(t, 16)
		for id, state := range map[string]memberState{"a": leaving, "b": leaving, "c": active, "d": active} {
			r.set(id, state, 1)
		}
		for b := range r.table.buckets {
			r.table.buckets[b] = entry{Owner: "c", Epoch: 1, Spare: "d"}
		}
		r.table.buckets[3] = entry{Owner: "a", Epoch: 1, Next: "b", Spare: spare, Revoking: true}
		writes := 0
		for ; writes < 100; writes++ {
			todo := r.decide(planFor(&r.view, 1, time.Minute, 0), times{release: 1}, 0)
			if len(todo) == 0 {
				break
			}
			r.setTable(*todo[0].table, 0)
		}
		if writes > 8 {
			t.Errorf("with the spare %q: %d writes, the last one with %+v", spare, writes, r.table.buckets)
		}
	}
}
