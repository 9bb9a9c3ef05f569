// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
)

var everyDeletion = fanout.HandlerConfig{Threshold: 0, EveryDeletion: true}

// TestEveryDeletionIsDelivered shows the events of a slow handler with EveryDeletion: the newest
// state of each object, and every deletion, in order.
func TestEveryDeletionIsDelivered(t *testing.T) {
	for _, test := range []struct{ name, changes, want string }{
		{"added and deleted", "+f/1@12 ~f/1@13 -f/1@14", "-f/1@14"},
		{"two objects of one name, added and deleted", "+f/1@12 -f/1@13 +f/2@14 -f/2@15", "-f/1@13 -f/2@15"},
		{"two objects of one name, the second stays", "+f/1@12 -f/1@13 +f/2@14 ~f/2@15", "-f/1@13 +f/2@15"},
		{"a known object is replaced, then deleted", "~b/1@12 -b/1@13 +b/2@14 -b/2@15", "-b/1@13 -b/2@15"},
		{"a known object is replaced twice", "-b/1@12 +b/2@13 -b/2@14 +b/3@15", "-b/1@12 -b/2@14 +b/3@15"},
		{"the deletion of an unseen successor", "+f/1@12 -f/2@14", "-f/1@12?"},
		{"found by a relist", "+f/1@12 [ =b/1@2 ]@20", "-f/1@12?"},
		{"changes only", "~b/1@12 ~b/1@13", "~b/1@13"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			r := newRig(t)
			defer r.start()()
			r.feed("[ =b/1@2 ]@5")
			h := newRecorder(t)
			h.everyDeletion = true
			r.add(h, everyDeletion)
			synctest.Wait()
			g := h.hold()
			r.feed("+a/1@6") // the handler is stuck in this one
			r.feed("-a/1@7 " + test.changes)
			g.open()
			synctest.Wait()
			h.wantEvents("=b/1@2 +a/1@6 -a/1@7 " + test.want)
			h.wantTable(r)
		})
	}
}

// deletions returns the deletions among the events.
func (h *recorder) deletions() (all []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, event := range h.events {
		if event[0] == '-' {
			all = append(all, event)
		}
	}
	return all
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
