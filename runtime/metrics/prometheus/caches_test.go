// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// fixedCache returns a function that returns the state.
func fixedCache(s metrics.CacheState) func() metrics.CacheState {
	return func() metrics.CacheState { return s }
}

var someCache = metrics.CacheState{
	Ready: true, LastEvent: time.Unix(1700000000, 0), Version: 50, Oldest: 30, Awaited: 60,
	Objects: 7, Changes: 8, ObjectBytes: 9000, ChangeBytes: 10000, Watchers: 11,
	Applied: 100, Sent: 101, Gets: 102, Lists: 103, Relists: 104, Failures: 105, Merged: 106,
	Ended: metrics.WatchEnds{Closed: 1, TimedOut: 2, Slow: 3, Expired: 4, Failed: 5, Stopped: 6},
}

func TestEveryCacheMetric(t *testing.T) {
	c, registry := registered(t)
	c.BeginCache("widgets", fixedCache(someCache))
	golden(t, registry, "testdata/caches.prom")
}

// TestCachesOfOneNameShareTheirSeries: sums, or the worse value. Totals stay after the end of a
// cache.
func TestCachesOfOneNameShareTheirSeries(t *testing.T) {
	c, registry := registered(t)
	c.BeginCache("widgets", fixedCache(someCache))
	end := c.BeginCache("widgets", fixedCache(metrics.CacheState{
		LastEvent: time.Unix(1600000000, 0), Version: 40, Oldest: 35, Objects: 1, Sent: 1000, Err: errors.New("down"),
	}))
	check := func(ready, failing, last, version, oldest, objects float64) {
		t.Helper()
		wantSamples(t, registry, map[string]float64{
			"watchcache_ready{widgets}": ready, "watchcache_failing{widgets}": failing, "watchcache_last_event_timestamp_seconds{widgets}": last,
			"watchcache_resource_version{widgets}": version, "watchcache_oldest_resource_version{widgets}": oldest,
			"watchcache_objects{widgets}": objects, "watchcache_sent_events_total{widgets}": 1101,
		})
	}
	check(0, 1, 1.6e9, 40, 35, 8)
	end()
	check(1, 0, 1.7e9, 50, 30, 7)
}

// TestUnfilledCacheIsBehindAllOthers: in any order of reads.
func TestUnfilledCacheIsBehindAllOthers(t *testing.T) {
	c, registry := registered(t)
	c.BeginCache("widgets", fixedCache(someCache))
	c.BeginCache("widgets", fixedCache(metrics.CacheState{}))
	for range 100 {
		wantSamples(t, registry, map[string]float64{"watchcache_resource_version{widgets}": 0})
	}
}
