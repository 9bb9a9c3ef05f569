// SPDX-License-Identifier: Apache-2.0

package watchcache

import "testing"

// TestReadThatMeetsAResetGetsNothingOfIt shows that a watcher which is ended while it reads, since
// the storage has another past, is told of no version and no object of that: it doesn't have what
// came before.
func TestReadThatMeetsAResetGetsNothingOfIt(t *testing.T) {
	c, err := New(Config{Storage: noStorage{}})
	if err != nil {
		t.Fatal(err)
	}
	c.replace([]*Object{{Key: "a", Version: 3}}, 10, false)
	w, err := c.Watch(t.Context(), WatchOptions{Bookmarks: true})
	if err != nil {
		t.Fatal(err)
	}
	// From here on, what read does after it has seen that the watcher has not ended.
	w.marked.Store(true)
	behind := &change{version: 10, state: c.head.Load().state, behind: true}
	c.replace([]*Object{{Key: "a", Version: 4}, {Key: "b", Version: 12}}, 20, false)
	b := batch{w: w}
	if b.bookmark(); len(b.events) > 0 {
		t.Errorf("it gets a bookmark of version %d", b.events[0].Version)
	}
	if w.catchUp(behind); w.pending != nil {
		t.Errorf("it gets %+v", w.pending.missed)
	}
}
