// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"cmp"
	"slices"
)

// detachLocked detaches from the log a watcher that has read at but not next. On its next read it
// gets the difference between the state after at and the newest state. In between it keeps the
// older state, and nothing of the log. It returns false if the watcher has read on meanwhile.
func (c *Cache) detachLocked(w *Watcher, at, next *change) bool {
	// All events the watcher has had are older than next.
	if !w.position.CompareAndSwap(at, &change{version: next.version - 1, state: at.state, detached: true}) {
		return false
	}
	c.merged++
	return true
}

// catchUp collects the changes since a watcher was detached as pending events, and moves it to the
// end of the log. Deleted objects come first, at the version the watcher has read up to: a client
// that comes back with that version gets all of them. Other objects keep their versions and their
// order. A watch with bookmarks gets one at the end, since the deletions have newer versions in the
// log.
func (w *Watcher) catchUp(at *change) {
	w.c.mu.Lock()
	now := w.c.head.Load()
	if w.ended.Load() != nil { // the cache may have stopped, or begun another log
		w.c.mu.Unlock()
		return
	}
	w.position.Store(w.c.log.last())
	bookmarks := w.interval != 0
	w.c.mu.Unlock()

	p := &pendingEvents{}
	add := func(n *change) {
		if e, ok := n.event(w.filter); ok {
			p.missed = append(p.missed, e)
		}
	}
	lastRead := max(at.version, w.startVersion)
	at.state.diff(now.state, func(before, after *Object) {
		switch {
		case after != nil && after.Version <= lastRead:
		case after == nil:
			add(&change{clientVersion: lastRead, before: before})
		case before == nil || before.UID == after.UID:
			add(&change{clientVersion: after.Version, before: before, after: after})
		default:
			add(&change{clientVersion: lastRead, before: before})
			add(&change{after: after})
		}
	})
	slices.SortStableFunc(p.missed, func(a, b Event) int { return cmp.Compare(a.Version, b.Version) })
	if bookmarks && len(p.missed) > 0 {
		p.missed = append(p.missed, Event{Type: bookmark, Version: now.version})
	}
	w.pending = p
	if w.initialEnd != 0 {
		w.initialEnd = max(w.initialEnd, now.version)
	}
}
