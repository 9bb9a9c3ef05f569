// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"testing"
)

// TestWaitersOfOneVersionAreOne shows that requests which wait for one version share a waiter, so
// that one which gives up costs the same however many others wait.
func TestWaitersOfOneVersionAreOne(t *testing.T) {
	const requests = 10_000
	var all waiters
	waiting := make([]*waiter, requests)
	for i := range waiting {
		waiting[i] = all.add(uint64(7 + i%3))
	}
	if len(all) != 3 || all.newest() != 9 {
		t.Fatalf("there are %d, up to version %d", len(all), all.newest())
	}
	all.reach(7)
	for i, w := range waiting {
		select {
		case <-w.arrived:
			if w.version != 7 {
				t.Fatalf("version %d has arrived", w.version)
			}
		default:
			if w.version == 7 {
				t.Fatal("version 7 has not arrived")
			}
		}
		if all.remove(w); i == requests-3 && all.newest() != 9 {
			t.Errorf("the newest is %d while one waits for 9", all.newest())
		}
	}
	if len(all) != 0 {
		t.Errorf("%d are left", len(all))
	}
}
