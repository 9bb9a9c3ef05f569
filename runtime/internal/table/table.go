// SPDX-License-Identifier: Apache-2.0

// Package table is the data structure inside a store: the objects of one resource under their keys,
// with any number of indexes, in immutable versions. One writer makes the next version while any
// number of readers use the published ones.
//
// # Ordering and blocking
//
// A reader takes the newest [Version] with one atomic load. From then on it reads memory that is
// never written again, so no reader waits for the writer or for another reader, and the writer
// waits for no reader. A Version is the state at one moment: it always gives the same answers, and
// it has all changes of a Txn or none.
//
// # Index functions that panic
//
// A Txn calls index functions before it changes anything. A panic passes through [Txn.Set],
// [Txn.Delete] or [Txn.AddIndex], leaving the Txn as it was before that call. The caller may
// recover and continue without the object, or discard the Txn. ([Txn.Sweep] makes many deletes;
// those before the panic are done.)
package table

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Table is a persistent multi-index table of objects. The drawing shows one Version. Versions share
// all nodes in which they agree.
//
//	Version ─┬─ objects     radix tree: slot ─▶ object
//	         ├─ keys        hash trie: hash of the object's key ─▶ slot
//	         └─ indexes[i] ─┬─ keys     hash trie: hash of an index key ─▶ key, number
//	                        └─ entries  B-tree: number, slot
//
// Zero trees and tries are empty. Copying the struct of one takes a snapshot: a change copies the
// nodes between the root and the changed one, except nodes made by the same Txn.
//
// The first index is that of namespaces. The key of an object is in the object itself; a [Row] is
// its slot plus one.
//
// To replace an object whose index keys stay: 1. find its slot by its key. 2. put the object into a
// copy of the leaf. Nothing else changes: all other parts refer to the object by its slot.
//
// To insert: 1. ask every index for the object's keys. 2. put the object into the lowest free slot.
// 3. add the slot to keys, and to each index an entry for each of the object's keys.
//
// To delete: the same steps backwards.
//
// To publish: store the pointer to the Txn's Version. From then on no Txn owns the Version's nodes,
// because each node has the number of the Txn that made it and numbers aren't used twice.
type Table struct {
	version atomic.Pointer[Version]
	writer  anyWriter // a *writer

	_ [0]func() // not comparable: otherwise every kind would compile a comparison
}

// Index computes the keys of objects for one index. An Index value belongs to one Table, and only
// its writer calls it.
type Index interface {
	// ID returns the index's identity, the same pointer at each call.
	ID() *ID
	// Check returns an error if the index is invalid; AddIndex then fails with it.
	Check() error
	// Changes calls c.Leave for every key of old and c.Enter for every key of obj, or neither if
	// both have the same keys. Either object may be nil, and has no keys then.
	Changes(old, obj object.Object, c *Changes)
}

// ID is the identity of an index: its address. The indexes of a table have different names.
type ID struct {
	// Name is the index's name in messages.
	Name string
}

// New returns an empty table with these indexes, at resourceVersion "". It fails like AddIndex.
func New(indexes ...Index) (*Table, error) {
	t := &Table{}
	t.writer = &writer{}
	empty := &versionState{indexes: []index{{id: &namespaceID, def: byNamespace{}}}}
	empty.content = empty
	t.version.Store(&empty.Version)
	x := t.Begin()
	for _, ix := range indexes {
		if err := x.AddIndex(ix); err != nil {
			x.Discard()
			return nil, err
		}
	}
	x.Publish()
	return t, nil
}

// Version returns the newest published version. It is never nil, and the call never waits.
func (t *Table) Version() *Version { return t.version.Load() }

// Begin opens a Txn on the newest version. A table has at most one open Txn: Begin panics if the
// last one was neither published nor discarded. Several writers must use a lock.
func (t *Table) Begin() Txn {
	w := t.writer.(*writer)
	if !w.open.CompareAndSwap(0, w.serial+1) {
		panic("table: Begin while a Txn is open")
	}
	w.serial++
	next := *stateOf(t.version.Load())
	next.content, w.next = &next, &next
	return Txn{table: t, owner: w.serial}
}

var errNilIndex = errors.New("an index is nil")

// checkNew returns an error if ix can't be added to indexes. known reports that it is one of them
// already.
func checkNew(indexes []index, ix Index) (known bool, err error) {
	if ix == nil {
		return false, errNilIndex
	}
	if err := ix.Check(); err != nil {
		return false, err
	}
	for _, has := range indexes[1:] {
		switch id := has.id; {
		case id == ix.ID():
			return true, nil
		case id.Name == ix.ID().Name:
			return false, fmt.Errorf("index %q: the table has another index of this name; rename one of them", id.Name)
		}
	}
	return false, nil
}
