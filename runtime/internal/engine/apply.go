// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

type (
	fifo  = deltafifo.DeltaFIFO[object.Object]
	delta = deltafifo.Delta[object.Object]
)

// sink is the queue of the current run, as the reflector sees it.
type sink struct{ *fifo }

// applyAll applies what queue delivers until ctx is done.
func (i *Informer) applyAll(ctx context.Context, queue *fifo) {
	var batch []delta
	for {
		var err error
		if batch, err = queue.PopBatch(ctx, batch[:0]); err != nil {
			return
		}
		i.apply(batch)
		clear(batch) // so that it keeps no objects alive
	}
}

// apply applies a prefix of the stream and publishes it in one step. An incomplete full state stays in the open
// transaction.
func (i *Informer) apply(batch []delta) {
	i.writing.Lock()
	defer i.writing.Unlock()
	for n := range batch {
		i.applyLocked(&batch[n])
	}
	if !i.replacing {
		i.publishLocked()
	}
}

func (i *Informer) applyLocked(d *delta) {
	switch d.Type {
	case deltafifo.ReplaceStarted:
		i.abandonLocked()
		i.publishLocked() // what came before must survive if this one is aborted
		i.beginLocked()
		i.txn.StartReplace()
		i.replacing = true
	case deltafifo.ReplaceEnded:
		i.completeLocked(d.ResourceVersion)
	case deltafifo.ReplaceAborted:
		i.abandonLocked()
	case deltafifo.Bookmark:
		if !i.replacing {
			i.beginLocked()
			i.txn.SetResourceVersion(d.ResourceVersion)
		}
	case deltafifo.Added, deltafifo.Updated, deltafifo.Replaced:
		i.setLocked(d)
	case deltafifo.Deleted:
		i.deleteLocked(d)
	}
}

// setLocked stores an object and records the changes that result from it.
func (i *Informer) setLocked(d *delta) {
	i.beginLocked()
	old, known := i.txn.Get(d.Key)
	switch same := known && old.GetUID() == d.Object.GetUID(); {
	case same && d.ResourceVersion != "" && old.GetResourceVersion() == d.ResourceVersion:
		i.txn.Keep(d.Key)
		return
	case same:
		i.recordLocked(change{kind: updated, old: old, new: d.Object})
	case known: // another object of that name; the deletion of the old one was not seen
		i.recordLocked(change{kind: deleted, old: old, finalStateUnknown: true})
		i.recordLocked(change{kind: added, new: d.Object})
	default:
		i.recordLocked(change{kind: added, new: d.Object})
	}
	i.txn.Set(d.Object)
	i.moveToLocked(d.ResourceVersion)
}

func (i *Informer) deleteLocked(d *delta) {
	i.beginLocked()
	if old, known := i.txn.Delete(d.Key); known {
		c := change{kind: deleted, old: d.Object}
		if old.GetUID() != d.Object.GetUID() { // what was deleted is a successor of old that was never seen
			c = change{kind: deleted, old: old, finalStateUnknown: true}
		}
		i.recordLocked(c)
	}
	i.moveToLocked(d.ResourceVersion)
}

// moveToLocked sets the table's resourceVersion. That of a full state is set at its end.
func (i *Informer) moveToLocked(resourceVersion string) {
	if !i.replacing && resourceVersion != "" {
		i.txn.SetResourceVersion(resourceVersion)
	}
}

// recordLocked notes a change for the log. The first full state is left out: it is replayed from the table, which takes
// no memory.
func (i *Informer) recordLocked(c change) {
	if i.replacing && i.pristine {
		return
	}
	i.changes = append(i.changes, c)
}

// completeLocked publishes a full state. Deletions of what it lacks come first in the log, which is in order because no
// other change of this state is about their keys.
func (i *Informer) completeLocked(resourceVersion string) {
	if !i.replacing {
		return
	}
	var vanished []change
	i.txn.Sweep(func(old object.Object) {
		vanished = append(vanished, change{kind: deleted, old: old, finalStateUnknown: true})
	})
	if len(vanished) > 0 {
		i.changes = append(vanished, i.changes...)
	}
	i.replacing = false
	i.moveToLocked(resourceVersion)
	i.publishFirstLocked()
}

// abandonLocked drops a full state that will not be completed. The published version stays as it is.
func (i *Informer) abandonLocked() {
	if !i.replacing {
		return
	}
	i.txn.Discard()
	i.txn, i.changes, i.replacing = nil, nil, false
	if lost := i.unsettled; len(lost) > 0 {
		i.unsettled = nil
		i.beginLocked()
		for _, index := range lost {
			// It can't fail: it succeeded in the transaction that was dropped.
			_ = i.txn.AddIndex(index)
		}
		i.publishLocked()
	}
}

func (i *Informer) beginLocked() {
	if i.txn == nil {
		i.txn = i.table.Begin()
	}
}

// publishLocked makes the open transaction the table's version and appends its changes to the log, in one step.
func (i *Informer) publishLocked() {
	if i.txn == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.txn.Publish()
	if len(i.changes) > 0 {
		i.pristine = false
	}
	i.appendLocked(i.changes)
	i.txn, i.changes, i.unsettled = nil, nil, nil
	i.wakeWaitersLocked()
}

// publishFirstLocked publishes a full state. The first one makes the informer synced, and is replayed to all
// subscriptions.
func (i *Informer) publishFirstLocked() {
	i.publishLocked()
	i.mu.Lock()
	defer i.mu.Unlock()
	if closed(i.synced) {
		return
	}
	if i.pristine {
		i.pristine = false
		for _, s := range i.subs {
			s.startReplay(i.table.Version())
		}
	}
	close(i.synced)
	for _, s := range i.subs {
		s.wake()
	}
}
