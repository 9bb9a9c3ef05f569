// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"sort"
	"sync/atomic"
	"time"
)

// change is a node of the log: one change of one object. Only next and frames change later.
type change struct {
	// version is the change's place in the log, clientVersion the version sent to clients. They
	// differ for deletions found by a list.
	version, clientVersion uint64
	before, after          *Object   // at least one is set
	state                  objectSet // after the change
	time                   time.Time
	detached               bool // not a change of the log: see [Cache.detachLocked]
	next                   atomic.Pointer[change]
	frames                 frames
}

// hasNext reports whether a watcher that has read up to n has more to read.
func (n *change) hasNext() bool { return n.detached || n.next.Load() != nil }

// event returns the event for a watcher with a filter; ok is false if the filter ignores it.
func (n *change) event(f *filter) (e Event, ok bool) {
	switch before, after := f.matches(n.before), f.matches(n.after); {
	case after && before:
		return Event{Type: modified, Object: n.after, Version: n.after.Version}, true
	case after:
		return Event{Type: added, Object: n.after, Version: n.after.Version}, true
	case before:
		return Event{Type: deleted, Object: n.before, Version: n.clientVersion}, true
	}
	return e, false
}

// changeMemory is the approximate size of a change and its entry in the log, in bytes.
const changeMemory = 180

// memory returns the approximate number of bytes freed when the log drops the change: its own size,
// the object before it, and the nodes its state doesn't share.
func (n *change) memory() int64 { return changeMemory + n.state.copiedBytes + n.before.memory() }

// log holds the recent changes, ordered by version. The cache's mu guards it, but anyone may follow
// the links from a change.
type log struct {
	// base is the change before the oldest one; only its version, state and next are used.
	base    *change
	changes []*change // by version, used like a ring
	bytes   int64     // of changes, without their frames
	gaps    []gap     // sorted

	frameBytes atomic.Int64 // bytes of the changes' frames
}

// gap is a range of unknown versions, both ends excluded: a list has shown only the result of its
// changes.
type gap struct{ from, to uint64 }

func (g gap) has(version uint64) bool { return g.from < version && version < g.to }

// reset drops all changes. The log then begins after the given state.
func (l *log) reset(s objectSet, version uint64) {
	for _, n := range l.changes {
		n.frames.drop()
	}
	l.base = &change{version: version, state: s}
	l.changes, l.bytes, l.gaps = nil, 0, nil
}

func (l *log) last() *change {
	if n := len(l.changes); n > 0 {
		return l.changes[n-1]
	}
	return l.base
}

func (l *log) oldest() uint64 { return l.base.version }

// memory returns the log's approximate size in bytes.
func (l *log) memory() int64 { return l.bytes + l.frameBytes.Load() }

func (l *log) append(n *change) {
	n.frames.logBytes = &l.frameBytes
	l.bytes += n.memory()
	last := l.last()
	l.changes = append(l.changes, n)
	last.next.Store(n)
}

// changeAt returns the last change up to a version, or base. The version must not precede the
// oldest.
func (l *log) changeAt(version uint64) *change {
	after := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].version > version })
	if after == 0 {
		return l.base
	}
	return l.changes[after-1]
}

// check returns an [ExpiredError] if a version is too old, or in a gap.
func (l *log) check(version uint64) error {
	if oldest := l.oldest(); version < oldest {
		return &ExpiredError{Version: version, Oldest: oldest}
	}
	for _, g := range l.gaps {
		if g.has(version) {
			return &ExpiredError{Version: version, Oldest: g.to}
		}
	}
	return nil
}

// trim drops changes older than a time, then the oldest ones until the log is within a number of
// bytes. It reports whether any were dropped.
func (l *log) trim(before time.Time, bytes int64) bool {
	n := 0
	for _, c := range l.changes {
		if !c.time.Before(before) && l.memory() <= bytes {
			break
		}
		l.bytes -= c.memory()
		c.frames.drop()
		l.base = c
		n++
	}
	if n == 0 {
		return false
	}
	clear(l.changes[:n]) // the array stays until append replaces it
	l.changes = l.changes[n:]
	for len(l.gaps) > 0 && l.gaps[0].to <= l.base.version {
		l.gaps = l.gaps[1:]
	}
	return true
}
