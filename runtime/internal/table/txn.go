// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Txn is the next version of a table in the making. Its reads see its own writes; nobody else does until Publish.
// It is used by one goroutine at a time, and not after Publish or Discard.
type Txn struct {
	table *Table
	owner uint64   // marks the nodes that this Txn may change in place
	next  *Version // nil at the end

	ownsDirectory bool
	ownsStreams   bool
	replacing     bool
}

// Get returns the object under key.
func (x *Txn) Get(key object.Key) (object.Object, bool) { return x.next.Get(key) }

// Len returns the number of objects.
func (x *Txn) Len() int { return x.next.Len() }

// All yields every object until yield returns false. The Txn must not be written meanwhile.
func (x *Txn) All(yield func(object.Object) bool) { x.next.All(yield) }

// Set puts obj under its key and returns the object that it replaces, if there is one. obj must not be nil, and must
// not be changed from now on.
func (x *Txn) Set(obj object.Object) (old object.Object, replaced bool) {
	key := object.KeyOf(obj)
	hash := Hash(key)
	_, slot, old := x.next.find(key, hash)
	x.compute(old, obj)
	if old == nil {
		x.ownDirectory()
		slot = x.next.objects.free()
		x.next.keys.insert(x.owner, entry{hash: hash, slot: slot})
		if key.Namespace != "" {
			enter(&x.next.namespaces, x.owner, Hash(key.Namespace), key.Namespace, slot)
		}
	}
	x.next.objects.set(x.owner, slot, obj)
	x.apply(slot)
	x.mark(slot)
	return old, old != nil
}

// Keep says that the object under key is part of what replaces the table's content, as it is. It returns false when
// there is none.
func (x *Txn) Keep(key object.Key) bool {
	_, slot, obj := x.next.find(key, Hash(key))
	if obj == nil {
		return false
	}
	x.mark(slot)
	return true
}

// Delete removes the object under key and returns it.
func (x *Txn) Delete(key object.Key) (old object.Object, ok bool) {
	hash := Hash(key)
	at, slot, old := x.next.find(key, hash)
	if old == nil {
		return nil, false
	}
	x.compute(old, nil)
	x.ownDirectory()
	x.next.keys.remove(x.owner, hash, at)
	if key.Namespace != "" {
		leave(&x.next.namespaces, x.owner, Hash(key.Namespace), key.Namespace, slot)
	}
	x.next.objects.clear(x.owner, slot)
	x.apply(slot)
	return old, true
}

// StartReplace begins a replacement of the content of one namespace, or of all: from here on Set and Keep mark what stays.
// A second StartReplace begins anew.
func (x *Txn) StartReplace() {
	if x.Open() {
		x.replacing = true
		clear(x.table.marks)
	}
}

// Sweep ends a replacement: it deletes every object of the namespace, or of all for "", that was neither set nor kept
// since StartReplace, and calls deleted, if it isn't nil, with each. Without StartReplace it does nothing.
func (x *Txn) Sweep(namespace string, deleted func(old object.Object)) {
	if !x.replacing {
		return
	}
	var gone []object.Object
	collect := func(slot uint32, obj object.Object) bool {
		if !x.marked(slot) {
			gone = append(gone, obj)
		}
		return true
	}
	if namespace == "" {
		x.next.objects.places(collect)
	} else {
		x.next.Namespace(namespace).places(collect)
	}
	for _, obj := range gone {
		if old, ok := x.Delete(object.KeyOf(obj)); ok && deleted != nil {
			deleted(old)
		}
	}
	x.replacing, x.table.marks = false, nil
}

// AddIndex adds an index and fills it from the content. Adding one that the table has is fine and does nothing. It fails
// on a nil index, on one whose Check fails, and when the table has another one of the same name.
func (x *Txn) AddIndex(ix Index) error {
	known, err := checkNew(x.next.indexes, ix)
	if known || err != nil {
		return err
	}
	added := index{id: ix.ID(), def: ix}
	var c Changes
	for slot, obj := range x.next.objects.places {
		ix.Changes(nil, obj, &c)
		added.apply(x.owner, &c, slot)
	}
	x.ownDirectory()
	x.next.indexes = append(x.next.indexes, added)
	return nil
}

// SetResourceVersion says at which resourceVersion the content stands. It has no effect on a table whose namespaces stand at
// versions of their own.
func (x *Txn) SetResourceVersion(rv string) {
	if x.Open() {
		x.next.resourceVersion = rv
	}
}

// SetNamespaceResourceVersion says at which resourceVersion one namespace stands. From the first call on, the table
// stands where its namespaces do, so "" is said of each that is expected.
func (x *Txn) SetNamespaceResourceVersion(namespace, rv string) {
	if !x.Open() {
		return
	}
	if !x.ownsStreams {
		var own []*stand
		if shared := x.next.streams; shared != nil {
			own = slices.Clone(*shared)
		}
		x.next.streams, x.ownsStreams = &own, true
	}
	all := *x.next.streams
	for i := range all {
		if all[i].namespace == namespace {
			all[i] = &stand{namespace, rv}
			return
		}
	}
	*x.next.streams = append(all, &stand{namespace, rv})
}

// Open reports whether the Txn was neither published nor discarded. One that was has nothing in it, and deletes, keeps
// and sweeps nothing; Set and AddIndex panic.
func (x *Txn) Open() bool { return x.next != nil }

// Publish makes the Txn's content the table's newest version, at once and in constant time, and ends the Txn.
func (x *Txn) Publish() *Version {
	v := x.next
	x.end()
	x.table.version.Store(v)
	x.table.open.Store(false)
	return v
}

// Discard ends the Txn without a trace. After Publish or Discard it does nothing.
func (x *Txn) Discard() {
	if x.next != nil {
		x.end()
		x.table.open.Store(false)
	}
}

// ----------------------------------------------------------------------------------------------------------------------

func (x *Txn) end() {
	if x.next == nil {
		panic("table: Txn used after Publish or Discard")
	}
	x.next, x.table.marks, x.replacing = nil, nil, false
}

func (x *Txn) ownDirectory() {
	if !x.ownsDirectory {
		d := *x.next.directory
		d.indexes = slices.Clone(d.indexes)
		x.next.directory, x.ownsDirectory = &d, true
	}
}

// compute asks the indexes what the step from old to obj changes. User code runs here and only here, before any change.
func (x *Txn) compute(old, obj object.Object) {
	for len(x.table.changes) < len(x.next.indexes) {
		x.table.changes = append(x.table.changes, Changes{})
	}
	for i := range x.next.indexes {
		c := &x.table.changes[i]
		c.Reset() // a panic may have left something
		x.next.indexes[i].def.Changes(old, obj, c)
	}
}

// apply does to the indexes what compute has found.
func (x *Txn) apply(slot uint32) {
	for i := range x.next.indexes {
		c := &x.table.changes[i]
		if len(c.leave) == 0 && len(c.enter) == 0 {
			continue
		}
		x.ownDirectory()
		x.next.indexes[i].apply(x.owner, c, slot)
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
func enter(postings *hashed, owner uint64, hash uint32, key any, slot uint32) {
	for at, e := range postings.bucket(hash) {
		if e.hash == hash && e.posting.key == key {
			if p := e.posting.with(owner, slot); p != e.posting {
				postings.replace(owner, hash, at, p)
			}
			return
		}
	}
	postings.insert(owner, entry{hash: hash, posting: &posting{key: key, n: 1, one: slot}})
}

// leave removes slot from key's posting, and the posting when it was the last one.
func leave(postings *hashed, owner uint64, hash uint32, key any, slot uint32) {
	for at, e := range postings.bucket(hash) {
		if e.hash != hash || e.posting.key != key {
			continue
		}
		switch p := e.posting.without(owner, slot); p {
		case e.posting:
		case nil:
			postings.remove(owner, hash, at)
		default:
			postings.replace(owner, hash, at, p)
		}
		return
	}
}

func (x *Txn) mark(slot uint32) {
	if !x.replacing {
		return
	}
	for int(slot/64) >= len(x.table.marks) {
		x.table.marks = append(x.table.marks, 0)
	}
	x.table.marks[slot/64] |= 1 << (slot % 64)
}

func (x *Txn) marked(slot uint32) bool {
	return int(slot/64) < len(x.table.marks) && x.table.marks[slot/64]>>(slot%64)&1 != 0
}
