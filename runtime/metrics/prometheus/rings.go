// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

var _ metrics.RingProvider = (*Provider)(nil)

// BeginRing implements metrics.RingProvider. Invalid UTF-8 in name becomes U+FFFD.
func (p *Provider) BeginRing(name string, read func() metrics.RingState) (end func()) {
	before := read()
	return p.rings.begin(named(name), &before, read)
}

type ringState = metrics.RingState

func ringDesc(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("shard_"+name, help, append([]string{"ring"}, labels...), nil)
}

var movesDesc = ringDesc("bucket_moves_total", "Buckets that this process was granted, has released, or has lost without releasing them.", "direction")

var ringMetrics = []metric[ringState]{
	gauge(ringDesc("active", "1 if this process may be granted buckets, else 0."), math.Min, func(s *ringState) float64 { return oneIf(s.Active) }),
	gauge(ringDesc("coordinator", "1 if this process plans who gets which bucket, else 0."), math.Max, func(s *ringState) float64 { return oneIf(s.Coordinator) }),
	gauge(ringDesc("members", "Processes that take part, as this one sees it."), math.Min, func(s *ringState) float64 { return float64(s.Members) }),
	gauge(ringDesc("buckets_owned", "Buckets on which this process works."), sum, func(s *ringState) float64 { return float64(s.Owned) }),
	gauge(ringDesc("unowned_seconds", "How long nobody has worked on a bucket, as this process sees it: the longest time; 0 if all have an owner."),
		math.Max, func(s *ringState) float64 { return s.Unowned.Seconds() }),
	total(movesDesc, func(s *ringState) int64 { return s.Granted }, "granted"),
	total(movesDesc, func(s *ringState) int64 { return s.Released }, "released"),
	total(movesDesc, func(s *ringState) int64 { return s.Evicted }, "evicted"),
	total(ringDesc("unclaimed_requests_total", "Requests that belong to no reconcile, so that only the lease of this process guards them."),
		func(s *ringState) int64 { return s.Unclaimed }),
}
