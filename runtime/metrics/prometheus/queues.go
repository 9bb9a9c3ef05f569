// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"
	"math"
	"slices"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Queues is a metrics.QueueProvider whose metrics a Prometheus registry collects. Any number of
// work queues may use it. The names of the metrics are those of Kubernetes' work queues, so
// dashboards and alerts for these work.
type Queues struct {
	queues collector[metrics.QueueState]
}

var (
	_ metrics.QueueProvider = (*Queues)(nil)
	_ prom.Collector        = (*Queues)(nil)
)

// NewQueues returns Queues that are registered with registerer, which must not be nil. They have a
// registration of their own because other libraries have metrics of the same names with other
// labels: use another registry than those, or wrap registerer to add a prefix.
func NewQueues(registerer prom.Registerer) (*Queues, error) {
	if registerer == nil {
		return nil, errors.New("work queue metrics: the registerer is nil; use prometheus.DefaultRegisterer or one of your own")
	}
	q := unregisteredQueues()
	if err := registerer.Register(q); err != nil {
		return nil, fmt.Errorf("work queue metrics: register: %w", err)
	}
	return q, nil
}

func unregisteredQueues() *Queues {
	return &Queues{queues: collector[metrics.QueueState]{metrics: queueMetrics}}
}

// BeginQueue implements metrics.QueueProvider. Bytes of name that are not UTF-8 become U+FFFD.
func (q *Queues) BeginQueue(name string, read func() metrics.QueueState) (end func()) {
	return q.queues.begin(names{first: labelValue(name)}, nil, read)
}

// Describe implements prometheus.Collector.
func (q *Queues) Describe(ch chan<- *prom.Desc) { q.queues.Describe(ch) }

// Collect implements prometheus.Collector. It takes the lock of each queue, one after the other,
// for a moment.
func (q *Queues) Collect(ch chan<- prom.Metric) { q.queues.Collect(ch) }

type queueState = metrics.QueueState

func queueDesc(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("workqueue_"+name, help, append([]string{"name"}, labels...), nil)
}

var depthDesc = queueDesc("depth", "Keys that wait to be handed out, by priority: 1, 0 or -1.", "priority")

var queueMetrics = slices.Concat([]metric[queueState]{
	gauge(depthDesc, sum, func(s *queueState) float64 { return float64(s.Depth[0]) }, "1"),
	gauge(depthDesc, sum, func(s *queueState) float64 { return float64(s.Depth[1]) }, "0"),
	gauge(depthDesc, sum, func(s *queueState) float64 { return float64(s.Depth[2]) }, "-1"),
	gauge(queueDesc("oldest_seconds", "How long the oldest of the keys that are ready has been."), math.Max,
		func(s *queueState) float64 { return s.Oldest.Seconds() }),
	gauge(queueDesc("delayed", "Keys that wait for a time."), sum, func(s *queueState) float64 { return float64(s.Delayed) }),
	gauge(queueDesc("held", "Keys that wait until the cache has what was written."), sum, func(s *queueState) float64 { return float64(s.Held) }),
	gauge(queueDesc("failing", "Keys that have failed at their last attempt."), sum, func(s *queueState) float64 { return float64(s.Failing) }),
	total(queueDesc("adds_total", "How often a key came to wait to be handed out."), func(s *queueState) int64 { return s.Adds }),
	total(queueDesc("retries_total", "Delays, because of failures and others."), func(s *queueState) int64 { return s.Retries }),
	gauge(queueDesc("unfinished_work_seconds", "How long all keys together have been worked on that are now."), sum,
		func(s *queueState) float64 { return s.RunningFor.Seconds() }),
	gauge(queueDesc("longest_running_processor_seconds", "How long the longest-running one has been worked on."), math.Max,
		func(s *queueState) float64 { return s.LongestRunning.Seconds() }),
},
	histogram(queueDesc("queue_duration_seconds", "How long keys waited to be handed out."), func(s *queueState) *metrics.Durations { return &s.Waited }),
	histogram(queueDesc("work_duration_seconds", "How long keys were worked on."), func(s *queueState) *metrics.Durations { return &s.Worked }),
)
