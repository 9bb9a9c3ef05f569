// SPDX-License-Identifier: Apache-2.0

package prometheus

import (
	"math"
	"slices"
	"time"

	prom "github.com/prometheus/client_golang/prometheus"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

type queueState = metrics.QueueState

func queueDesc(name, help string, labels ...string) *prom.Desc {
	return prom.NewDesc("workqueue_"+name, help, append([]string{"name", "controller"}, labels...), nil)
}

var depthDesc = queueDesc("depth", "Keys that wait to be handed out, by priority: 1, 0 or -1.", "priority")

var queueMetrics = slices.Concat([]metric[queueState]{
	gauge(depthDesc, sum, func(s *queueState) float64 { return float64(s.Depth[0]) }, "1"),
	gauge(depthDesc, sum, func(s *queueState) float64 { return float64(s.Depth[1]) }, "0"),
	gauge(depthDesc, sum, func(s *queueState) float64 { return float64(s.Depth[2]) }, "-1"),
	gauge(queueDesc("oldest_seconds", "How long the oldest ready key has been ready."), math.Max,
		func(s *queueState) float64 { return s.Oldest.Seconds() }),
	gauge(queueDesc("delayed", "Keys that wait for a time."), sum, func(s *queueState) float64 { return float64(s.Delayed) }),
	gauge(queueDesc("held", "Keys held back until the cache has their last writes."), sum, func(s *queueState) float64 { return float64(s.Held) }),
	gauge(queueDesc("failing", "Keys whose last attempt failed."), sum, func(s *queueState) float64 { return float64(s.Failing) }),
	total(queueDesc("adds_total", "How often a key became ready."), func(s *queueState) int64 { return s.Adds }),
	total(queueDesc("retries_total", "Delays, after failures and others."), func(s *queueState) int64 { return s.Retries }),
	gauge(queueDesc("unfinished_work_seconds", "Sum of the times the running keys have been running."), sum,
		func(s *queueState) float64 { return s.RunningFor.Seconds() }),
	gauge(queueDesc("longest_running_processor_seconds", "How long the longest-running key has been running."), math.Max,
		func(s *queueState) float64 { return s.LongestRunning.Seconds() }),
},
	histogram(queueDesc("queue_duration_seconds", "How long keys waited to be handed out."), queueBounds,
		func(s *queueState) ([]int64, time.Duration) { return s.Waited.Counts[:], s.Waited.Sum }),
	histogram(queueDesc("work_duration_seconds", "How long keys were worked on."), queueBounds,
		func(s *queueState) ([]int64, time.Duration) { return s.Worked.Counts[:], s.Worked.Sum }),
)

// queueBounds are the bounds of metrics.Durations, in seconds.
var queueBounds = []float64{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000}
