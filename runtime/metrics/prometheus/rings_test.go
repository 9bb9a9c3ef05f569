// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func fixedRing(s metrics.RingState) func() metrics.RingState {
	return func() metrics.RingState { return s }
}

var someRing = metrics.RingState{
	Active: true, Coordinator: true, Members: 4, Owned: 16, Unowned: 2500 * time.Millisecond,
	Granted: 20, Released: 3, Evicted: 1, Unclaimed: 5,
}

func TestEveryRingMetric(t *testing.T) {
	p, registry := registered(t)
	state := metrics.RingState{}
	p.BeginRing("databases", func() metrics.RingState { return state })
	state = someRing
	golden(t, registry, "testdata/rings.prom")
}

// TestRingsOfOneNameShareTheirSeries: sums, or the worse value. Totals go on in the next run, and
// stay after the end of one.
func TestRingsOfOneNameShareTheirSeries(t *testing.T) {
	p, registry := registered(t)
	state := metrics.RingState{}
	end := p.BeginRing("databases", func() metrics.RingState { return state })
	state = someRing
	p.BeginRing("databases", fixedRing(metrics.RingState{Members: 3, Owned: 2, Unowned: time.Minute, Granted: 7}))
	check := func(active, coordinator, members, owned, unowned float64) {
		t.Helper()
		wantSamples(t, registry, map[string]float64{
			"shard_active{databases}": active, "shard_coordinator{databases}": coordinator, "shard_members{databases}": members,
			"shard_buckets_owned{databases}": owned, "shard_unowned_seconds{databases}": unowned,
			"shard_bucket_moves_total{granted,databases}": 20, "shard_unclaimed_requests_total{databases}": 5,
		})
	}
	check(0, 1, 3, 18, 60)
	end()
	check(0, 0, 3, 2, 60)
}
