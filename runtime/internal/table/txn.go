// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Txn is the next version of a table under construction. Its reads see its own writes; other
// readers see them after Publish. It must be used by one goroutine at a time, and not after Publish
// or Discard. Copies of it are the same Txn. The zero Txn has ended.
type Txn struct {
	table *Table
	owner uint64
}

// Get returns the object under key.
func (x Txn) Get(key object.Key) (object.Object, bool) {
	if !x.Open() {
		return nil, false
	}
	_, obj := writerOf(x).next.find(key, Hash(key))
	return obj, obj != nil
}

// Len returns the number of objects.
//
//go:noinline
func (x Txn) Len() int { return x.content().Len() }

// All yields every object. The Txn must not be written meanwhile.
func (x Txn) All(yield func(object.Object) bool) { x.content().All(yield) }

// Set puts obj under its key and returns the replaced object, if any. obj must not be nil, and must
// not be changed from now on.
func (x Txn) Set(obj object.Object) (old object.Object, replaced bool) {
	w := mustBeOpen(x)
	// not KeyOf: its conversion of the interface is a search for methods
	key := object.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	hash := Hash(key)
	slot, old := w.next.find(key, hash)
	w.compute(old, obj)
	if old == nil {
		slot = w.next.objects.free()
		w.next.keys.add(w.serial, hash, slot)
	}
	w.next.objects.set(w.serial, slot, obj)
	w.apply(slot)
	w.keep(slot)
	return old, old != nil
}

// Keep records that the object under key stays in a replacement, unchanged. It returns false if
// there is none.
func (x Txn) Keep(key object.Key) bool {
	if !x.Open() {
		return false
	}
	slot, obj := writerOf(x).next.find(key, Hash(key))
	if obj == nil {
		return false
	}
	writerOf(x).keep(slot)
	return true
}

// Delete removes the object under key and returns it.
func (x Txn) Delete(key object.Key) (old object.Object, ok bool) {
	if !x.Open() {
		return nil, false
	}
	w, hash := writerOf(x), Hash(key)
	slot, old := w.next.find(key, hash)
	if old == nil {
		return nil, false
	}
	w.compute(old, nil)
	w.next.keys.remove(w.serial, hash, slot)
	w.next.objects.set(w.serial, slot, nil)
	w.apply(slot)
	return old, true
}

// StartReplace begins a replacement of the content of one namespace, or of all: from now on Set and
// Keep record the objects that stay. A second StartReplace starts over.
//
//go:noinline
func (x Txn) StartReplace() {
	if x.Open() {
		writerOf(x).replacing, writerOf(x).kept = true, RowSet{}
	}
}

// Sweep ends a replacement: it deletes every object of the namespace, or of all for "", neither set
// nor kept since StartReplace, and calls deleted, if it isn't nil, with each. Without StartReplace
// it does nothing.
func (x Txn) Sweep(namespace string, deleted func(old object.Object)) {
	if !x.Open() || !writerOf(x).replacing {
		return
	}
	w := writerOf(x)
	var gone []object.Key
	for obj := range w.next.Namespace(namespace).All {
		key := object.KeyOf(obj)
		if slot, _ := w.next.find(key, Hash(key)); !w.kept.Has(Row(slot + 1)) {
			gone = append(gone, key)
		}
	}
	for _, key := range gone {
		if old, ok := x.Delete(key); ok && deleted != nil {
			deleted(old)
		}
	}
	w.replacing, w.kept = false, RowSet{}
}

// AddIndex adds an index and fills it from the content. Adding an index again does nothing.
// AddIndex fails on a nil index, on one whose Check fails, and on another one of the same name.
func (x Txn) AddIndex(ix Index) error {
	w := mustBeOpen(x)
	known, err := checkNew(w.next.indexes, ix)
	if known || err != nil {
		return err
	}
	added := index{id: ix.ID(), def: ix}
	var c Changes
	for slot, obj := range w.next.objects.each {
		ix.Changes(nil, obj, &c)
		for _, ch := range c.enter {
			added.enter(w.serial, ch, slot)
		}
		c.Reset()
	}
	w.next.indexes = append(slices.Clip(w.next.indexes), added)
	w.ownsIndexes = true
	return nil
}

// SetResourceVersion sets the resourceVersion of the content. It has no effect on a table whose
// namespaces have versions of their own.
//
//go:noinline
func (x Txn) SetResourceVersion(rv string) {
	if x.Open() {
		writerOf(x).next.resourceVersion = parseResourceVersion(rv)
	}
}

// SetNamespaceResourceVersion sets the resourceVersion of one namespace. From the first call on,
// the table's resourceVersion is the oldest of its namespaces. So it must be called with "" for
// each expected namespace.
func (x Txn) SetNamespaceResourceVersion(namespace, rv string) {
	if !x.Open() {
		return
	}
	all := writerOf(x).ownNamespaceVersions()
	for i, nv := range *all {
		if nv.namespace == namespace {
			(*all)[i] = &namespaceVersion{nv.namespace, parseResourceVersion(rv)}
			return
		}
	}
	*all = append(*all, &namespaceVersion{strings.Clone(namespace), parseResourceVersion(rv)})
}

// DropNamespaceResourceVersion undoes all calls of SetNamespaceResourceVersion for a namespace.
func (x Txn) DropNamespaceResourceVersion(namespace string) {
	if x.Open() {
		all := writerOf(x).ownNamespaceVersions()
		*all = slices.DeleteFunc(*all, func(nv *namespaceVersion) bool { return nv.namespace == namespace })
	}
}

func (w *writer) ownNamespaceVersions() *[]*namespaceVersion {
	if !w.ownsNamespaceVersions {
		var own []*namespaceVersion
		if shared := w.next.namespaceVersions; shared != nil {
			own = slices.Clone(*shared)
		}
		w.next.namespaceVersions, w.ownsNamespaceVersions = &own, true
	}
	return w.next.namespaceVersions
}

// Open reports whether the Txn was neither published nor discarded. After that the Txn is empty:
// Delete, Keep and Sweep do nothing, and Set and AddIndex panic.
func (x Txn) Open() bool { return x.table != nil && writerOf(x).open.Load() == x.owner }

// Publish makes the Txn's content the table's newest version, at once and in constant time, and
// ends the Txn.
func (x Txn) Publish() *Version {
	w := mustBeOpen(x)
	v := &w.next.Version
	x.table.version.Store(v)
	w.end()
	return v
}

// Discard ends the Txn and drops its changes. After Publish or Discard it does nothing.
func (x Txn) Discard() {
	if x.Open() {
		writerOf(x).end()
	}
}

// content returns the version read by the Txn, or nil, which is empty, after its end.
func (x Txn) content() *Version {
	if !x.Open() {
		return nil
	}
	return &writerOf(x).next.Version
}
