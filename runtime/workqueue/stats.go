// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// stats are the counters for metrics. The queue's lock guards them.
type stats struct {
	adds, retries  int64
	waited, worked durations
}

type durations struct{ metrics.Durations }

var bounds = [12]time.Duration{10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12}

func (d *durations) count(took time.Duration) {
	at := 0
	for at < len(bounds) && took > bounds[at] {
		at++
	}
	d.Counts[at]++
	d.Sum += took
}

func (q *Queue[K]) state() metrics.QueueState {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.tickLocked(now)
	s := metrics.QueueState{
		Delayed: len(q.delays) - q.heldKeys + q.paced.len(), Held: q.heldKeys, Failing: q.failingKeys, Running: q.running.n,
		Adds: q.adds, Retries: q.retries, Waited: q.waited.Durations, Worked: q.worked.Durations,
	}
	for l := range s.Depth {
		s.Depth[l] = q.ready[l].len()
	}
	if e := q.oldestReadyLocked(); e != nil {
		s.Oldest = max(0, now-e.since)
	}
	for e := q.running.first; e != nil; e = e.next {
		age := max(0, now-e.since)
		s.RunningFor += age
		s.LongestRunning = max(s.LongestRunning, age)
		if e.requeue {
			s.Depth[e.requeueLevel]++
		}
	}
	return s
}
