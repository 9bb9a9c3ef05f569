// SPDX-License-Identifier: Apache-2.0

package watchcache

import "testing"

// TestReadyQueueStaysSmall shows that a queue that is never empty keeps the order of its watchers,
// and takes memory only for those waiting.
func TestReadyQueueStaysSmall(t *testing.T) {
	const waiting, turns = 100, 10_000
	var q readyQueue
	q.changed.L = &q.mu
	var watchers []*Watcher
	for range waiting {
		watchers = append(watchers, &Watcher{})
	}
	q.push(watchers)
	popped := make([]*Watcher, 1)
	for i := range turns {
		if n := q.pop(popped); n != 1 || popped[0] != watchers[i%waiting] {
			t.Fatalf("pop %d returned %d watchers, want the one that waits longest", i, n)
		}
		q.push(popped)
	}
	if n := cap(q.watchers); n > 8*waiting {
		t.Errorf("the queue has room for %d watchers, want at most %d", n, 8*waiting)
	}
}
