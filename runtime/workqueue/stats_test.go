// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// recorder is a metrics.QueueProvider for one queue.
type recorder struct {
	name  string
	read  func() metrics.QueueState
	ended int
}

func (r *recorder) BeginQueue(name string, read func() metrics.QueueState) func() {
	r.name, r.read = name, read
	return func() { r.ended++ }
}

func TestQueueMetrics(t *testing.T) {
	m := &recorder{}
	opts := exactDelays
	opts.Name, opts.Metrics = "widgets", m
	inBubble(t, opts, func(k kit) {
		want := func(step string, want metrics.QueueState) {
			t.Helper()
			if got := m.read(); got != want {
				t.Fatalf("QueueState after %q is\n%+v, want\n%+v", step, got, want)
			}
		}
		s := metrics.QueueState{}
		want("new", s)

		k.Add("a")
		k.Add("a")
		k.AddWith("b", at(workqueue.Low))
		k.AddWith("c", after(time.Second))
		time.Sleep(100 * ms)
		s.Depth, s.Delayed, s.Oldest, s.Adds, s.Retries = [3]int{0, 1, 1}, 1, 100*ms, 2, 1
		want("added", s)

		a := k.get("a", 100*ms)
		s.Waited.Counts[7]++ // 100 ms
		s.Waited.Sum += 100 * ms
		k.AddWith("a", at(workqueue.High))
		k.Add("a")
		time.Sleep(50 * ms)
		s.Depth, s.Oldest, s.Adds = [3]int{1, 0, 1}, 150*ms, 3
		s.Running, s.RunningFor, s.LongestRunning = 1, 50*ms, 50*ms
		want("running and added again", s)

		b := k.get("b", 150*ms)
		s.Waited.Counts[8]++ // 150 ms
		s.Waited.Sum += 150 * ms
		time.Sleep(10 * ms)
		s.Depth, s.Oldest = [3]int{1, 0, 0}, 0
		s.Running, s.RunningFor, s.LongestRunning = 2, 70*ms, 60*ms
		want("both running", s)

		a.Done(succeeded)
		b.Done(workqueue.Outcome{Failed: true, Hold: time.Minute})
		s.Worked.Counts[7]++ // 60 ms
		s.Worked.Counts[6]++ // 10 ms
		s.Worked.Sum += 70 * ms
		s.Running, s.RunningFor, s.LongestRunning = 0, 0, 0
		s.Oldest, s.Held, s.Failing, s.Retries = 60*ms, 1, 1, 2
		want("done", s)

		time.Sleep(840 * ms) // until c is due
		s.Depth, s.Oldest, s.Delayed, s.Adds = [3]int{1, 1, 0}, 900*ms, 0, 4
		want("due", s)

		k.shutDown(workqueue.Drop)
		k.shutDown(workqueue.Drop)
		if m.name != "widgets" || m.ended != 1 {
			t.Errorf("BeginQueue got %q, and its result was called %d times, want widgets and 1", m.name, m.ended)
		}
	})
}

func TestDurationBuckets(t *testing.T) {
	for n, bound := range []int64{10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12} {
		for off, want := range map[int64]int{-1: n, 0: n, 1: n + 1} {
			if got := workqueue.BucketOf(time.Duration(bound + off)); got != want {
				t.Errorf("BucketOf(%d ns) = %d, want %d", bound+off, got, want)
			}
		}
	}
	for took, want := range map[int64]int{0: 0, 1: 0, 9: 0, 15: 1, 1 << 62: 12} {
		if got := workqueue.BucketOf(time.Duration(took)); got != want {
			t.Errorf("BucketOf(%d ns) = %d, want %d", took, got, want)
		}
	}
}
