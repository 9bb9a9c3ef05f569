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
// In short: copying a pointer takes a snapshot, and holding a snapshot costs the memory of what has
// changed since.
//
// # Index functions that panic
//
// A Txn calls index functions before it changes anything. When one panics, the panic passes through
// [Txn.Set], [Txn.Delete] or [Txn.AddIndex], and the Txn is as it was before that call. The caller
// may recover and go on without the object, or discard the Txn. ([Txn.Sweep] makes many deletes;
// those before the panic are done.) A published Version is never affected.
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
//	Version ─┬─ objects   vector: slot ─▶ object
//	         └─ directory ─┬─ keys        hash table: key ─▶ Row
//	                       ├─ namespaces  hash table: namespace ─▶ posting
//	                       └─ indexes[i]  hash table: index key ─▶ posting
//
// A vector is an array of leaves of 8 objects. A hash table is an array of buckets of 13 entries.
// The key of an object stands in the object itself; a [Row] is its slot plus one. A posting is one
// key and the set of slots that have it.
//
// The type array describes how one array serves all Versions at once. What matters here: a reader
// finds a node with two loads, and a Txn that changes a node copies that node and nothing else.
//
// To replace an object whose index keys stay: 1. find its slot by its key. 2. copy the leaf, unless
// this Txn has made it, and put the object there. Nothing else changes: all other parts refer to
// the object by its slot. A Txn that does only this allocates the leaf and the Version.
//
// To insert: 1. ask every index for the object's keys. 2. put the object into the lowest free slot.
// 3. add the slot to the key's bucket, to the namespace's posting and to the posting of every index
// key. A bucket, or a posting's list of few slots, is copied as a whole. A posting of many slots is
// a tree, of which only the nodes on the way to the slot are copied. But of 14 changes of a posting
// of more than 13 slots, 13 copy nothing: see late. A posting's key is a copy, which keeps nothing
// of the object alive.
//
// To delete: the same steps backwards. Buckets, postings and leaves that become empty are removed.
//
// To publish: store the pointer to the Txn's Version. From then on no Txn owns the Version's nodes,
// because each node bears the number of the Txn that made it and numbers aren't used twice.
//
// To discard: put back the nodes that the Txn has replaced.
type Table struct {
	version atomic.Pointer[Version]
	writer  hidden // a *writer

	_ [0]func() // not comparable: otherwise every kind would compile a comparison
}

// Index computes the keys of objects for one index. An Index value belongs to one Table, whose
// writer alone calls it.
type Index interface {
	// ID returns the index's identity, the same pointer at each call.
	ID() *ID
	// Check returns an error if the index is invalid; AddIndex then fails with it.
	Check() error
	// Changes calls c.Leave for every key of old and c.Enter for every key of obj, or neither if
	// both have the same keys. Either object may be nil; it has no keys then.
	Changes(old, obj object.Object, c *Changes)
}

// ID is the identity of an index: its address. Two indexes of one table have different names.
type ID struct {
	// Name is the index's name, for messages.
	Name string
}

// New returns an empty table with these indexes, at resourceVersion "". It fails like AddIndex.
func New(indexes ...Index) (*Table, error) {
	t := &Table{}
	t.writer = &writer{table: t}
	empty := &versionState{directory: &directory{}}
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

// Begin opens a Txn on the newest version. A table has at most one open Txn: Begin panics when the
// last one was neither published nor discarded. A caller with several writers must order them by a
// lock.
func (t *Table) Begin() Txn {
	w := t.writer.(*writer)
	if !w.open.CompareAndSwap(0, w.serial+1) {
		panic("table: Begin while a Txn is open")
	}
	w.serial++
	now := stateOf(t.version.Load())
	w.next = &versionState{objects: now.objects, resourceVersion: now.resourceVersion, streams: now.streams, directory: now.directory}
	w.next.content, w.spare = w.next, &w.next.spare
	return Txn{table: t, owner: w.serial}
}

var errNilIndex = errors.New("an index is nil")

// checkNew returns an error if ix can't be added to indexes. known is true if it is one of them
// already.
func checkNew(indexes []*index, ix Index) (known bool, err error) {
	if ix == nil {
		return false, errNilIndex
	}
	if err := ix.Check(); err != nil {
		return false, err
	}
	for _, has := range indexes {
		switch id := has.id; {
		case id == ix.ID():
			return true, nil
		case id.Name == ix.ID().Name:
			return false, fmt.Errorf("index %q: the table has another index of this name; give one of them a name of its own", id.Name)
		}
	}
	return false, nil
}
