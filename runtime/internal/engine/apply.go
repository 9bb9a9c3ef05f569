// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// apply applies a prefix of the stream. A full state is staged, without a lock, until it is complete, and then applied and
// published in one step. The changes between two full states are applied and published in one step too.
//
// A stream begins with a full state; what comes before the first one is part of no state and is dropped.
func (s *stream) apply(r *run, batch []delta) {
	s.rest = batch
	for len(s.rest) > 0 {
		switch first := &s.rest[0]; {
		case s.staging && first.Type == deltafifo.ReplaceEnded:
			s.informer.write(r, s, 1, func(w *writer) { w.replace(s.staged, first.ResourceVersion) })
		case s.staging || first.Type == deltafifo.ReplaceStarted:
			s.stage()
		default:
			n := 1
			for n < len(s.rest) && s.rest[n].Type != deltafifo.ReplaceStarted {
				n++
			}
			if !s.HasSynced() {
				s.rest = s.rest[n:]
				continue
			}
			s.informer.write(r, s, n, func(w *writer) { w.changeAll(s.rest[:n]) })
		}
	}
}

// HasSynced says whether the first full state is published.
func (s *stream) HasSynced() bool { return closed(s.synced) }

// stage adds to the staged full state until that is complete or aborted.
func (s *stream) stage() {
	version, first := s.informer.table.Version(), !s.HasSynced()
	for n := range s.rest {
		switch d := &s.rest[n]; d.Type {
		case deltafifo.ReplaceStarted:
			s.staging, s.staged = true, nil
		case deltafifo.ReplaceAborted:
			s.unstage()
			s.rest = s.rest[n+1:]
			return
		case deltafifo.ReplaceEnded:
			s.rest = s.rest[n:]
			return
		case deltafifo.Added, deltafifo.Updated, deltafifo.Replaced:
			obj := d.Object
			if !first { // an object that has not changed is garbage at once
				if known, ok := version.Get(d.Key); ok && same(known, obj) {
					obj = known
				}
			}
			s.staged.add(obj)
		case deltafifo.Deleted:
			s.staged.add(gone{d.Object})
		}
	}
	s.rest = nil
	s.waiting.Store(s.staged.len())
}

// unstage drops what is staged, and the room of the batch, which a full state makes larger than what follows.
func (s *stream) unstage() {
	s.staging, s.staged, s.batch = false, nil, nil
	s.waiting.Store(0)
}

// same says whether two objects of one key are the same state of the same object.
func same(a, b object.Object) bool {
	return a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && b.GetResourceVersion() != ""
}

// writer is one batch of one stream on its way into the table. Each stream has one, in order to make none for each batch;
// Informer.writing is held for as long as it is used.
type writer struct {
	*stream
	txn     *table.Txn
	changes []change
	first   bool // it is the stream's first full state
	applied int  // objects that were set or deleted
}

// write has n deltas of s.rest applied, publishes that, and drops them.
func (i *Informer) write(r *run, s *stream, n int, apply func(*writer)) {
	applied, took, reports := i.commit(r, s, apply)
	s.rest = s.rest[n:] // before functions of the user, which may not return
	if s.staging {
		s.unstage()
	}
	if r.recorder != nil {
		r.recorder.BatchDone(took, applied)
	}
	for _, report := range reports {
		r.logger.Error(report.err, "An index function panicked", "informer", i.config.Name, "stack", report.stack)
		if i.config.OnError != nil {
			i.config.OnError(report.err)
		}
	}
}

// commit applies and publishes in one step. If an index function calls runtime.Goexit, nothing has happened.
func (i *Informer) commit(r *run, s *stream, apply func(*writer)) (applied int, took time.Duration, reports []report) {
	i.writing.Lock()
	defer i.writing.Unlock()
	if r.recorder != nil {
		start := i.now()
		defer func() { took = i.now() - start }()
	}
	w := &s.writer
	*w = writer{stream: s, txn: i.table.Begin()}
	defer func() {
		w.txn.Discard() // does nothing after Publish
		*w = writer{}
	}()
	i.reports = nil
	apply(w)
	w.publish()
	return w.applied, 0, i.reports
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
	if !w.first { // else there is nothing that it could lack
		w.txn.StartReplace()
	}
	for _, part := range state {
		for _, obj := range part {
			if gone, ok := obj.(gone); ok {
				w.delete(gone.Object)
			} else {
				w.set(obj)
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
