// SPDX-License-Identifier: Apache-2.0

package watchcache

import "testing"

// TestReadDuringResetYieldsNothing resets the cache, which ends the watcher, in the middle of
// its read. The watcher must get no version and no object of the new history, since it lacks the
// earlier ones.
func TestReadDuringResetYieldsNothing(t *testing.T) {
	c, err := New(Config{Storage: noStorage{}})
	if err != nil {
		t.Fatal(err)
	}
	c.replace([]*Object{{Key: "a", Version: 3}}, 10, false)
	w, err := c.Watch(t.Context(), WatchOptions{Bookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	// From here on, the steps of read after its check that the watcher is open.
	w.bookmarkDue.Store(true)
	position := &change{version: 10, state: c.head.Load().state, detached: true}
	c.replace([]*Object{{Key: "a", Version: 4}, {Key: "b", Version: 12}}, 20, false)
	b := batch{w: w}
	if b.addBookmark(); len(b.events) > 0 {
		t.Errorf("the watcher got a bookmark at version %d", b.events[0].Version)
	}
	if w.catchUp(position); w.pending != nil {
		t.Errorf("the watcher got %+v", w.pending.missed)
	}
}
