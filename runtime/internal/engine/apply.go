// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// apply applies a prefix of the stream. A full state is staged, without a lock, until it is complete, and then applied
// and published in one step. The changes between two full states are applied and published in one step too.
//
// A stream begins with a full state; what comes before the first one is part of no state and is dropped.
func (s *stream) apply(r *run, batch []delta) {
	for len(batch) > 0 {
		n := 0
		if s.staging || batch[0].Type == deltafifo.ReplaceStarted {
			n = s.stage(r, batch)
		} else {
			for n < len(batch) && batch[n].Type != deltafifo.ReplaceStarted {
				n++
			}
			if s.HasSynced() {
				s.informer.write(r, s, func(w *writer) { w.changeAll(batch[:n]) })
			}
		}
		batch = batch[n:]
	}
}

// HasSynced says whether the first full state is published.
func (s *stream) HasSynced() bool { return closed(s.synced) }

// stage adds to the staged full state until that ends, and returns how many deltas it has used.
func (s *stream) stage(r *run, batch []delta) (used int) {
	version := s.informer.table.Version()
	for n := range batch {
		switch d := &batch[n]; d.Type {
		case deltafifo.ReplaceStarted:
			s.staging, s.staged = true, nil
		case deltafifo.ReplaceAborted:
			s.unstage()
			return n + 1
		case deltafifo.ReplaceEnded:
			s.informer.write(r, s, func(w *writer) { w.replace(s.staged, d.ResourceVersion) })
			s.unstage()
			return n + 1
		case deltafifo.Added, deltafifo.Updated, deltafifo.Replaced:
			obj := d.Object
			// An object that has not changed is garbage at once.
			if known, ok := version.Get(d.Key); ok && same(known, obj) {
				obj = known
			}
			s.staged.add(staged{object: obj})
		case deltafifo.Deleted:
			s.staged.add(staged{d.Object, true})
		}
	}
	s.waiting.Store(s.staged.len())
	return len(batch)
}

// unstage drops what is staged.
func (s *stream) unstage() {
	s.staging, s.staged = false, nil
	s.waiting.Store(0)
}

// same says whether two objects of one key are the same state of the same object.
func same(a, b object.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && b.GetResourceVersion() != ""
}

// writer is one batch of one stream on its way into the table. Informer.writing is held for as long as it is used.
type writer struct {
	*stream
	txn     *table.Txn
	changes []change
	first   bool // it is the stream's first full state
	applied int  // objects that were set or deleted
}

// write has a batch applied, and publishes it.
func (i *Informer) write(r *run, s *stream, apply func(*writer)) {
	i.writing.Lock()
	var start time.Duration
	if r.recorder != nil {
		start = i.now()
	}
	w := writer{stream: s, txn: i.table.Begin()}
	apply(&w)
	w.publish()
	reports := i.reports
	i.reports = nil
	i.writing.Unlock()
	if r.recorder != nil {
		r.recorder.BatchDone(i.now()-start, w.applied)
	}
	for _, report := range reports {
		r.logger.Error(report.err, "An index function panicked", "informer", i.config.Name, "stack", report.stack)
		if i.config.OnError != nil {
			i.config.OnError(report.err)
		}
	}
}

// changeAll applies what comes between two full states.
func (w *writer) changeAll(batch []delta) {
	w.changes = make([]change, 0, len(batch))
	for n := range batch {
		switch d := &batch[n]; d.Type {
		case deltafifo.Added, deltafifo.Updated, deltafifo.Replaced:
			w.set(d.Object)
			w.moveTo(d.ResourceVersion)
		case deltafifo.Deleted:
			w.delete(d.Object)
			w.moveTo(d.ResourceVersion)
		case deltafifo.Bookmark:
			w.moveTo(d.ResourceVersion)
		}
	}
}

// replace applies a full state. Deletions of what it lacks come first in the log, which is in order because no other change
// of this state is about their keys. The first full state is not logged: it is replayed from the table, which takes no
// memory.
func (w *writer) replace(state state, resourceVersion string) {
	w.first = !w.HasSynced()
	w.txn.StartReplace()
	for _, part := range state {
		for n := range part {
			if part[n].deleted {
				w.delete(part[n].object)
			} else {
				w.set(part[n].object)
			}
		}
	}
	var vanished []change
	w.txn.Sweep(w.namespace, func(old object.Object) {
		vanished = append(vanished, change{kind: deleted, old: old, finalStateUnknown: true})
	})
	if len(vanished) > 0 {
		w.changes = append(vanished, w.changes...)
		w.applied += len(vanished)
	}
	w.moveTo(resourceVersion)
}

// set stores an object and records the changes that result from it.
func (w *writer) set(obj object.Object) {
	if w.first {
		w.store(obj)
		return
	}
	old, known := w.txn.Get(object.KeyOf(obj))
	switch {
	case known && same(old, obj):
		w.txn.Keep(object.KeyOf(obj))
		return
	case known && old.GetUID() == obj.GetUID():
		w.record(change{kind: updated, old: old, new: obj})
	case known: // another object of that name; the deletion of the old one was not seen
		w.record(change{kind: deleted, old: old, finalStateUnknown: true})
		w.record(change{kind: added, new: obj})
	default:
		w.record(change{kind: added, new: obj})
	}
	w.store(obj)
}

func (w *writer) store(obj object.Object) {
	w.informer.config.Mutations.Store(obj)
	w.txn.Set(obj)
	w.applied++
}

func (w *writer) delete(obj object.Object) {
	old, known := w.txn.Delete(object.KeyOf(obj))
	if !known {
		return
	}
	w.applied++
	switch {
	case old.GetUID() == obj.GetUID():
		w.record(change{kind: deleted, old: obj})
	default: // what was deleted is a successor of old that was never seen
		w.record(change{kind: deleted, old: old, finalStateUnknown: true})
	}
}

func (w *writer) record(c change) {
	if !w.first {
		w.changes = append(w.changes, c)
	}
}

// moveTo sets where the stream stands in the table.
func (w *writer) moveTo(resourceVersion string) {
	switch {
	case resourceVersion == "":
	case len(w.informer.streams) == 1:
		w.txn.SetResourceVersion(resourceVersion)
	default:
		w.txn.SetNamespaceResourceVersion(w.namespace, resourceVersion)
	}
}

// publish makes the transaction the table's version, appends its changes to the log, and wakes whoever waits for that, in
// one step.
func (w *writer) publish() {
	i := w.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	version := w.txn.Publish()
	i.appendLocked(w.changes)
	w.wakeWaitersLocked(version, w.changes)
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
	if w.first {
		i.firstLocked(w.stream, version)
	}
}

// firstLocked says that the first full state of a stream is published. All subscriptions get it as a replay.
func (i *Informer) firstLocked(s *stream, version *table.Version) {
	close(s.synced)
	done := true
	for _, other := range i.streams {
		done = done && other.HasSynced()
	}
	for _, sub := range i.subs {
		sub.startReplay(replay{version, s.namespace, i.now()})
	}
	if done {
		close(i.synced) // after the replays are there
		i.notifyLocked()
	}
	for _, sub := range i.subs {
		sub.wake()
	}
}
