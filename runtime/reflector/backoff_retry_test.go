// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"io"
	"math"
	"testing"
	"time"
)

func TestStateNames(t *testing.T) {
	seen := map[string]bool{}
	for s := StateStopped; int(s) < len(stateNames); s++ {
		if name := s.String(); name == "" || seen[name] {
			t.Errorf("state %d is called %q", s, name)
		}
		seen[s.String()] = true
	}
	if State(200).String() != "unknown" {
		t.Error("a value outside of the set has a name")
	}
}

// TestARetryAfterOfYearsIsCapped shows that a Retry-After is prolonged by a tenth at most, and that a
// wrong one doesn't stop a reflector forever.
func TestARetryAfterOfYearsIsCapped(t *testing.T) {
	for err, want := range map[error]time.Duration{
		statusError(429, 10): 10 * time.Second, statusError(429, 0): 0, statusError(410, 10): 0, io.EOF: 0, statusError(503, math.MaxInt32): 5 * time.Minute,
	} {
		if got := RetryAfter(err); got < want || got > want+want/10 {
			t.Errorf("%v: %v, want %v and at most a tenth", err, got, want)
		}
	}
}
