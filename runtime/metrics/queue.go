// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// QueueProvider receives the metrics of work queues. It serves any number of queues, even several
// of one name.
type QueueProvider interface {
	// BeginQueue is called when a queue is made. read returns the queue's state, and takes its lock
	// briefly. The returned function must not be nil; it is called once, when the queue has ended.
	BeginQueue(name string, read func() QueueState) (end func())
}

// QueueState is the state of a work queue.
type QueueState struct {
	// Depth is the number of ready keys by level, the highest first. It includes keys added while
	// they are worked on.
	Depth [3]int
	// Oldest is the time the oldest ready key has been ready, or 0.
	Oldest time.Duration
	// Delayed is the number of keys that wait for a time, Held the number of held keys, and Failing
	// the number of keys whose last attempt failed.
	Delayed, Held, Failing int
	// Running is the number of running keys, RunningFor the sum of their times, and LongestRunning
	// the longest of these.
	Running                    int
	RunningFor, LongestRunning time.Duration

	// The totals below start at 0 when the queue is made and never decrease.

	// Adds counts how often a key came to wait for a worker.
	Adds int64
	// Retries counts delays, after failures and others.
	Retries int64
	// Waited has the times keys waited for a worker, Worked the times they were worked on.
	Waited, Worked Durations
}

// Durations counts durations by size.
type Durations struct {
	// Counts has the number of durations up to each of the bounds 10 ns, 100 ns and so on to
	// 1,000 s, above the previous bound; the last entry counts those above 1,000 s.
	Counts [13]int64
	// Sum is the sum of all durations.
	Sum time.Duration
}
