// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// backlog holds what waits for one lagging handler, merged by key: for each key at most a deletion
// and an addition. Keys come out in the order of their first change. Adding and taking out are
// O(1). The zero backlog is empty.
type backlog struct {
	entries     map[object.Key]*merged
	first, last *merged
	events      int // in all entries
}

// merged is what waits for one key. If gone is set, it is delivered first, as a deletion, and then
// new, if there is one, as an addition. Otherwise old has become new: a modification, or an
// addition if old is nil.
type merged struct {
	key object.Key
	at  time.Duration // when the oldest change was published, since Informer.epoch
	old object.Object // the state that the handler got last; nil if it has no such object

	// gone is the deletion of old; a copy, because a pointer into the log would keep its batch
	// alive
	gone       *change
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

func (b *backlog) empty() bool { return b.first == nil }

// add merges a change, which was published at that time, into what waits for its key.
func (b *backlog) add(c *change, at time.Duration) {
	key := c.key()
	p := b.entries[key]
	if p == nil {
		p = &merged{key: key, at: at, old: c.old}
		b.link(p)
	} else {
		b.events -= p.events()
	}
	switch c.typ {
	case added, modified:
		p.new = c.new
	case deleted:
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

// next takes out the change to deliver next.
func (b *backlog) next() (c change, ok bool) {
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
	c = change{typ: modified, old: p.old, new: p.new}
	if p.old == nil {
		c.typ = added
	}
	b.unlink(p)
	return c, true
}

// take takes out what waits for the key of obj, and returns the newest state: obj itself if nothing
// waits, nil if the object was deleted.
func (b *backlog) take(obj object.Object) object.Object {
	p := b.entries[object.KeyOf(obj)]
	if p == nil {
		return obj
	}
	b.events -= p.events()
	b.unlink(p)
	return p.new
}

func (b *backlog) link(p *merged) {
	if b.entries == nil {
		b.entries = map[object.Key]*merged{}
	}
	b.entries[p.key] = p
	p.prev = b.last
	if b.last == nil {
		b.first = p
	} else {
		b.last.next = p
	}
	b.last = p
}

func (b *backlog) unlink(p *merged) {
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
	delete(b.entries, p.key)
	if len(b.entries) == 0 {
		b.entries = nil // a map does not shrink
	}
}
