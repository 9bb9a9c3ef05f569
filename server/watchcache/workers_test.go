// SPDX-License-Identifier: Apache-2.0

package watchcache

import "testing"

// TestReadyQueueStaysSmall shows that a queue which is never empty, since the workers have always
// something to do, takes the memory of those that wait, and keeps their order.
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
			t.Fatalf("turn %d: %d were popped, or another one than it is the turn of", i, n)
		}
		q.push(popped)
	}
	if n := cap(q.watchers); n > 8*waiting {
		t.Errorf("%d wait, in a queue with room for %d", waiting, n)
	}
}
