// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// apply applies the next batch of the stream.
func (s *stream) apply(r *run, batch []delta) { s.applyRest(r, batch, false) }

// applyRest applies the next batch of the stream. A full state is staged, without a lock, until it
// is complete, and then applied and published in one step. The changes between two full states are
// applied and published in one step too. If try is true, applyRest does not wait for another
// goroutine that is writing, and leaves the remaining deltas in s.rest.
//
// A stream begins with a full state. Deltas that come before the first one belong to no state, and
// are dropped.
func (s *stream) applyRest(r *run, batch []delta, try bool) {
	s.rest = batch
	for len(s.rest) > 0 {
		switch first := &s.rest[0]; {
		case s.staging && first.Type == deltafifo.ReplaceEnded:
			if !s.informer.write(r, s, 1, try) {
				return
			}
		case s.staging || first.Type == deltafifo.ReplaceStarted:
			s.stage()
		default:
			n := 1
			for n < len(s.rest) && s.rest[n].Type != deltafifo.ReplaceStarted {
				n++
			}
			if !s.HasSynced() {
				s.rest = s.rest[n:]
			} else if !s.informer.write(r, s, n, try) {
				return
			}
		}
	}
}

// HasSynced reports whether the first full state is published.
func (s *stream) HasSynced() bool { return closed(s.synced) }

// stage adds deltas to the staged full state, until that is complete or aborted.
func (s *stream) stage() {
	for n := range s.rest {
		switch d := &s.rest[n]; d.Type {
		case deltafifo.ReplaceStarted:
			s.unstage()
			s.staging = true
			if s.HasSynced() {
				s.base = s.informer.table.Version()
			}
		case deltafifo.ReplaceAborted:
			s.unstage()
			s.rest = s.rest[n+1:]
			return
		case deltafifo.ReplaceEnded:
			s.rest = s.rest[n:]
			return
		case deltafifo.Added, deltafifo.Modified, deltafifo.Replaced:
			s.stageObject(d.Object)
		case deltafifo.Deleted:
			if _, at := s.base.Find(object.KeyOf(d.Object)); at != 0 {
				s.touched.Add(at)
			}
			s.staged.add(gone{d.Object})
		}
	}
	s.rest = nil
	s.waiting.Store(s.staged.len() + int64(s.kept.Len()))
}

// stageObject stages an object. If the object has not changed, it marks the one in the table
// instead, and keeps nothing of obj. Only the stream itself changes its objects in the table, so
// base and the table have the same ones.
func (s *stream) stageObject(obj object.Object) {
	own, at := s.base.Find(object.KeyOf(obj))
	switch {
	case at == 0:
	case same(own, obj) && !s.touched.Has(at):
		s.kept.Add(at)
		return
	default:
		s.touched.Add(at)
	}
	s.staged.add(obj)
}

// unstage drops what is staged.
func (s *stream) unstage() {
	s.staging, s.staged, s.base, s.kept, s.touched = false, nil, nil, table.PlaceSet{}, table.PlaceSet{}
	s.waiting.Store(0)
}

// same reports whether two objects of one key are the same state of the same object. A source may
// hand over the cached object itself instead of decoding it again (source.ListOptions.Known). An
// object that the source has decoded is compared as a whole, because an equal uid and
// resourceVersion do not prove equal content: the server may have been restored from a backup, or
// the program may have written to a part of a cached object. So a source that doubts the cached
// objects only has to decode all of them. Those that differ are then replaced and reported.
func same(a, b object.Object) bool {
	return a == b || a.GetUID() == b.GetUID() && a.GetResourceVersion() == b.GetResourceVersion() && b.GetResourceVersion() != "" &&
		mutation.Equal(a, b)
}

// writer writes the batches of one stream to the table. It is kept from batch to batch, to save
// allocations. Informer.writing is held while it is used.
type writer struct {
	*stream
	txn     table.Txn
	changes []change
	spare   []change // room for the next changes
	first   bool     // the batch is the stream's first full state
	applied int      // objects that were set or deleted

	// What was published last, and the subscriptions that lag behind it:
	publication publication
	laggards    []laggard
}

// write applies and publishes the first n deltas of s.rest, and removes them from it. They are
// either the end of a full state, or changes. If try is true, and another goroutine is writing, or
// there are functions of the user to call, write does nothing and returns false. In the end it
// waits for handlers that lag (see pace.go).
func (i *Informer) write(r *run, s *stream, n int, try bool) bool {
	switch {
	case !try:
		i.writing.Lock()
	case !i.writing.TryLock():
		return false
	case i.functions.Load(): // an index was added since the caller looked
		i.writing.Unlock()
		return false
	}
	applied, took, reports := i.commit(r, s, n)
	s.rest = s.rest[n:]
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
	if w := &s.writer; len(w.laggards) > 0 {
		w.publication.pace(r, w.laggards)
		clear(w.laggards) // so that it keeps no subscriptions alive
		w.laggards = w.laggards[:0]
	}
	return true
}

// commit applies and publishes n deltas in one step, and unlocks Informer.writing. If an index
// function calls runtime.Goexit, the table stays as it was.
func (i *Informer) commit(r *run, s *stream, n int) (applied int, took time.Duration, reports []report) {
	var start time.Duration
	if r.recorder != nil {
		start = i.now()
	}
	w := &s.writer
	w.stream, w.txn, w.first, w.applied = s, i.table.Begin(), false, 0
	w.changes, w.spare, w.laggards = w.spare[:0], nil, w.laggards[:0]
	defer i.writing.Unlock()
	defer w.reset()
	i.reports = nil
	if s.staging {
		w.replace(s.staged, s.rest[0].ResourceVersion)
	} else {
		w.changeAll(s.rest[:n])
	}
	w.publish()
	if r.recorder != nil {
		took = i.now() - start
	}
	return w.applied, took, i.reports
}

// roomy is the number of changes above which the writer does not keep a slice for the next batch.
const roomy = 64

// reset discards what was not published, and keeps some room for the next batch.
func (w *writer) reset() {
	w.txn.Discard() // does nothing after Publish
	if w.txn, w.stream = (table.Txn{}), nil; cap(w.changes) <= roomy {
		clear(w.changes) // so that it keeps no objects alive
		w.spare = w.changes
	}
	w.changes = nil
}

// changeAll applies changes that come between two full states.
func (w *writer) changeAll(batch []delta) {
	w.changes = slices.Grow(w.changes, len(batch))
	for n := range batch {
		switch d := &batch[n]; d.Type {
		case deltafifo.Added, deltafifo.Modified, deltafifo.Replaced:
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

// replace applies a full state. Deletions of the objects that it lacks come first in the log. That
// keeps the order of events of each key, because no other change of this state has one of their
// keys. The first full state is not logged. It is replayed from the table, which takes no memory.
func (w *writer) replace(state fullState, resourceVersion string) {
	w.first = !w.HasSynced()
	if !w.first { // else the table has nothing that the state could lack
		w.txn.StartReplace()
		w.txn.KeepAll(&w.kept)
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
		vanished = append(vanished, change{typ: deleted, old: old, finalStateUnknown: true})
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
	old, found := w.txn.Get(object.KeyOf(obj))
	switch {
	case found && same(old, obj):
		w.txn.Keep(object.KeyOf(obj))
		return
	case found && old.GetUID() == obj.GetUID():
		w.record(change{typ: modified, old: old, new: obj})
	case found: // another object of that name; the deletion of the old one was not seen
		w.record(change{typ: deleted, old: old, finalStateUnknown: true})
		w.record(change{typ: added, new: obj})
	default:
		w.record(change{typ: added, new: obj})
	}
	w.store(obj)
}

func (w *writer) store(obj object.Object) {
	w.informer.config.Mutations.Store(obj)
	w.txn.Set(obj)
	w.applied++
}

func (w *writer) delete(obj object.Object) {
	old, found := w.txn.Delete(object.KeyOf(obj))
	if !found {
		return
	}
	w.applied++
	switch {
	case old.GetUID() == obj.GetUID():
		w.record(change{typ: deleted, old: obj})
	default: // the server has deleted a successor of old that the stream has not seen
		w.record(change{typ: deleted, old: old, finalStateUnknown: true})
	}
}

func (w *writer) record(c change) {
	if !w.first {
		w.changes = append(w.changes, c)
	}
}

// moveTo sets the resourceVersion of the stream in the table.
func (w *writer) moveTo(resourceVersion string) {
	switch {
	case resourceVersion == "":
	case len(w.informer.streams) == 1:
		w.txn.SetResourceVersion(resourceVersion)
	default:
		w.txn.SetNamespaceResourceVersion(w.namespace, resourceVersion)
	}
}

// publish makes the transaction the table's current version, appends its changes to the log, and
// wakes the goroutines that wait for them, in one step.
func (w *writer) publish() {
	i := w.informer
	i.mu.Lock()
	defer i.mu.Unlock()
	version := w.txn.Publish()
	w.wakeWaitersLocked(version, w.changes)
	if len(w.changes) > 0 && len(i.subs) > 0 {
		w.publication = publication{at: i.now(), changes: int64(len(w.changes)), full: w.staging}
		var kept bool
		if kept, w.laggards = i.pool.publish(&i.log, w.changes, w.publication.at, i.subs, w.laggards); kept {
			w.changes = nil
		}
	}
	if i.changed != nil {
		close(i.changed)
		i.changed = nil
	}
	if w.first {
		i.firstLocked(w.stream, version)
	}
}

// firstLocked is called when the first full state of a stream is published. All subscriptions get
// it as a replay.
func (i *Informer) firstLocked(s *stream, version *table.Version) {
	close(s.synced)
	done := true
	for _, other := range i.streams {
		done = done && other.HasSynced()
	}
	for _, sub := range i.subs {
		sub.mu.Lock()
		sub.startReplayLocked(replay{version, s.namespace, i.now()})
		sub.mu.Unlock()
	}
	if done {
		close(i.synced) // after the replays are there
		i.gap.informer.Store(nil)
		i.notifyLocked()
	}
	i.pool.notify(i.subs...)
}
