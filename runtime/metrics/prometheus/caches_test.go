// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

func newCaches(t *testing.T) (*Caches, *prom.Registry) {
	t.Helper()
	registry := prom.NewPedanticRegistry()
	c, err := NewCaches(registry)
	if err != nil {
		t.Fatal(err)
	}
	return c, registry
}

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
	c, registry := newCaches(t)
	c.BeginCache("widgets", fixedCache(someCache))
	want, err := os.ReadFile("testdata/caches.prom")
	if err != nil {
		t.Fatal(err)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(string(want))); err != nil {
		t.Error(err)
	}
	problems, err := testutil.GatherAndLint(registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestCachesOfOneNameShareTheirSeries: sums, or the worse value. Totals stay when one has ended.
func TestCachesOfOneNameShareTheirSeries(t *testing.T) {
	c, registry := newCaches(t)
	c.BeginCache("widgets", fixedCache(someCache))
	other := metrics.CacheState{
		LastEvent: time.Unix(1600000000, 0), Version: 40, Oldest: 35, Objects: 1, Sent: 1000, Err: errors.New("down"),
	}
	end := c.BeginCache("widgets", fixedCache(other))
	want := func(text string) {
		t.Helper()
		if err := testutil.GatherAndCompare(registry, strings.NewReader(text),
			"watchcache_ready", "watchcache_failing", "watchcache_last_event_timestamp_seconds", "watchcache_resource_version",
			"watchcache_oldest_resource_version", "watchcache_objects", "watchcache_sent_events_total"); err != nil {
			t.Error(err)
		}
	}
	const text = `
# HELP watchcache_failing 1 if the storage has failed since its last event, else 0.
# TYPE watchcache_failing gauge
watchcache_failing{cache="widgets"} FAILING
# HELP watchcache_last_event_timestamp_seconds When the storage's last event or bookmark came, in Unix time.
# TYPE watchcache_last_event_timestamp_seconds gauge
watchcache_last_event_timestamp_seconds{cache="widgets"} LAST
# HELP watchcache_objects Objects in the cache.
# TYPE watchcache_objects gauge
watchcache_objects{cache="widgets"} OBJECTS
# HELP watchcache_oldest_resource_version The oldest version that requests may name.
# TYPE watchcache_oldest_resource_version gauge
watchcache_oldest_resource_version{cache="widgets"} OLDEST
# HELP watchcache_ready 1 if the cache is filled and runs, else 0.
# TYPE watchcache_ready gauge
watchcache_ready{cache="widgets"} READY
# HELP watchcache_resource_version The version of the cache.
# TYPE watchcache_resource_version gauge
watchcache_resource_version{cache="widgets"} VERSION
# HELP watchcache_sent_events_total Events that watches have got.
# TYPE watchcache_sent_events_total counter
watchcache_sent_events_total{cache="widgets"} 1101
`
	want(strings.NewReplacer("FAILING", "1", "LAST", "1.6e9", "OBJECTS", "8", "OLDEST", "35", "READY", "0", "VERSION", "40").Replace(text))
	end()
	want(strings.NewReplacer("FAILING", "0", "LAST", "1.7e9", "OBJECTS", "7", "OLDEST", "30", "READY", "1", "VERSION", "50").Replace(text))
}

// TestACacheThatIsNotFilledIsBehindAllOthers, in whatever order they are read.
func TestACacheThatIsNotFilledIsBehindAllOthers(t *testing.T) {
	c, registry := newCaches(t)
	c.BeginCache("widgets", fixedCache(someCache))
	c.BeginCache("widgets", fixedCache(metrics.CacheState{}))
	for range 100 {
		if err := testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP watchcache_resource_version The version of the cache.
# TYPE watchcache_resource_version gauge
watchcache_resource_version{cache="widgets"} 0
`), "watchcache_resource_version"); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCachesAreRegisteredOnce(t *testing.T) {
	_, registry := newCaches(t)
	_, err := NewCaches(registry)
	if already := (prom.AlreadyRegisteredError{}); !errors.As(err, &already) {
		t.Errorf("got %v", err)
	}
	if _, err := NewCaches(nil); err == nil {
		t.Error("a nil registerer is accepted")
	}
}
