// SPDX-License-Identifier: Apache-2.0

package metrics

import "time"

// QueueProvider gets the metrics of work queues. One QueueProvider serves any number of queues,
// also several of the same name.
type QueueProvider interface {
	// BeginQueue is called when a queue is made. read returns the state of the queue; it takes the
	// queue's lock for a moment. The function that BeginQueue returns must not be nil; it is called
	// once, when the queue has ended.
	BeginQueue(name string, read func() QueueState) (end func())
}

// QueueState is the state of a work queue.
type QueueState struct {
	// Depth is how many keys wait to be handed out, by level, the highest first. A key that was
	// added while it is worked on is one of them.
	Depth [3]int
	// Oldest is for how long the key has been ready that has been for longest; 0 if none is.
	Oldest time.Duration
	// Delayed is how many keys wait for a time, Held how many for what they were held for, and
	// Failing how many have failed at their last attempt.
	Delayed, Held, Failing int
	// Running is how many keys are worked on. RunningFor is for how long, all together, and
	// LongestRunning for how long the one that was handed out first.
	Running                    int
	RunningFor, LongestRunning time.Duration

	// What follows are totals. They begin at 0 when the queue is made and never go down.

	// Adds counts how often a key that did not wait to be handed out has come to.
	Adds int64
	// Retries counts the delays, of failures and others.
	Retries int64
	// Waited has how long keys waited to be handed out, Worked how long they were worked on.
	Waited, Worked Durations
}

// Durations counts durations by size.
type Durations struct {
	// Counts has, for each of the bounds 10 ns, 100 ns and so on to 10 s, how many durations were
	// at most that and more than the one before, and at the end how many were more than all.
	Counts [11]int64
	// Sum is the sum of all durations.
	Sum time.Duration
}
