// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// Exponential says how long a key waits after a failure: Base after the first failure in a row,
// twice as long after each further one, and Max at most. A negative Base is no wait.
type Exponential struct {
	Base, Max time.Duration
	// Jitter is by how much a delay may be shorter, as a part of it between 0 and 1, so that keys
	// that failed together don't come back together. A delay of 10 s with a Jitter of 0.1 is
	// between 9 s and 10 s.
	Jitter float64
}

// delay returns how long a key waits after so many failures in a row. random is in [0, 1).
func (e Exponential) delay(failures int, random float64) time.Duration {
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
