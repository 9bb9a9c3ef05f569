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

	byKey       map[object.Key]*merged
	first, last *merged
	events      int
}

// Len returns the number of changes left to deliver.
func (b *Backlog) Len() int { return b.events }

// Since returns when the oldest change of the first key was published. The backlog must not be
// empty.
func (b *Backlog) Since() time.Duration { return b.first.at }

// merged holds the waiting changes of one key: the deletions in gone, then the addition of new, if
// set. Without deletions, old has become new: a modification, or an addition if old is nil.
type merged struct {
	key object.Key
	at  time.Duration // when the oldest change was published
	old object.Object // the last state the handler got; nil if it has no such object

	// gone has the deletion of old and, with EveryDeletion, those of objects that came after old.
	// They are copies, because pointers into the log would keep its batches alive.
	gone       []Change
	new        object.Object // the newest state; nil if the key is gone
	prev, next *merged
}

func (p *merged) events() int {
	n := len(p.gone)
	if p.new != nil {
		n++
	}
	return n
}

// Add merges a change published at a time into the changes of its key.
func (b *Backlog) Add(c *Change, at time.Duration) {
	key := c.Key()
	p := b.byKey[key]
	if p == nil {
		p = &merged{key: key, at: at, old: c.Old}
		b.link(p)
	} else {
		b.events -= p.events()
	}
	switch c.Type {
	case deltafifo.Added, deltafifo.Modified:
		p.new = c.New
	case deltafifo.Deleted:
		p.new = nil
		if b.EveryDeletion || p.old != nil && len(p.gone) == 0 {
			p.gone = append(p.gone, *c)
		}
	}
	b.events += p.events()
	if p.events() == 0 { // added and deleted, but neither was delivered
		b.unlink(p)
	}
}

// Next takes out the next change to deliver.
func (b *Backlog) Next() (c Change, ok bool) {
	p := b.first
	if p == nil {
		return c, false
	}
	b.events--
	if len(p.gone) > 0 {
		c, p.gone[0] = p.gone[0], Change{} // keeps nothing alive
		if p.old, p.gone = nil, p.gone[1:]; p.events() == 0 {
			b.unlink(p)
		}
		return c, true
	}
	c = Change{Type: deltafifo.Modified, Old: p.old, New: p.new}
	if p.old == nil {
		c.Type = deltafifo.Added
	}
	b.unlink(p)
	return c, true
}

// Take takes out the changes of obj's key, and returns the newest state: obj itself if nothing
// waits, nil if obj was deleted. With EveryDeletion, the changes stay if obj was deleted, even if
// there is a newer object.
func (b *Backlog) Take(obj object.Object) object.Object {
	p := b.byKey[object.KeyOf(obj)]
	if p == nil {
		return obj
	}
	if b.EveryDeletion && len(p.gone) > 0 {
		return nil
	}
	b.events -= p.events()
	b.unlink(p)
	return p.new
}

// WaitingFor returns the number of waiting changes of a key, and when the oldest was published.
func (b *Backlog) WaitingFor(key object.Key) (events int, since time.Duration) {
	p := b.byKey[key]
	if p == nil {
		return 0, 0
	}
	return p.events(), p.at
}

func (b *Backlog) link(p *merged) {
	if b.byKey == nil {
		b.byKey = map[object.Key]*merged{}
	}
	b.byKey[p.key] = p
	p.prev = b.last
	if b.last == nil {
		b.first = p
	} else {
		b.last.next = p
	}
	b.last = p
}

func (b *Backlog) unlink(p *merged) {
	if p.prev == nil {
		b.first = p.next
	} else {
		p.prev.next = p.next
	}
	if p.next == nil {
		b.last = p.prev
	} else {
		p.next.prev = p.prev
	}
	delete(b.byKey, p.key)
	if len(b.byKey) == 0 {
		b.byKey = nil // a map does not shrink
	}
}
