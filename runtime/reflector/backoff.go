// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// withDefaults replaces zero fields by their defaults.
func (b Backoff) withDefaults() Backoff {
	if b.Initial == 0 {
		b.Initial = 800 * time.Millisecond
	}
	if b.Max == 0 {
		b.Max = max(30*time.Second, b.Initial)
	}
	if b.Factor == 0 {
		b.Factor = 2
	}
	if b.Jitter == 0 {
		b.Jitter = 0.5
	}
	if b.Jitter < 0 {
		b.Jitter = 0
	}
	if b.ResetAfter == 0 {
		b.ResetAfter = 2 * time.Minute
	}
	return b
}

// validate checks a Backoff whose defaults are filled in.
func (b Backoff) validate() error {
	switch {
	case b.Initial < 0 || b.Max < 0 || b.ResetAfter < 0:
		return errors.New("negative duration in Config.Backoff; 0 means its default")
	case b.Max < b.Initial:
		return fmt.Errorf("the longest wait, Backoff.Max %v, is shorter than the first, Backoff.Initial %v", b.Max, b.Initial)
	case !(b.Factor >= 1): // NaN too
		return fmt.Errorf("waits would shrink: Backoff.Factor %v is less than 1", b.Factor)
	case !(b.Jitter <= 1):
		return fmt.Errorf("waits would be negative: Backoff.Jitter %v is more than 1", b.Jitter)
	}
	return nil
}

// delays hands out the waits of a Backoff.
type delays struct {
	backoff Backoff
	next    time.Duration // without jitter; 0 at the start
}

func (d *delays) reset() { d.next = 0 }

// take returns the next wait.
func (d *delays) take() time.Duration {
	if d.next == 0 {
		d.next = d.backoff.Initial
	}
	wait := d.next
	// As floats, so that no factor overflows.
	d.next = time.Duration(min(float64(d.backoff.Max), float64(d.next)*d.backoff.Factor))
	return wait - time.Duration(rand.Float64()*d.backoff.Jitter*float64(wait))
}

// obey returns the wait for a Retry-After: never shorter, and up to a tenth longer, so that not all clients come back at
// once.
func obey(after time.Duration) time.Duration {
	return after + time.Duration(rand.Float64()*0.1*float64(after))
}
