// SPDX-License-Identifier: Apache-2.0

package table

import (
	"math"
	"sync/atomic"
)

// lateMax makes a late of 128 bytes.
const lateMax = 13

// late has the latest changes of a posting that has more than lateMax slots. They aren't in the
// posting's slots yet, so that a change copies nothing: neither slots, nor the posting, nor its
// bucket, nor the directory. All Versions with the posting share its late, and each of them reads
// the changes of its own Txn and of those before.
//
// To change a posting: write the slot and the number of the Txn after the changes that are there,
// and count them. If there is no room, replace the posting by one that has all changes in its slots
// and has no late.
//
// To read a posting: make one that has the changes in its slots, and remember it for other readers.
// Most postings are changed many times before they are read once.
//
// To discard a Txn: copy the late without the Txn's changes.
type late struct {
	first   uint64               // the Txn of the first change
	made    atomic.Pointer[made] // by a reader; the one with the most changes
	count   atomic.Uint32        // of changes; only those beyond are written
	changes [lateMax]lateChange
}

// lateChange adds a slot to a posting, or takes it out. It may be there, or not be there, already.
type lateChange struct {
	when uint32 // twice the Txn's number less that of the first change; 1 more if the slot enters
	slot uint32
}

func (c lateChange) txn() uint64  { return uint64(c.when >> 1) }
func (c lateChange) enters() bool { return c.when&1 != 0 }

// made is a posting with some of its late changes.
type made struct {
	count   int
	posting *posting
}

// byReader is the owner of what readers make. No Txn has this number.
const byReader = math.MaxUint64

// all returns all changes.
func (l *late) all() []lateChange { return l.changes[:l.count.Load()] }

// upTo returns the changes of a Txn and of those before.
func (l *late) upTo(txn uint64) []lateChange {
	all := l.all()
	for len(all) > 0 && l.first+all[len(all)-1].txn() > txn {
		all = all[:len(all)-1]
	}
	return all
}

// lateOf returns the late of p, or nil.
func lateOf(p *posting) *late {
	if p.n <= lateMax {
		return nil
	}
	return p.many.late.Load()
}

// at returns p as it was after a Txn, for a reader. It has no late.
func (p *posting) at(txn uint64) *posting {
	l := lateOf(p)
	if l == nil {
		return p
	}
	changes := l.upTo(txn)
	if len(changes) == 0 {
		return p
	}
	known := l.made.Load()
	if known != nil && known.count == len(changes) {
		return known.posting
	}
	m := &made{len(changes), p.changed(byReader, changes)}
	if known == nil || known.count < m.count {
		l.made.Store(m)
	}
	return m.posting
}

// settled returns p with all late changes, to be changed by owner.
func (p *posting) settled(owner uint64) *posting {
	if l := lateOf(p); l != nil {
		return p.changed(owner, l.all())
	}
	return p
}

// changed returns p with the changes. It begins with the slots of p itself, which owner doesn't
// own, and not with what a reader has made: there, another reader would change nodes in place.
func (p *posting) changed(owner uint64, changes []lateChange) *posting {
	for _, c := range changes {
		if c.enters() {
			p = p.with(owner, c.slot)
		} else {
			p = p.without(owner, c.slot)
		}
	}
	return p
}

// hasNow reports whether slot is in p, which may be nil, after all late changes.
func (p *posting) hasNow(slot uint32) bool {
	if p == nil {
		return false
	}
	has := p.has(slot)
	if l := lateOf(p); l != nil {
		for _, c := range l.all() {
			if c.slot == slot {
				has = c.enters()
			}
		}
	}
	return has
}
