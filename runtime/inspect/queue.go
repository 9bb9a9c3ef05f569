// SPDX-License-Identifier: Apache-2.0

package inspect

import "time"

// Queue is what is shown of one work queue: names and times. [WithQueues] takes it, from any kind
// of queue.
type Queue struct {
	// Name is the name of the queue, or of its controller.
	Name string `json:"name"`
	// Ready is how many keys are ready to be handed out, by priority, the highest first. A queue
	// without priorities has one number.
	Ready []int `json:"ready"`
	// Delayed is how many keys wait for a time, or are held back. Failing is how many keys have
	// failed at their last attempt, wherever they are.
	Delayed int `json:"delayed"`
	Failing int `json:"failing,omitempty"`
	// Oldest is the key that has been ready for the longest time; nil if none is ready.
	Oldest *QueueKey `json:"oldest,omitempty"`
	// Running are the keys that workers are busy with, the oldest first.
	Running []QueueKey `json:"running,omitempty"`
	// Find returns in a few words where the queue has a key and why, as in "delayed until 12:00:03,
	// after 3 failures"; "" if the queue does not have it. A nil Find knows no key. It is called on
	// the goroutine of a request, and must not wait.
	Find func(key string) string `json:"-"`
}

// QueueKey is one key of a [Queue].
type QueueKey struct {
	// Key is the key as text.
	Key string `json:"key"`
	// Since is when the worker has got it, or, for Queue.Oldest, when it became ready.
	Since time.Time `json:"since"`
	// Attempt is 1 for the first attempt, and more after failures; 0 if it is unknown.
	Attempt int `json:"attempt,omitempty"`
}

// ready returns the number of ready keys.
func (q Queue) ready() (n int) {
	for _, level := range q.Ready {
		n += level
	}
	return n
}
