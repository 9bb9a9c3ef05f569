// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Txn is the next version of a table in the making. Its reads see its own writes; nobody else does
// until Publish. It is used by one goroutine at a time, and not after Publish or Discard. Copies of
// it are the same Txn. The zero Txn has ended.
type Txn struct {
	table *Table
	owner uint64 // its number
}

// Get returns the object under key.
func (x Txn) Get(key object.Key) (object.Object, bool) {
	if !x.Open() {
		return nil, false
	}
	f := writerOf(x).find(key)
	return f.obj, f.obj != nil
}

// Len returns the number of objects.
//
//go:noinline
func (x Txn) Len() int { return x.content().Len() }

// All yields every object until yield returns false. The Txn must not be written meanwhile.
func (x Txn) All(yield func(object.Object) bool) { x.content().All(yield) }

// Set puts obj under its key and returns the object that it replaces, if there is one. obj must not
// be nil, and must not be changed from now on.
func (x Txn) Set(obj object.Object) (old object.Object, replaced bool) {
	w := mustBeOpen(x)
	f := w.find(object.KeyOf(obj))
	old = f.obj
	w.compute(old, obj)
	if old == nil {
		w.insert(f)
	}
	f.obj = obj
	slot := uint32(f.at - 1)
	w.next.objects.set(w.serial, slot, obj, &w.spare)
	w.apply(slot)
	w.mark(f.at)
	return old, old != nil
}

// Keep says that the object under key is part of what replaces the table's content, as it is. It
// returns false when there is none.
func (x Txn) Keep(key object.Key) bool {
	if !x.Open() {
		return false
	}
	f := writerOf(x).find(key)
	if f.obj == nil {
		return false
	}
	writerOf(x).mark(f.at)
	return true
}

// Delete removes the object under key and returns it.
func (x Txn) Delete(key object.Key) (old object.Object, ok bool) {
	if !x.Open() {
		return nil, false
	}
	w := writerOf(x)
	f := w.find(key)
	if f.obj == nil {
		return nil, false
	}
	w.compute(f.obj, nil)
	old, slot := f.obj, uint32(f.at-1)
	w.ownDirectory()
	remove(&w.next.keys, w.serial, f.hash, f.at)
	if key.Namespace != "" {
		leave(&w.next.namespaces, w.serial, Hash(key.Namespace), key.Namespace, slot)
	}
	if w.next.keys.n == 0 {
		moveOff(&w.next.objects.leaves)
		w.next.objects = vector{}
	} else {
		w.next.objects.clear(w.serial, slot, &w.spare)
	}
	w.freed(slot)
	w.apply(slot)
	*f = found{}
	return old, true
}

// StartReplace begins a replacement of the content of one namespace, or of all: from here on Set
// and Keep mark what stays. A second StartReplace begins anew.
//
//go:noinline
func (x Txn) StartReplace() {
	if x.Open() {
		w := writerOf(x)
		w.replacing = true
		clear(w.marks)
	}
}

// Sweep ends a replacement: it deletes every object of the namespace, or of all for "", that was
// neither set nor kept since StartReplace, and calls deleted, if it isn't nil, with each. Without
// StartReplace it does nothing.
func (x Txn) Sweep(namespace string, deleted func(old object.Object)) {
	if !x.Open() || !writerOf(x).replacing {
		return
	}
	w := writerOf(x)
	var gone []object.Object
	w.next.Namespace(namespace).places(func(slot uint32, obj object.Object) bool {
		if !w.marked(slot) {
			gone = append(gone, obj)
		}
		return true
	})
	for _, obj := range gone {
		if old, ok := x.Delete(object.KeyOf(obj)); ok && deleted != nil {
			deleted(old)
		}
	}
	w.replacing, w.marks = false, nil
}

// AddIndex adds an index and fills it from the content. Adding one that the table has is fine and
// does nothing. It fails on a nil index, on one whose Check fails, and when the table has another
// one of the same name.
func (x Txn) AddIndex(ix Index) error {
	w := mustBeOpen(x)
	known, err := checkNew(w.next.indexes, ix)
	if known || err != nil {
		return err
	}
	added := &index{owner: w.serial, id: ix.ID(), def: ix}
	var c Changes
	for slot, obj := range w.next.objects.places {
		ix.Changes(nil, obj, &c)
		added.apply(w.serial, &c, slot)
	}
	w.ownDirectory()
	w.next.indexes = append(slices.Clip(w.next.indexes), added)
	return nil
}

// SetResourceVersion says at which resourceVersion the content stands. It has no effect on a table
// whose namespaces stand at versions of their own.
//
//go:noinline
func (x Txn) SetResourceVersion(rv string) {
	if x.Open() {
		writerOf(x).next.resourceVersion = revisionOf(rv)
	}
}

// SetNamespaceResourceVersion says at which resourceVersion one namespace stands. From the first
// call on, the table stands where its namespaces do, so "" is said of each that is expected.
func (x Txn) SetNamespaceResourceVersion(namespace, rv string) {
	if !x.Open() {
		return
	}
	w := writerOf(x)
	if !w.ownsStreams {
		var own []*stand
		if shared := w.next.streams; shared != nil {
			own = slices.Clone(*shared)
		}
		w.next.streams, w.ownsStreams = &own, true
	}
	all := *w.next.streams
	for i := range all {
		if all[i].namespace == namespace {
			all[i] = &stand{all[i].namespace, revisionOf(rv)}
			return
		}
	}
	*w.next.streams = append(all, &stand{strings.Clone(namespace), revisionOf(rv)})
}

// Open reports whether the Txn was neither published nor discarded. One that was has nothing in it,
// and deletes, keeps and sweeps nothing; Set and AddIndex panic.
func (x Txn) Open() bool { return x.table != nil && writerOf(x).open.Load() == x.owner }

// Publish makes the Txn's content the table's newest version, at once and in constant time, and
// ends the Txn.
func (x Txn) Publish() *Version {
	w := mustBeOpen(x)
	v := &w.next.Version
	w.settle(w.next)
	w.table.version.Store(v)
	w.end()
	return v
}

// Discard ends the Txn without a trace. After Publish or Discard it does nothing.
func (x Txn) Discard() {
	if x.Open() {
		writerOf(x).discard()
		writerOf(x).end()
	}
}

// ----------------------------------------------------------------------------------------------------------------------

func mustBeOpen(x Txn) *writer {
	if !x.Open() {
		panic("table: Txn used after Publish or Discard")
	}
	return writerOf(x)
}

func writerOf(x Txn) *writer { return x.table.writer.(*writer) }

// content returns what the Txn reads; nil, which is empty, after its end.
func (x Txn) content() *Version {
	if !x.Open() {
		return nil
	}
	return &writerOf(x).next.Version
}

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
	w.next, w.spare, w.ownsDirectory, w.ownsStreams, w.found = nil, nil, false, false, found{}
	w.replacing, w.marks = false, nil
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
func (w *writer) find(key object.Key) *found {
	f := &w.found
	if f.obj != nil && f.key == key {
		return f
	}
	*f = found{key: key, hash: Hash(key)}
	f.at, f.obj = w.next.find(key, f.hash, false)
	return f
}

// insert gives the key that was not found a slot.
func (w *writer) insert(f *found) {
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
		for slot := range w.next.objects.places {
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

// mark says that what is at the place stays, if the Txn replaces.
func (w *writer) mark(at Place) {
	if !w.replacing {
		return
	}
	slot := uint32(at - 1)
	for int(slot/64) >= len(w.marks) {
		w.marks = append(w.marks, 0)
	}
	w.marks[slot/64] |= 1 << (slot % 64)
}

func (w *writer) marked(slot uint32) bool {
	return int(slot/64) < len(w.marks) && w.marks[slot/64]>>(slot%64)&1 != 0
}
