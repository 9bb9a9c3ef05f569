// SPDX-License-Identifier: Apache-2.0

package table

import (
	"slices"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// anyWriter is an interface for the same reason as content.
type anyWriter interface{ isWriter() }

// writer is the state of the open Txn. Only that Txn and Begin use it, except for open. It is
// separate because readers constantly read the Table's memory.
type writer struct {
	open atomic.Uint64 // number of the open Txn, 0 if there is none
	// number of the last Txn; the open one may change nodes with this owner in place
	serial                uint64
	next                  *versionState // nil without an open Txn
	ownsIndexes           bool
	ownsNamespaceVersions bool
	changes               []Changes

	// During a replacement: the objects set or kept since StartReplace. A row may outlive its
	// object here; then the next object in the row is kept, too.
	replacing bool
	kept      RowSet
}

func (*writer) isWriter() {}

func mustBeOpen(x Txn) *writer {
	if !x.Open() {
		panic("table: Txn used after Publish or Discard")
	}
	return writerOf(x)
}

func writerOf(x Txn) *writer { return x.table.writer.(*writer) }

func (w *writer) end() {
	w.next, w.ownsIndexes, w.ownsNamespaceVersions = nil, false, false
	w.replacing, w.kept = false, RowSet{}
	w.open.Store(0)
}

// compute calls the index functions for the change from old to obj. Only here does user code run,
// and nothing has been changed yet.
func (w *writer) compute(old, obj object.Object) {
	for len(w.changes) < len(w.next.indexes) {
		w.changes = append(w.changes, Changes{})
	}
	for i := range w.next.indexes {
		c := &w.changes[i]
		c.Reset() // a panic may have left entries
		w.next.indexes[i].def.Changes(old, obj, c)
	}
}

func (w *writer) apply(slot uint32) {
	for i := range w.next.indexes {
		c := &w.changes[i]
		if len(c.leave)+len(c.enter) == 0 {
			continue
		}
		if !w.ownsIndexes {
			w.next.indexes, w.ownsIndexes = slices.Clone(w.next.indexes), true
		}
		for _, ch := range c.leave {
			w.next.indexes[i].leave(w.serial, ch, slot)
		}
		for _, ch := range c.enter {
			w.next.indexes[i].enter(w.serial, ch, slot)
		}
		c.Reset()
	}
}

func (w *writer) keep(slot uint32) {
	if w.replacing {
		w.kept.Add(Row(slot + 1))
	}
}
