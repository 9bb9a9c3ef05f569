// SPDX-License-Identifier: Apache-2.0

package workqueue

import (
	"math/bits"
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

// bounds are the bounds of buckets in nanoseconds. The bucket of a duration is that of the power of
// two below it, or the next one.
var bounds = [10]int64{10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}

var bucketOfBits = func() (buckets [65]uint8) {
	for n := range buckets {
		for at, bound := range bounds {
			if n > 0 && int64(1)<<min(n-1, 62) > bound {
				buckets[n] = uint8(at + 1)
			}
		}
	}
	return buckets
}()

// count adds a duration of so many nanoseconds.
func (d *durations) count(took int64) {
	at := bucketOfBits[bits.Len64(uint64(took))]
	if int(at) < len(bounds) && took > bounds[at] {
		at++
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
