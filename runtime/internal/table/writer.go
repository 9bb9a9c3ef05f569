// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// hidden is an interface for the reason of content.
type hidden interface{ isHidden() }

// writer is what the open Txn knows and does. Only that one, and Begin, touch it, except for open.
// It stands apart from the Table, because readers are reading that one all the time.
type writer struct {
	table *Table
	open  atomic.Uint64 // number of the open Txn, 0 if there is none
	// of the last Txn; marks the nodes that the open one may change in place
	serial        uint64
	next          *state      // nil without a Txn
	spare         *link[leaf] // of next, until it is used
	ownsDirectory bool
	ownsStreams   bool
	replacing     bool
	slots         slotSet // as next has them, unless mixed
	mixed         bool    // a Txn that took or freed slots was discarded
	lookup        lookup
	changes       []Changes
	kept          []uint64 // while a Txn replaces; a bit per slot: its object was set or kept since StartReplace. A mark may
	// outlive its object, because whoever takes the slot next is marked too
}

func (*writer) isHidden() {}

// lookup is what the last look-up of the open Txn has found. What follows it is often about the same
// key.
type lookup struct {
	key  object.Key
	hash uint32
	at   Place
	obj  object.Object // nil: nothing is remembered
}

func mustBeOpen(x Txn) *writer {
	if !x.Open() {
		panic("table: Txn used after Publish or Discard")
	}
	return writerOf(x)
}

func writerOf(x Txn) *writer { return x.table.writer.(*writer) }

// settle forgets what only the open Txn needs to know about the arrays that s has changed, or may
// have.
func (w *writer) settle(s *state) {
	settle(&s.objects.leaves)
	if !w.ownsDirectory {
		return
	}
	settle(&s.keys.buckets)
	settle(&s.namespaces.buckets)
	for _, ix := range s.indexes {
		settle(&ix.postings.buckets)
	}
}

func (w *writer) end() {
	w.next, w.spare, w.ownsDirectory, w.ownsStreams, w.lookup = nil, nil, false, false, lookup{}
	w.replacing, w.kept = false, nil
	w.open.Store(0)
}

// discard takes back what the Txn has changed in what it has in common with the published version.
// Readers of the older versions may hold on to the Txn's spare link, so nothing else may be reached
// from there.
func (w *writer) discard() {
	now, next := stateOf(w.table.version.Load()), w.next
	w.settle(now)
	revert(&now.objects.leaves)
	if next.directory != now.directory {
		revert(&now.keys.buckets)
		revert(&now.namespaces.buckets)
		for _, ix := range now.indexes {
			revert(&ix.postings.buckets)
		}
	}
	w.mixed = w.mixed || next.directory != now.directory
	next.objects, next.resourceVersion, next.streams, next.directory = vector{}, revision{}, nil, nil
}

// find looks key up, unless the last one looked up was the same. What it returns is the writer's to
// keep up to date.
func (w *writer) find(key object.Key) *lookup {
	f := &w.lookup
	if f.obj != nil && f.key == key {
		return f
	}
	*f = lookup{key: key, hash: Hash(key)}
	f.at, f.obj = w.next.find(key, f.hash, false)
	return f
}

// insert gives the key that was not found a slot.
func (w *writer) insert(f *lookup) {
	w.ownDirectory()
	slot := w.takeSlot()
	f.at = Place(slot + 1)
	insert(&w.next.keys, w.serial, f.hash, f.at)
	if f.key.Namespace != "" {
		enter(&w.next.namespaces, w.serial, Hash(f.key.Namespace), f.key.Namespace, slot)
	}
}

// takeSlot returns the lowest slot that isn't taken, and takes it.
func (w *writer) takeSlot() uint32 {
	if w.mixed {
		w.slots, w.mixed = slotSet{}, false
		for slot := range w.next.objects.slots {
			w.slots.add(slot)
		}
	}
	return w.slots.take()
}

func (w *writer) freed(slot uint32) {
	if !w.mixed {
		w.slots.remove(slot)
	}
}

func (w *writer) ownDirectory() {
	if !w.ownsDirectory {
		d := *w.next.directory
		w.next.directory, w.ownsDirectory = &d, true
	}
}

// ownIndex returns index i, which is there, to be changed.
func (w *writer) ownIndex(i int) *index {
	if ix := w.next.indexes[i]; ix.owner == w.serial {
		return ix
	}
	w.ownDirectory()
	all := slices.Clone(w.next.indexes)
	own := *all[i]
	own.owner = w.serial
	all[i] = &own
	w.next.indexes = all
	return &own
}

// compute asks the indexes what the step from old to obj changes. User code runs here and only
// here, before any change.
func (w *writer) compute(old, obj object.Object) {
	for len(w.changes) < len(w.next.indexes) {
		w.changes = append(w.changes, Changes{})
	}
	for i, ix := range w.next.indexes {
		c := &w.changes[i]
		c.Reset() // a panic may have left something
		ix.def.Changes(old, obj, c)
	}
}

// apply does to the indexes what compute has found.
func (w *writer) apply(slot uint32) {
	for i := range w.next.indexes {
		if c := &w.changes[i]; len(c.leave) > 0 || len(c.enter) > 0 {
			w.ownIndex(i).apply(w.serial, c, slot)
		}
	}
}

func (ix *index) apply(owner uint64, c *Changes, slot uint32) {
	c.settle()
	for _, ch := range c.leave {
		leave(&ix.postings, owner, ch.hash, ch.key, slot)
	}
	for _, ch := range c.enter {
		enter(&ix.postings, owner, ch.hash, ch.key, slot)
	}
	c.Reset()
}

// enter adds slot to key's posting, which it makes if there is none.
func enter(postings *hashed[*posting], owner uint64, hash uint32, key any, slot uint32) {
	p := postingOf(postings, hash, func(other any) bool { return other == key })
	if p == nil {
		insert(postings, owner, hash, &posting{key: detached(key), n: 1, one: slot})
		return
	}
	if with := p.with(owner, slot); with != p {
		replace(postings, owner, hash, p, with)
	}
}

// leave removes slot from key's posting, and the posting when it was the last one.
func leave(postings *hashed[*posting], owner uint64, hash uint32, key any, slot uint32) {
	p := postingOf(postings, hash, func(other any) bool { return other == key })
	if p == nil {
		return
	}
	switch without := p.without(owner, slot); without {
	case p:
	case nil:
		remove(postings, owner, hash, p)
	default:
		replace(postings, owner, hash, p, without)
	}
}

// keep says that what is at the place stays, if the Txn replaces.
func (w *writer) keep(at Place) {
	if !w.replacing {
		return
	}
	slot := uint32(at - 1)
	for int(slot/64) >= len(w.kept) {
		w.kept = append(w.kept, 0)
	}
	w.kept[slot/64] |= 1 << (slot % 64)
}

func (w *writer) isKept(slot uint32) bool {
	return int(slot/64) < len(w.kept) && w.kept[slot/64]>>(slot%64)&1 != 0
}
