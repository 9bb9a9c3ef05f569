// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"slices"
	"testing"
	"testing/synctest"
)

var everyDeletion = fanout.HandlerConfig{Threshold: 0, EveryDeletion: true}

// TestEveryDeletionIsDelivered shows which events a handler gets that asks for every deletion and
// has fallen behind: of changes only the newest state, but each deletion, in order.
func TestEveryDeletionIsDelivered(t *testing.T) {
	for _, test := range []struct{ name, changes, want string }{
		{"an object that came and went", "+f/1@12 ~f/1@13 -f/1@14", "-f/1@14"},
		{"several of one name", "+f/1@12 -f/1@13 +f/2@14 -f/2@15", "-f/1@13 -f/2@15"},
		{"then one that stays", "+f/1@12 -f/1@13 +f/2@14 ~f/2@15", "-f/1@13 +f/2@15"},
		{"after one that it knows", "~b/1@12 -b/1@13 +b/2@14 -b/2@15", "-b/1@13 -b/2@15"},
		{"one that it knows, and one that stays", "-b/1@12 +b/2@13 -b/2@14 +b/3@15", "-b/1@12 -b/2@14 +b/3@15"},
		{"a successor that was not seen", "+f/1@12 -f/2@14", "-f/1@12?"},
		{"found by a relist", "+f/1@12 [ =b/1@2 ]@20", "-f/1@12?"},
		{"changes alone", "~b/1@12 ~b/1@13", "~b/1@13"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			r := newRig(t)
			defer r.start()()
			r.feed("[ =b/1@2 ]@5")
			h := record(t)
			h.every = true
			r.add(h, everyDeletion)
			synctest.Wait()
			g := h.hold()
			r.feed("+a/1@6") // the handler is stuck in this one
			r.feed("-a/1@7 " + test.changes)
			g.open()
			synctest.Wait()
			h.sees("=b/1@2 +a/1@6 -a/1@7 " + test.want)
			h.agrees(r)
		})
	}
}

// deletions returns the deletions that the handler was told.
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
