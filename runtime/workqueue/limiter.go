// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// Limiter decides how long a key waits after a failure. The queue calls it while it is locked, so
// its methods must neither block nor call the queue. If Delay panics, so does the call that has
// reported the failure, and the key's item is not done. A Limiter that several queues share is
// called by several goroutines at once.
type Limiter interface {
	// Delay returns how long a key waits after so many failures in a row, of which there is one at
	// least and 255 at most. random is in [0, 1), a new one for each call.
	Delay(failures int, random float64) time.Duration
	// Least returns how long a key that failed waits at least, also if it is added meanwhile.
	Least() time.Duration
}

// Exponential is a Limiter whose delay is Base after the first failure, doubles with each further
// one, and is Max at most.
type Exponential struct {
	Base, Max time.Duration
	// Jitter is by how much a delay may be shorter, as a part of it between 0 and 1, so that keys
	// that failed together don't come back together. A delay of 10 s with a Jitter of 0.1 is
	// between 9 s and 10 s.
	Jitter float64
}

// Delay implements [Limiter].
func (e Exponential) Delay(failures int, random float64) time.Duration {
	delay, most := max(0, e.Base), max(0, e.Base, e.Max)
	for range max(0, failures-1) {
		if delay > most/2 {
			delay = most
			break
		}
		delay *= 2
	}
	return delay - time.Duration(min(1, max(0, e.Jitter))*random*float64(delay))
}

// Least returns Base.
func (e Exponential) Least() time.Duration { return e.Base }
