// SPDX-License-Identifier: Apache-2.0

package changelog

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Backlog holds what waits for one lagging handler, merged by key: for each key at most a deletion
// and an addition. Keys come out in the order of their first change. Adding and taking out are
// O(1). The zero Backlog is empty.
type Backlog struct {
	byKey       map[object.Key]*merged
	first, last *merged
	events      int
}

// Len returns how many changes are left to deliver.
func (b *Backlog) Len() int { return b.events }

// Since returns when the oldest change of the first key was published. The backlog must not be
// empty.
func (b *Backlog) Since() time.Duration { return b.first.at }

// merged is what waits for one key. If gone is set, it is delivered first, as a deletion, and then
// new, if there is one, as an addition. Otherwise old has become new: a modification, or an
// addition if old is nil.
type merged struct {
	key object.Key
	at  time.Duration // when the oldest change was published
	old object.Object // the state that the handler got last; nil if it has no such object

	// gone is the deletion of old; a copy, because a pointer into the log would keep its batch
	// alive
	gone       *Change
	new        object.Object // the newest state; nil if the key does not exist any more
	prev, next *merged
}

func (p *merged) events() int {
	n := 0
	if p.gone != nil {
		n++
	}
	if p.new != nil {
		n++
	}
	return n
}

// Add merges a change, which was published at that time, into what waits for its key.
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
	case Added, Modified:
		p.new = c.New
	case Deleted:
		p.new = nil
		if p.old != nil && p.gone == nil {
			gone := *c
			p.gone = &gone
		}
	}
	b.events += p.events()
	if p.events() == 0 { // added and deleted, neither of which was delivered
		b.unlink(p)
	}
}

// Next takes out the change to deliver next.
func (b *Backlog) Next() (c Change, ok bool) {
	p := b.first
	if p == nil {
		return c, false
	}
	b.events--
	if p.gone != nil {
		c = *p.gone
		p.old, p.gone = nil, nil
		if p.new == nil {
			b.unlink(p)
		}
		return c, true
	}
	c = Change{Type: Modified, Old: p.old, New: p.new}
	if p.old == nil {
		c.Type = Added
	}
	b.unlink(p)
	return c, true
}

// Take takes out what waits for the key of obj, and returns the newest state: obj itself if nothing
// waits, nil if the object was deleted.
func (b *Backlog) Take(obj object.Object) object.Object {
	p := b.byKey[object.KeyOf(obj)]
	if p == nil {
		return obj
	}
	b.events -= p.events()
	b.unlink(p)
	return p.new
}

// WaitingFor returns how many changes of a key are left to deliver, and when the oldest of them was
// published.
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
