// SPDX-License-Identifier: Apache-2.0

package table

import "math"

// apply makes the changes in the indexes that compute has found.
func (w *writer) apply(slot uint32) {
	for i := range w.next.indexes {
		c := &w.changes[i]
		if len(c.leave) == 0 && len(c.enter) == 0 {
			continue
		}
		c.settle()
		for _, ch := range c.leave {
			if p := postingToLeave(&w.next.indexes[i].postings, ch); !w.changeLate(p, slot, false) {
				leave(&w.ownIndex(i).postings, w.serial, ch.hash, p, slot)
			}
		}
		for _, ch := range c.enter {
			p := postingFor(&w.next.indexes[i].postings, ch)
			if len(c.enter) > 1 && p.hasNow(slot) {
				continue // one of several keys, which the object has already
			}
			if !w.changeLate(p, slot, true) {
				enter(&w.ownIndex(i).postings, w.serial, ch, p, slot)
			}
		}
		c.Reset()
	}
}

// enterNamespace adds slot to a namespace. The directory is the Txn's own.
func (w *writer) enterNamespace(namespace string, slot uint32) {
	ch := change{Hash(namespace), namespace}
	if p := postingFor(&w.next.namespaces, ch); !w.changeLate(p, slot, true) {
		enter(&w.next.namespaces, w.serial, ch, p, slot)
	}
}

// leaveNamespace removes slot from a namespace. The directory is the Txn's own.
func (w *writer) leaveNamespace(namespace string, slot uint32) {
	ch := change{Hash(namespace), namespace}
	if p := postingToLeave(&w.next.namespaces, ch); !w.changeLate(p, slot, false) {
		leave(&w.next.namespaces, w.serial, ch.hash, p, slot)
	}
}

// postingFor returns the posting that a change is about, or nil if there is none.
func postingFor(postings *hashed[*posting], ch change) *posting {
	return postingOf(postings, ch.hash, func(key any) bool { return key == ch.key })
}

// postingToLeave returns the posting of a key that an object has, or nil if there is none. If only
// one key has the hash, it doesn't compare the keys, which would cost two cache misses. So if the
// object doesn't have the key, as after a change of the object in place, or has left it already, it
// may return the posting of another key. To leave a posting without being in it changes nothing,
// and all keys that the object has afterwards are entered later.
func postingToLeave(postings *hashed[*posting], ch change) *posting {
	var only *posting
	for b := bucketOf(postings, ch.hash); b != nil; b = b.more {
		for i, h := range &b.hashes {
			if h != ch.hash || b.has[i] == nil {
				continue
			}
			if only != nil {
				return postingFor(postings, ch)
			}
			only = b.has[i]
		}
	}
	return only
}

// enter adds slot to p, the posting of a key, which it makes if p is nil.
func enter(postings *hashed[*posting], owner uint64, ch change, p *posting, slot uint32) {
	if p == nil {
		insert(postings, owner, ch.hash, &posting{key: detached(ch.key), n: 1, one: slot})
		return
	}
	if with := p.settled(owner).with(owner, slot); with != p {
		replace(postings, owner, ch.hash, p, with)
	}
}

// leave removes slot from p, and removes p if it becomes empty.
func leave(postings *hashed[*posting], owner uint64, hash uint32, p *posting, slot uint32) {
	switch without := p.settled(owner).without(owner, slot); without {
	case p:
	case nil:
		remove(postings, owner, hash, p)
	default:
		replace(postings, owner, hash, p, without)
	}
}

// changedLate is a posting to which the open Txn has added late changes, and how many it had.
type changedLate struct {
	posting *posting
	count   uint32
}

// changeLate adds slot to p, or takes it out, if that takes no copy, and reports whether p is as it
// should be. p is nil if no object has its key.
func (w *writer) changeLate(p *posting, slot uint32, enters bool) bool {
	switch {
	case p == nil:
		return !enters
	case p.n <= lateMax, p.many.owner == w.serial:
		return false
	}
	l := p.many.late.Load()
	if l == nil {
		l = &late{first: w.serial}
		p.many.late.Store(l)
	}
	n, txn := l.count.Load(), w.serial-l.first
	if n == lateMax || txn > math.MaxUint32>>1 {
		return false
	}
	if n == 0 || l.changes[n-1].txn() != txn {
		w.late = append(w.late, changedLate{p, n})
	}
	c := &l.changes[n]
	c.when, c.slot = uint32(txn)<<1, slot
	if enters {
		c.when |= 1
	}
	l.count.Store(n + 1)
	return true
}

// discardLate removes the late changes of the open Txn. Those who read the old late don't read
// them, because the Version that they have is older.
func (w *writer) discardLate() {
	for _, c := range w.late {
		var kept *late
		if c.count > 0 {
			l := c.posting.many.late.Load()
			kept = &late{first: l.first}
			copy(kept.changes[:c.count], l.changes[:])
			kept.count.Store(c.count)
		}
		c.posting.many.late.Store(kept)
	}
}
