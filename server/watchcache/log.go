// SPDX-License-Identifier: Apache-2.0

package watchcache

import (
	"sort"
	"sync/atomic"
	"time"
)

// change is a node of the log: one change of one object. It is immutable, but for next and frames.
type change struct {
	// version is the change's place in the log, shown is what clients get to see. They differ for
	// deletions that a list has found.
	version, shown uint64
	before, after  *Object   // at least one
	state          objectSet // after the change
	at             time.Time
	behind         bool // not a change of the log: see [Cache.detachLocked]
	next           atomic.Pointer[change]
	frames         frames
}

// more reports whether a watcher that has read up to n has something to read.
func (n *change) more() bool { return n.behind || n.next.Load() != nil }

// event returns what the change is to a watcher with a filter. ok is false if it is nothing.
func (n *change) event(f *filter) (e Event, ok bool) {
	switch before, after := f.matches(n.before), f.matches(n.after); {
	case after && before:
		return Event{Type: modified, Object: n.after, Version: n.after.Version}, true
	case after:
		return Event{Type: added, Object: n.after, Version: n.after.Version}, true
	case before:
		return Event{Type: deleted, Object: n.before, Version: n.shown}, true
	}
	return e, false
}

// changeMemory is about how much memory a change takes itself, with its place in the log.
const changeMemory = 180

// memory returns about how many bytes of memory go when the log drops the change: itself, the
// object before it, and the branches that its state doesn't share.
func (n *change) memory() int64 { return changeMemory + n.state.copied + n.before.memory() }

// log is the changes that are kept, in the order of their versions. The cache's mu guards it,
// except that anyone may follow the links from a change on.
type log struct {
	// base is the change before the oldest one, of which only version, state and next are used.
	base    *change
	changes []*change // by version; what a ring would be
	bytes   int64     // of changes, without their frames
	unknown []gap     // in order

	framed atomic.Int64 // bytes of the frames of changes
}

// gap is a range of versions about which nothing is known, because a list has found what happened
// in it. It has neither end.
type gap struct{ from, to uint64 }

func (g gap) has(version uint64) bool { return g.from < version && version < g.to }

// reset drops all changes. The log begins behind a state at a version then.
func (l *log) reset(s objectSet, version uint64) {
	for _, n := range l.changes {
		n.frames.drop()
	}
	l.base = &change{version: version, state: s}
	l.changes, l.bytes, l.unknown = nil, 0, nil
}

// last returns the newest change, or base.
func (l *log) last() *change {
	if n := len(l.changes); n > 0 {
		return l.changes[n-1]
	}
	return l.base
}

// oldest returns the oldest version that requests may name.
func (l *log) oldest() uint64 { return l.base.version }

// memory returns about how many bytes of memory the log takes.
func (l *log) memory() int64 { return l.bytes + l.framed.Load() }

// append adds a change. It can be reached as soon as append returns.
func (l *log) append(n *change) {
	n.frames.total = &l.framed
	l.bytes += n.memory()
	last := l.last()
	l.changes = append(l.changes, n)
	last.next.Store(n)
}

// through returns the last change that isn't after a version, or base. The version must not be
// older than the oldest.
func (l *log) through(version uint64) *change {
	after := sort.Search(len(l.changes), func(i int) bool { return l.changes[i].version > version })
	if after == 0 {
		return l.base
	}
	return l.changes[after-1]
}

// check returns an [ExpiredError] if a version is too old, or if nothing is known about it.
func (l *log) check(version uint64) error {
	if oldest := l.oldest(); version < oldest {
		return &ExpiredError{Version: version, Oldest: oldest}
	}
	for _, g := range l.unknown {
		if g.has(version) {
			return &ExpiredError{Version: version, Oldest: g.to}
		}
	}
	return nil
}

// trim drops changes that are older than a time, and then the oldest ones until the log takes no
// more than a number of bytes. It reports whether it has dropped some.
func (l *log) trim(before time.Time, bytes int64) bool {
	n := 0
	for _, c := range l.changes {
		if !c.at.Before(before) && l.memory() <= bytes {
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
	clear(l.changes[:n]) // the array stays until append makes the next one
	l.changes = l.changes[n:]
	for len(l.unknown) > 0 && l.unknown[0].to <= l.base.version {
		l.unknown = l.unknown[1:]
	}
	return true
}
