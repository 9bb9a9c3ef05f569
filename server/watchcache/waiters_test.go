// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"testing"
)

// TestRequestsShareWaiters shows that requests for one version share a waiter, so giving up
// costs the same however many others wait.
func TestRequestsShareWaiters(t *testing.T) {
	const requests = 10_000
	var all waiters
	waiting := make([]*waiter, requests)
	for i := range waiting {
		waiting[i] = all.add(uint64(7 + i%3))
	}
	if len(all) != 3 || all.newest() != 9 {
		t.Fatalf("got %d waiters up to version %d, want 3 up to 9", len(all), all.newest())
	}
	all.releaseUpTo(7)
	for i, w := range waiting {
		select {
		case <-w.reached:
			if w.version != 7 {
				t.Fatalf("version %d counts as reached", w.version)
			}
		default:
			if w.version == 7 {
				t.Fatal("version 7 doesn't count as reached")
			}
		}
		if all.remove(w); i == requests-3 && all.newest() != 9 {
			t.Errorf("newest() = %d while a request waits for 9", all.newest())
		}
	}
	if len(all) != 0 {
		t.Errorf("%d waiters are left, want none", len(all))
	}
}
