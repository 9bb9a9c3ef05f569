// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"errors"
	"fmt"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// Queues is a metrics.QueueProvider whose metrics a Prometheus registry collects. Any number of
// work queues may use it. The names of the metrics are those of Kubernetes' work queues, so
// dashboards and alerts for these work.
type Queues struct {
	queues runs[metrics.QueueState]
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
	return &Queues{queues: runs[metrics.QueueState]{addTotals: addQueueTotals, addState: addQueueState}}
}

// BeginQueue implements metrics.QueueProvider. Bytes of name that are not UTF-8 become U+FFFD.
func (q *Queues) BeginQueue(name string, read func() metrics.QueueState) (end func()) {
	return q.queues.begin(name, metrics.QueueState{}, read)
}

var (
	depthDesc        = describeQueue("depth", "Keys that wait to be handed out, by priority: 1, 0 or -1.", "priority")
	oldestDesc       = describeQueue("oldest_seconds", "How long the oldest of the keys that are ready has been.")
	delayedDesc      = describeQueue("delayed", "Keys that wait for a time.")
	heldDesc         = describeQueue("held", "Keys that wait until the cache has what was written.")
	failingDesc      = describeQueue("failing", "Keys that have failed at their last attempt.")
	addsDesc         = describeQueue("adds_total", "How often a key came to wait to be handed out.")
	retriesDesc      = describeQueue("retries_total", "Delays, because of failures and others.")
	queueSecondsDesc = describeQueue("queue_duration_seconds", "How long keys waited to be handed out.")
	workSecondsDesc  = describeQueue("work_duration_seconds", "How long keys were worked on.")
	unfinishedDesc   = describeQueue("unfinished_work_seconds", "How long all keys together have been worked on that are now.")
	longestDesc      = describeQueue("longest_running_processor_seconds", "How long the longest-running one has been worked on.")
	queueDescs       = []*prom.Desc{depthDesc, oldestDesc, delayedDesc, heldDesc, failingDesc, addsDesc, retriesDesc, queueSecondsDesc, workSecondsDesc, unfinishedDesc, longestDesc}
	queueBounds      = []float64{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10}
	queuePriorities  = [3]string{"1", "0", "-1"}
)

func describeQueue(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("workqueue_"+name, help, append([]string{"name"}, labels...), nil)
}

// Describe implements prometheus.Collector.
func (q *Queues) Describe(ch chan<- *prom.Desc) {
	for _, desc := range queueDescs {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It takes the lock of each queue, one after the other,
// for a moment.
func (q *Queues) Collect(ch chan<- prom.Metric) {
	q.queues.sums(func(name string, sum *metrics.QueueState) { collectQueue(ch, name, sum) })
}

func collectQueue(ch chan<- prom.Metric, name string, s *metrics.QueueState) {
	emit := func(desc *prom.Desc, typ prom.ValueType, value float64, labels ...string) {
		ch <- prom.MustNewConstMetric(desc, typ, value, append([]string{name}, labels...)...)
	}
	for l, depth := range s.Depth {
		emit(depthDesc, prom.GaugeValue, float64(depth), queuePriorities[l])
	}
	emit(oldestDesc, prom.GaugeValue, s.Oldest.Seconds())
	emit(delayedDesc, prom.GaugeValue, float64(s.Delayed))
	emit(heldDesc, prom.GaugeValue, float64(s.Held))
	emit(failingDesc, prom.GaugeValue, float64(s.Failing))
	emit(addsDesc, prom.CounterValue, float64(s.Adds))
	emit(retriesDesc, prom.CounterValue, float64(s.Retries))
	emit(unfinishedDesc, prom.GaugeValue, s.RunningFor.Seconds())
	emit(longestDesc, prom.GaugeValue, s.LongestRunning.Seconds())
	ch <- durationsMetric(queueSecondsDesc, name, &s.Waited)
	ch <- durationsMetric(workSecondsDesc, name, &s.Worked)
}

// durationsMetric returns a histogram of durations.
func durationsMetric(desc *prom.Desc, name string, d *metrics.Durations) prom.Metric {
	var count uint64
	buckets := make(map[float64]uint64, len(queueBounds))
	for i, n := range d.Counts {
		count += uint64(n)
		if i < len(queueBounds) {
			buckets[queueBounds[i]] = count
		}
	}
	return prom.MustNewConstHistogram(desc, count, d.Sum.Seconds(), buckets, name)
}

func addQueueTotals(sum, now, before *metrics.QueueState) {
	sum.Adds += now.Adds - before.Adds
	sum.Retries += now.Retries - before.Retries
	addDurations(&sum.Waited, &now.Waited, &before.Waited)
	addDurations(&sum.Worked, &now.Worked, &before.Worked)
}

func addDurations(sum, now, before *metrics.Durations) {
	sum.Sum += now.Sum - before.Sum
	for i := range sum.Counts {
		sum.Counts[i] += now.Counts[i] - before.Counts[i]
	}
}

// addQueueState adds numbers of keys, and takes the longer one of two durations.
func addQueueState(sum, now *metrics.QueueState) {
	for l := range sum.Depth {
		sum.Depth[l] += now.Depth[l]
	}
	sum.Oldest = max(sum.Oldest, now.Oldest)
	sum.Delayed += now.Delayed
	sum.Held += now.Held
	sum.Failing += now.Failing
	sum.RunningFor += now.RunningFor
	sum.LongestRunning = max(sum.LongestRunning, now.LongestRunning)
}
