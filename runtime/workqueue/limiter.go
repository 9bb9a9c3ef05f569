// SPDX-License-Identifier: Apache-2.0

package workqueue

import "time"

// Exponential is the delay after a failure: Base after the first consecutive failure, twice as long
// after each further one, and at most Max. A negative Base means no delay.
type Exponential struct {
	Base, Max time.Duration
	// Jitter is the fraction, between 0 and 1, by which a delay may be shorter, so keys that failed
	// together don't come back together.
	Jitter float64
}

// delay returns the delay for a random number in [0, 1).
func (e Exponential) delay(failures int, random float64) time.Duration {
	delay, longest := max(0, e.Base), max(0, e.Base, e.Max)
	for range max(0, failures-1) {
		if delay > longest/2 {
			delay = longest
			break
		}
		delay *= 2
	}
	return delay - time.Duration(min(1, max(0, e.Jitter))*random*float64(delay))
}
