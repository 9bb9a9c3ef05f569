// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
)

// stats are what core counts for metrics. Its lock guards them.
type stats struct {
	adds, retries  int64
	waited, worked durations
}

// durations are counts in the form of metrics.Durations.
type durations struct{ metrics.Durations }

// count adds a duration of so many nanoseconds. The bounds are ten times as long as the ones before.
func (d *durations) count(took int64) {
	at, bound := 0, int64(10)
	for at < len(d.Counts)-1 && took > bound {
		at, bound = at+1, 10*bound
	}
	d.Counts[at]++
	d.Sum += time.Duration(took)
}

// state is what metrics are made of.
func (c *core) state() metrics.QueueState {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tick(now)
	s := metrics.QueueState{
		Delayed: c.waitingKeys() + c.paced.n, Held: c.held, Failing: c.failing, Running: len(c.running),
		Adds: c.adds, Retries: c.retries, Waited: c.waited.Durations, Worked: c.worked.Durations,
	}
	for l := range s.Depth {
		s.Depth[l] = c.ready[l].n + c.added[l]
	}
	if i := c.oldest(); i != none {
		s.Oldest = time.Duration(max(0, now-c.slots.at(i).since))
	}
	for _, i := range c.running {
		age := time.Duration(max(0, now-c.slots.at(i).since))
		s.RunningFor += age
		s.LongestRunning = max(s.LongestRunning, age)
	}
	return s
}
