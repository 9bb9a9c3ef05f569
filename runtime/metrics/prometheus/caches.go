// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// BeginCache implements metrics.CacheProvider. Invalid UTF-8 in name becomes U+FFFD.
func (p *Provider) BeginCache(name string, read func() metrics.CacheState) (end func()) {
	return p.caches.begin(named(name), nil, read)
}

type cacheState = metrics.CacheState

func cacheDesc(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("watchcache_"+name, help, append([]string{"cache"}, labels...), nil)
}

func cacheGauge(merge func(a, b float64) float64, name, help string, value func(*cacheState) float64) metric[cacheState] {
	return gauge(cacheDesc(name, help), merge, value)
}

func cacheTotal(name, help string, value func(*cacheState) int64) metric[cacheState] {
	return total(cacheDesc(name, help), value)
}

var (
	readsDesc = cacheDesc("reads_total", "Gets and lists answered from memory.", "verb")
	endedDesc = cacheDesc("ended_watches_total", "Ended watches, by reason.", "reason")
)

var cacheMetrics = []metric[cacheState]{
	cacheGauge(math.Min, "ready", "1 if the cache is filled and runs, else 0.", func(s *cacheState) float64 { return oneIf(s.Ready) }),
	cacheGauge(math.Max, "failing", "1 if the storage has failed since its last event, else 0.", func(s *cacheState) float64 { return oneIf(s.Err != nil) }),
	cacheGauge(math.Min, "last_event_timestamp_seconds", "Time of the storage's last event or bookmark, in Unix time.",
		func(s *cacheState) float64 { return unix(s.LastEvent) }),
	cacheGauge(math.Min, "resource_version", "The version of the cache.", func(s *cacheState) float64 { return float64(s.Version) }),
	cacheGauge(math.Max, "oldest_resource_version", "The oldest version that requests may name.", func(s *cacheState) float64 { return float64(s.Oldest) }),
	cacheGauge(math.Max, "awaited_resource_version", "The newest version for which a request waits; 0 if none waits.",
		func(s *cacheState) float64 { return float64(s.Awaited) }),
	cacheGauge(sum, "objects", "Objects in the cache.", func(s *cacheState) float64 { return float64(s.Objects) }),
	cacheGauge(sum, "object_bytes", "Estimated memory of the objects.", func(s *cacheState) float64 { return float64(s.ObjectBytes) }),
	cacheGauge(sum, "log_changes", "Changes in the log.", func(s *cacheState) float64 { return float64(s.Changes) }),
	cacheGauge(sum, "log_bytes", "Estimated memory of the log.", func(s *cacheState) float64 { return float64(s.ChangeBytes) }),
	cacheGauge(math.Max, "log_oldest_seconds", "Age of the oldest change in the log; 0 if the log is empty.",
		func(s *cacheState) float64 { return age(s.OldestChange) }),
	cacheGauge(sum, "watchers", "Open watches.", func(s *cacheState) float64 { return float64(s.Watchers) }),
	cacheTotal("changes_total", "Changes of objects applied by the cache.", func(s *cacheState) int64 { return s.Applied }),
	cacheTotal("sent_events_total", "Events sent to watches.", func(s *cacheState) int64 { return s.Sent }),
	total(readsDesc, func(s *cacheState) int64 { return s.Gets }, "get"),
	total(readsDesc, func(s *cacheState) int64 { return s.Lists }, "list"),
	cacheTotal("relists_total", "How often the storage was listed again.", func(s *cacheState) int64 { return s.Relists }),
	cacheTotal("failures_total", "How often the storage has failed.", func(s *cacheState) int64 { return s.Failures }),
	cacheTotal("merged_watches_total", "How often a slow watch was sent the difference of two states.", func(s *cacheState) int64 { return s.Merged }),
	total(endedDesc, func(s *cacheState) int64 { return s.Ended.Closed }, "closed"),
	total(endedDesc, func(s *cacheState) int64 { return s.Ended.TimedOut }, "timed_out"),
	total(endedDesc, func(s *cacheState) int64 { return s.Ended.Slow }, "slow"),
	total(endedDesc, func(s *cacheState) int64 { return s.Ended.Expired }, "expired"),
	total(endedDesc, func(s *cacheState) int64 { return s.Ended.Failed }, "failed"),
	total(endedDesc, func(s *cacheState) int64 { return s.Ended.Stopped }, "stopped"),
}
