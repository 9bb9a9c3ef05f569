// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Backlog holds the waiting changes of one lagging handler, merged by key: for each key at most a
// deletion and an addition. Keys come out in the order of their first change. Adding and taking out
// are O(1). The zero Backlog is empty.
type Backlog struct {
	// EveryDeletion, set before the first change, keeps the deletion of every object, also of one
	// unknown to the handler: for each key at most an addition and one deletion for each object
	// that is gone.
	EveryDeletion bool

	byKey       map[object.Key]*mergedChanges
	first, last *mergedChanges
	events      int
}

// Len returns the number of changes left to deliver.
func (b *Backlog) Len() int { return b.events }

// Since returns when the oldest change of the first key was published. The backlog must not be
// empty.
func (b *Backlog) Since() time.Duration { return b.first.at }

// mergedChanges holds the waiting changes of one key: deletions, then the addition of new, if
// set. Without deletions, old has become new: a modification, or an addition if old is nil.
type mergedChanges struct {
	key object.Key
	at  time.Duration // when the oldest change was published
	old object.Object // the last state the handler got; nil if it has no such object

	// deletions has the deletion of old and, with EveryDeletion, those of objects that came after
	// old. They are copies, because pointers into the log would keep its batches alive.
	deletions  []Change
	new        object.Object // the newest state; nil if the key is gone
	prev, next *mergedChanges
}

func (m *mergedChanges) events() int {
	n := len(m.deletions)
	if m.new != nil {
		n++
	}
	return n
}

// Add merges a change published at a time into the changes of its key.
func (b *Backlog) Add(c *Change, at time.Duration) {
	key := c.Key()
	m := b.byKey[key]
	if m == nil {
		m = &mergedChanges{key: key, at: at, old: c.Old}
		b.link(m)
	} else {
		b.events -= m.events()
	}
	switch c.Type {
	case deltafifo.Added, deltafifo.Modified:
		m.new = c.New
	case deltafifo.Deleted:
		m.new = nil
		if b.EveryDeletion || m.old != nil && len(m.deletions) == 0 {
			m.deletions = append(m.deletions, *c)
		}
	}
	b.events += m.events()
	if m.events() == 0 { // added and deleted, but neither was delivered
		b.unlink(m)
	}
}

// Next takes out the next change to deliver.
func (b *Backlog) Next() (c Change, ok bool) {
	m := b.first
	if m == nil {
		return c, false
	}
	b.events--
	if len(m.deletions) > 0 {
		c, m.deletions[0] = m.deletions[0], Change{} // keeps nothing alive
		if m.old, m.deletions = nil, m.deletions[1:]; m.events() == 0 {
			b.unlink(m)
		}
		return c, true
	}
	c = Change{Type: deltafifo.Modified, Old: m.old, New: m.new}
	if m.old == nil {
		c.Type = deltafifo.Added
	}
	b.unlink(m)
	return c, true
}

// Take takes out the changes of obj's key, and returns the newest state: obj itself if nothing
// waits, nil if obj was deleted. With EveryDeletion, the changes stay if obj was deleted, even if
// there is a newer object.
func (b *Backlog) Take(obj object.Object) object.Object {
	m := b.byKey[object.KeyOf(obj)]
	if m == nil {
		return obj
	}
	if b.EveryDeletion && len(m.deletions) > 0 {
		return nil
	}
	b.events -= m.events()
	b.unlink(m)
	return m.new
}

// WaitingFor returns the number of waiting changes of a key, and when the oldest was published.
func (b *Backlog) WaitingFor(key object.Key) (events int, since time.Duration) {
	m := b.byKey[key]
	if m == nil {
		return 0, 0
	}
	return m.events(), m.at
}

func (b *Backlog) link(m *mergedChanges) {
	if b.byKey == nil {
		b.byKey = map[object.Key]*mergedChanges{}
	}
	b.byKey[m.key] = m
	m.prev = b.last
	if b.last == nil {
		b.first = m
	} else {
		b.last.next = m
	}
	b.last = m
}

func (b *Backlog) unlink(m *mergedChanges) {
	if m.prev == nil {
		b.first = m.next
	} else {
		m.prev.next = m.next
	}
	if m.next == nil {
		b.last = m.prev
	} else {
		m.next.prev = m.prev
	}
	delete(b.byKey, m.key)
	if len(b.byKey) == 0 {
		b.byKey = nil // a map does not shrink
	}
}
