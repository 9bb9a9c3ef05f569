// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// hidden is an interface for the same reason as content: see there.
type hidden interface{ isHidden() }

// writer is the state of the open Txn. Only that Txn and Begin use it, except for open. It is apart
// from the Table, because readers read the Table's memory all the time.
type writer struct {
	table *Table
	open  atomic.Uint64 // number of the open Txn, 0 if there is none
	// number of the last Txn; the open one may change nodes with this owner in place
	serial        uint64
	next          *versionState // nil without an open Txn
	spare         *link[leaf]   // of next, until it is used
	ownsDirectory bool
	ownsStreams   bool
	replacing     bool
	slots         slotSet // as next has them, unless mixed
	mixed         bool    // a Txn that took or freed slots was discarded
	lookup        lookup
	changes       []Changes
	late          []changedLate

	// A bitmap of slots during a replacement: the object was set or kept since StartReplace. A bit
	// may outlive its object, because the next object in the slot is kept, too.
	kept []uint64
}

func (*writer) isHidden() {}

// lookup is the result of the open Txn's last look-up. The next one is often about the same key.
type lookup struct {
	key  object.Key
	hash uint32
	at   Row
	obj  object.Object // nil: there is no result
}

func mustBeOpen(x Txn) *writer {
	if !x.Open() {
		panic("table: Txn used after Publish or Discard")
	}
	return writerOf(x)
}

func writerOf(x Txn) *writer { return x.table.writer.(*writer) }

// settle clears the fields that only the open Txn needs in the arrays that s has changed, or may
// have.
func (w *writer) settle(s *versionState) {
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
	clear(w.late)
	w.late = w.late[:0]
	w.open.Store(0)
}

// discard undoes the Txn's changes in the arrays that it shares with the published version. Readers
// of older versions may keep the Txn's spare link alive, and with it next, so next is emptied.
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
	w.discardLate()
	w.mixed = w.mixed || next.directory != now.directory
	next.objects, next.resourceVersion, next.streams, next.directory = vector{}, revision{}, nil, nil
}

// find looks key up, unless the last look-up had the same key. The writer must keep the result up
// to date.
func (w *writer) find(key object.Key) *lookup {
	f := &w.lookup
	if f.obj != nil && f.key == key {
		return f
	}
	*f = lookup{key: key, hash: Hash(key)}
	f.at, f.obj = w.next.find(&f.key, f.hash, false)
	return f
}

// insert gives a slot to a key that was not found.
func (w *writer) insert(f *lookup) {
	w.ownDirectory()
	slot := w.takeSlot()
	f.at = Row(slot + 1)
	insert(&w.next.keys, w.serial, f.hash, f.at)
	if f.key.Namespace != "" {
		w.enterNamespace(f.key.Namespace, slot)
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

// compute calls the index functions for the change from old to obj. This is the only place where
// user code runs, and nothing has been changed yet.
func (w *writer) compute(old, obj object.Object) {
	for len(w.changes) < len(w.next.indexes) {
		w.changes = append(w.changes, Changes{})
	}
	for i, ix := range w.next.indexes {
		c := &w.changes[i]
		c.Reset() // a panic may have left entries
		ix.def.Changes(old, obj, c)
	}
}

// keep records that the object of the row stays, if a replacement has started.
func (w *writer) keep(at Row) {
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
