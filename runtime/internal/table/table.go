// SPDX-License-Identifier: Apache-2.0

// Package table is the data structure inside a store: the objects of one resource under their keys,
// with any number of indexes, in immutable versions. One writer makes the next version while any
// number of readers use the published ones.
//
// # Ordering and blocking
//
// A reader takes the newest Version with one atomic load. From then on it reads memory that nobody
// writes, so no reader waits for the writer or for another reader, and the writer waits for nobody.
// A Version stands for one moment: it answers the same for as long as it is held, and it holds
// either all or nothing of a Txn.
//
// Less formally: copying a pointer is taking a snapshot, and holding it costs no more than the
// memory of what has changed since.
//
// # Index functions that panic
//
// A Txn calls index functions before it changes anything. When one panics, the panic passes through
// Set, Delete or AddIndex, and the Txn is as it was before that call: the caller may recover and go
// on without the object, or discard the Txn. (Sweep is many deletes; those before the panic are
// done.) A published Version is never affected.
package table

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// Table is a persistent multi-index table of objects. Its drawing shows one Version; nodes are
// shared by all Versions that agree in them.
//
//	Version ─┬─ objects   vector: slot number ─▶ object     an array of leaves of 8 objects
//	         └─ directory ─┬─ keys        hash table: key ─▶ place            an array of buckets of 13 entries; the key
//	                       │                                                  stands in the object, a place is a slot + 1
//	                       ├─ namespaces  hash table: namespace ─▶ posting    a posting: one key, and the set of slots
//	                       └─ indexes[i]  hash table: index key ─▶ posting    that have it
//
// How an array is kept for all Versions at once stands over its type. What matters here: a reader
// finds a node with two loads, and a Txn that changes one copies it and nothing above it.
//
// To replace an object whose index keys stay: 1. find its slot by its key. 2. copy the leaf, unless
// this Txn has made it, and put the object there. Nothing else changes: everything but the vector
// knows the object by its slot. A Txn that does only this allocates the leaf and the Version.
//
// To insert: 1. ask every index for the object's keys. 2. put the object into the lowest free slot.
// 3. add the slot to the key's bucket, to the namespace's posting and to the posting of every index
// key. A bucket, or a posting's list of few slots, is copied as a whole; of a posting of many
// slots, which is a tree, what is on the way to the slot. A posting's key is a copy, which keeps
// nothing of the object alive.
//
// To delete: the same backwards. Buckets, postings and leaves that become empty are let go of.
//
// To publish: store the pointer to the Txn's Version. From then on no Txn owns the Version's nodes,
// because each node bears the number of the Txn that made it and numbers aren't used twice.
//
// To discard: put back the nodes that the Txn has replaced.
type Table struct {
	version atomic.Pointer[Version]
	writer  hidden // a *writer

	_ [0]func() // can't be compared, or every kind would compile how
}

// Index computes the keys of objects for one index. An Index value belongs to one Table, whose
// writer alone calls it.
type Index interface {
	// ID returns the index's identity, the same pointer at each call.
	ID() *ID
	// Check returns what is wrong with the index; AddIndex refuses it then, with this error.
	Check() error
	// Changes tells c which keys left and which keys obj has, by Leave for every key of left and
	// Enter for every key of obj, or calls nothing when they agree. Either may be nil, and has no
	// keys then.
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
	empty := &state{directory: &directory{}}
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
// last one was neither published nor discarded. Whoever has more than one writer orders them by a
// lock.
func (t *Table) Begin() Txn {
	w := t.writer.(*writer)
	if !w.open.CompareAndSwap(0, w.serial+1) {
		panic("table: Begin while a Txn is open")
	}
	w.serial++
	now := stateOf(t.version.Load())
	w.next = &state{objects: now.objects, resourceVersion: now.resourceVersion, streams: now.streams, directory: now.directory}
	w.next.content, w.spare = w.next, &w.next.spare
	return Txn{table: t, owner: w.serial}
}

// ----------------------------------------------------------------------------------------------------------------------

var errNilIndex = errors.New("an index is nil")

// checkNew reports whether ix may join indexes: known is true when it is one of them already.
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
