// SPDX-License-Identifier: Apache-2.0

// Package poll waits for conditions without events, such as those of an API server, of another
// process or of other projects' caches.
package poll

import (
	"testing"
	"time"
)

// Patience bounds a test's wait for something that should come soon. Only a failing wait takes so
// long.
const Patience = 3 * time.Minute

// Until calls missing until it returns nil. After [Patience], or shortly before go test's own
// timeout, it fails the test with the last error.
func Until(t *testing.T, missing func() error) {
	t.Helper()
	end := time.Now().Add(Left(t))
	for {
		err := missing()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// Left returns [Patience], or less if go test's own timeout comes earlier, so that the test can
// still report its failure.
func Left(t *testing.T) time.Duration {
	if last, ok := t.Deadline(); ok {
		return min(Patience, time.Until(last)*9/10)
	}
	return Patience
}
