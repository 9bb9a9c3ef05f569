// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"cmp"
	"errors"
	"fmt"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Caches is a metrics.CacheProvider whose metrics a Prometheus registry collects. Any number of
// watch caches may use it.
type Caches struct {
	caches runs[cacheState]
}

// cacheState is the state of one cache, or of all of one name. So unready is true if one of them is
// not ready. some reports whether the state of one was added.
type cacheState struct {
	metrics.CacheState
	unready, some bool
}

var (
	_ metrics.CacheProvider = (*Caches)(nil)
	_ prom.Collector        = (*Caches)(nil)
)

// NewCaches returns Caches that are registered with registerer, which must not be nil.
func NewCaches(registerer prom.Registerer) (*Caches, error) {
	if registerer == nil {
		return nil, errors.New("watch cache metrics: the registerer is nil; use prometheus.DefaultRegisterer or one of your own")
	}
	c := &Caches{caches: runs[cacheState]{addTotals: addCacheTotals, addState: addCacheState}}
	if err := registerer.Register(c); err != nil {
		return nil, fmt.Errorf("watch cache metrics: register: %w", err)
	}
	return c, nil
}

// BeginCache implements metrics.CacheProvider. Bytes of name that are not UTF-8 become U+FFFD.
func (c *Caches) BeginCache(name string, read func() metrics.CacheState) (end func()) {
	return c.caches.begin(name, cacheState{}, func() cacheState {
		s := read()
		return cacheState{CacheState: s, unready: !s.Ready}
	})
}

var (
	cacheReadyDesc       = describeCache("ready", "1 if the cache is filled and runs, else 0.")
	cacheFailingDesc     = describeCache("failing", "1 if the storage has failed since its last event, else 0.")
	cacheLastEventDesc   = describeCache("last_event_timestamp_seconds", "When the storage's last event or bookmark came, in Unix time.")
	cacheVersionDesc     = describeCache("resource_version", "The version of the cache.")
	cacheOldestDesc      = describeCache("oldest_resource_version", "The oldest version that requests may name.")
	cacheAwaitedDesc     = describeCache("awaited_resource_version", "The newest version for which a request waits; 0 if none waits.")
	cacheObjectsDesc     = describeCache("objects", "Objects in the cache.")
	cacheObjectBytesDesc = describeCache("object_bytes", "Memory that the objects take, about.")
	cacheLogChangesDesc  = describeCache("log_changes", "Changes in the log.")
	cacheLogBytesDesc    = describeCache("log_bytes", "Memory that the log takes, about.")
	cacheLogOldestDesc   = describeCache("log_oldest_seconds", "Age of the oldest change in the log; 0 if the log is empty.")
	cacheWatchersDesc    = describeCache("watchers", "Open watches.")
	cacheAppliedDesc     = describeCache("changes_total", "Changes of objects that the cache has made.")
	cacheSentDesc        = describeCache("sent_events_total", "Events that watches have got.")
	cacheReadsDesc       = describeCache("reads_total", "Gets and lists that were answered from memory.", "verb")
	cacheRelistsDesc     = describeCache("relists_total", "How often the storage was listed again.")
	cacheFailuresDesc    = describeCache("failures_total", "How often the storage has failed.")
	cacheMergedDesc      = describeCache("merged_watches_total", "How often a slow watch has got the difference of two states.")
	cacheEndedDesc       = describeCache("ended_watches_total", "Watches that have ended, by reason.", "reason")
	cacheDescs           = []*prom.Desc{
		cacheReadyDesc, cacheFailingDesc, cacheLastEventDesc, cacheVersionDesc, cacheOldestDesc, cacheAwaitedDesc,
		cacheObjectsDesc, cacheObjectBytesDesc, cacheLogChangesDesc, cacheLogBytesDesc, cacheLogOldestDesc, cacheWatchersDesc,
		cacheAppliedDesc, cacheSentDesc, cacheReadsDesc, cacheRelistsDesc, cacheFailuresDesc, cacheMergedDesc, cacheEndedDesc,
	}
)

func describeCache(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("watchcache_"+name, help, append([]string{"cache"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (c *Caches) Describe(ch chan<- *prom.Desc) {
	for _, desc := range cacheDescs {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It takes the lock of each cache, one after the other,
// for a moment.
func (c *Caches) Collect(ch chan<- prom.Metric) {
	c.caches.sums(func(name string, sum *cacheState) { collectCache(ch, name, sum) })
}

func collectCache(ch chan<- prom.Metric, name string, s *cacheState) {
	emit := func(desc *prom.Desc, typ prom.ValueType, value float64, labels ...string) {
		ch <- prom.MustNewConstMetric(desc, typ, value, append([]string{name}, labels...)...)
	}
	emit(cacheReadyDesc, prom.GaugeValue, oneIf(!s.unready))
	emit(cacheFailingDesc, prom.GaugeValue, oneIf(s.Err != nil))
	if !s.LastEvent.IsZero() {
		emit(cacheLastEventDesc, prom.GaugeValue, unix(s.LastEvent))
	}
	emit(cacheVersionDesc, prom.GaugeValue, float64(s.Version))
	emit(cacheOldestDesc, prom.GaugeValue, float64(s.Oldest))
	emit(cacheAwaitedDesc, prom.GaugeValue, float64(s.Awaited))
	emit(cacheObjectsDesc, prom.GaugeValue, float64(s.Objects))
	emit(cacheObjectBytesDesc, prom.GaugeValue, float64(s.ObjectBytes))
	emit(cacheLogChangesDesc, prom.GaugeValue, float64(s.Changes))
	emit(cacheLogBytesDesc, prom.GaugeValue, float64(s.ChangeBytes))
	emit(cacheLogOldestDesc, prom.GaugeValue, age(s.OldestChange))
	emit(cacheWatchersDesc, prom.GaugeValue, float64(s.Watchers))
	emit(cacheAppliedDesc, prom.CounterValue, float64(s.Applied))
	emit(cacheSentDesc, prom.CounterValue, float64(s.Sent))
	emit(cacheReadsDesc, prom.CounterValue, float64(s.Gets), "get")
	emit(cacheReadsDesc, prom.CounterValue, float64(s.Lists), "list")
	emit(cacheRelistsDesc, prom.CounterValue, float64(s.Relists))
	emit(cacheFailuresDesc, prom.CounterValue, float64(s.Failures))
	emit(cacheMergedDesc, prom.CounterValue, float64(s.Merged))
	for _, end := range []struct {
		reason string
		count  int64
	}{
		{"closed", s.Ended.Closed},
		{"timed_out", s.Ended.TimedOut},
		{"slow", s.Ended.Slow},
		{"expired", s.Ended.Expired},
		{"failed", s.Ended.Failed},
		{"stopped", s.Ended.Stopped},
	} {
		emit(cacheEndedDesc, prom.CounterValue, float64(end.count), end.reason)
	}
}

func addCacheTotals(sum, now, before *cacheState) {
	sum.Applied += now.Applied - before.Applied
	sum.Sent += now.Sent - before.Sent
	sum.Gets += now.Gets - before.Gets
	sum.Lists += now.Lists - before.Lists
	sum.Relists += now.Relists - before.Relists
	sum.Failures += now.Failures - before.Failures
	sum.Merged += now.Merged - before.Merged
	sum.Ended.Closed += now.Ended.Closed - before.Ended.Closed
	sum.Ended.TimedOut += now.Ended.TimedOut - before.Ended.TimedOut
	sum.Ended.Slow += now.Ended.Slow - before.Ended.Slow
	sum.Ended.Expired += now.Ended.Expired - before.Ended.Expired
	sum.Ended.Failed += now.Ended.Failed - before.Ended.Failed
	sum.Ended.Stopped += now.Ended.Stopped - before.Ended.Stopped
}

// addCacheState adds numbers and sizes, and takes the worse of other values: of two versions the
// one of the cache that is behind, of two times the earlier one.
func addCacheState(sum, now *cacheState) {
	sum.unready = sum.unready || now.unready
	sum.Err = cmp.Or(sum.Err, now.Err)
	sum.LastEvent = earlierSet(sum.LastEvent, now.LastEvent)
	if !sum.some || now.Version < sum.Version {
		sum.Version = now.Version
	}
	sum.some = true
	sum.Oldest = max(sum.Oldest, now.Oldest)
	sum.Awaited = max(sum.Awaited, now.Awaited)
	sum.Objects += now.Objects
	sum.ObjectBytes += now.ObjectBytes
	sum.Changes += now.Changes
	sum.ChangeBytes += now.ChangeBytes
	sum.OldestChange = earlierSet(sum.OldestChange, now.OldestChange)
	sum.Watchers += now.Watchers
}
