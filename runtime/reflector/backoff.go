// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

func (b Backoff) withDefaults() Backoff {
	if b.Initial == 0 {
		b.Initial = 800 * time.Millisecond
	}
	if b.Max == 0 {
		b.Max = max(30*time.Second, b.Initial)
	}
	if b.Jitter == 0 {
		b.Jitter = 0.5
	}
	if b.ResetAfter == 0 {
		b.ResetAfter = 2 * time.Minute
	}
	return b
}

// validate checks a Backoff with its defaults filled in and no negative durations.
func (b Backoff) validate() error {
	switch {
	case b.Max < b.Initial:
		return fmt.Errorf("the longest wait, Backoff.Max %v, is shorter than the first, Backoff.Initial %v", b.Max, b.Initial)
	case !(b.Jitter <= 1): // also NaN
		return fmt.Errorf("waits would be negative: Backoff.Jitter %v is more than 1", b.Jitter)
	}
	return nil
}

// Wait returns the length of the n-th wait in a row, counted from 1, with its random part. Zero
// fields have their defaults.
func (b Backoff) Wait(n int) time.Duration {
	b = b.withDefaults()
	// floats don't overflow
	wait := min(float64(b.Max), float64(b.Initial)*math.Pow(2, float64(max(n, 1)-1)))
	return time.Duration(wait - rand.Float64()*max(b.Jitter, 0)*wait)
}
