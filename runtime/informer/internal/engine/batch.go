// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// batchWriter writes the batches of one stream to the table. It is kept from batch to batch, to
// save allocations. Informer.writing is held while it is used.
type batchWriter struct {
	*stream
	run     *run
	txn     table.Txn
	changes []changelog.Change
	spare   []changelog.Change // room for the next changes
	first   bool               // the batch is the stream's first full state
	replay  bool               // first, and subscriptions get it as a replay in place of changes
	applied int                // objects that were set or deleted

	// What was published last, and the subscriptions that lag behind it:
	publication publication
	laggards    []laggard
}

// roomy is the number of changes above which the writer does not keep a slice for the next batch.
const roomy = 64

// reset discards what was not published, and keeps some room for the next batch.
func (w *batchWriter) reset() {
	w.txn.Discard() // does nothing after Publish
	if w.txn, w.stream, w.run = (table.Txn{}), nil, nil; cap(w.changes) <= roomy {
		clear(w.changes) // so that it keeps no objects alive
		w.spare = w.changes
	}
	w.changes = nil
}

// changeAll applies changes that come between two full states.
func (w *batchWriter) changeAll(batch []delta) {
	w.changes = slices.Grow(w.changes, len(batch))
	resourceVersion := ""
	for n := range batch {
		d := &batch[n]
		switch d.Type {
		case deltafifo.Added, deltafifo.Modified, deltafifo.Replaced:
			w.set(d.Object)
		case deltafifo.Deleted:
			w.delete(d.Object)
		case deltafifo.Bookmark:
		default:
			continue
		}
		if d.ResourceVersion != "" {
			resourceVersion = d.ResourceVersion
		}
	}
	w.moveTo(resourceVersion)
}

// replace applies a full state. Deletions of the objects that it lacks come first in the log. That
// keeps the order of events of each key, because no other change of this state has one of their
// keys. The first full state is not logged. It is replayed from the table, which takes no memory.
// Only that of a late stream is logged, because deletions may wait that were logged when its
// namespace was removed.
func (w *batchWriter) replace(full fullState, resourceVersion string) {
	w.first = !w.HasSynced()
	w.replay = w.first && !w.late
	if !w.first { // else the table has nothing that the state could lack
		w.txn.StartReplace()
		w.txn.KeepAll(&w.kept)
	}
	for _, part := range full {
		for _, obj := range part {
			if dead, ok := obj.(tombstone); ok {
				w.delete(dead.Object)
			} else {
				w.set(obj)
			}
		}
	}
	if vanished := w.sweep(); len(vanished) > 0 {
		w.changes = append(vanished, w.changes...)
		w.applied += len(vanished)
	}
	w.moveTo(resourceVersion)
}

// sweep deletes the stream's objects that were not set or kept since StartReplace.
func (w *batchWriter) sweep() (vanished []changelog.Change) {
	w.txn.Sweep(w.namespace, func(old object.Object) {
		vanished = append(vanished, changelog.Change{Type: changelog.Deleted, Old: old, FinalStateUnknown: true})
	})
	return vanished
}

// set stores an object and records the changes that result from it.
func (w *batchWriter) set(obj object.Object) {
	if w.replay {
		w.store(obj)
		return
	}
	// object.KeyOf would first convert obj to an interface with fewer methods.
	key := object.Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
	old, ok := w.txn.Get(key)
	change := changelog.Change{Type: changelog.Modified, Old: old, New: obj}
	switch {
	case !ok:
		change.Type, change.Old = changelog.Added, nil
	case old.GetUID() != obj.GetUID(): // the deletion of the old one was not seen
		w.record(changelog.Change{Type: changelog.Deleted, Old: old, FinalStateUnknown: true})
		change.Type, change.Old = changelog.Added, nil
	case sameState(old, obj):
		w.txn.Keep(key)
		return
	}
	w.record(change)
	w.store(obj)
}

func (w *batchWriter) store(obj object.Object) {
	w.informer.config.Mutations.Store(obj)
	w.txn.Set(obj)
	w.applied++
}

func (w *batchWriter) delete(obj object.Object) {
	old, ok := w.txn.Delete(object.KeyOf(obj))
	if !ok {
		return
	}
	w.applied++
	switch {
	case old.GetUID() == obj.GetUID():
		w.record(changelog.Change{Type: changelog.Deleted, Old: obj})
	default: // the server has deleted a successor of old that the stream has not seen
		w.record(changelog.Change{Type: changelog.Deleted, Old: old, FinalStateUnknown: true})
	}
}

func (w *batchWriter) record(c changelog.Change) {
	if !w.replay {
		w.changes = append(w.changes, c)
	}
}

// moveTo sets the resourceVersion of the stream in the table.
func (w *batchWriter) moveTo(resourceVersion string) {
	switch {
	case resourceVersion == "":
	case w.informer.divided:
		w.txn.SetNamespaceResourceVersion(w.namespace, resourceVersion)
	default:
		w.txn.SetResourceVersion(resourceVersion)
	}
}
