// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/changelog"
	"github.com/informer-gen/informer-gen/runtime/internal/partition"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// apply applies the next deltas of the stream. A full state is staged, without a lock, until it is
// complete, and then applied and published in one step. So are the changes between two full states.
//
// A stream begins with a full state. Earlier deltas belong to no state, and are dropped.
func (s *Stream) apply(r *Run, batch []delta) {
	if s.part != nil {
		defer s.part.consume(len(batch))
	}
	for len(batch) > 0 {
		switch first := &batch[0]; {
		case s.staging.active && first.Type == deltafifo.ReplaceEnded:
			s.write(r, batch[:1])
			s.unstage()
			batch = batch[1:]
		case s.staging.active || first.Type == deltafifo.ReplaceStarted:
			batch = s.stage(batch)
		default:
			n := 1
			for n < len(batch) && batch[n].Type != deltafifo.ReplaceStarted {
				n++
			}
			if s.HasSynced() {
				s.write(r, batch[:n])
			}
			batch = batch[n:]
		}
	}
}

// write applies the end of a full state or changes, publishes them, and waits for handlers that
// lag.
func (s *Stream) write(r *Run, batch []delta) {
	in := s.intake
	var start time.Duration
	if r.Recorder != nil {
		start = in.now()
	}
	applied, panics, wait := s.commit(batch)
	if r.Recorder != nil {
		r.Recorder.BatchDone(in.now()-start, applied)
	}
	in.report(r.Logger, panics)
	if wait != nil {
		wait(r.Ctx.Done())
	}
}

// commit applies and publishes a batch in one step, unless the stream was removed. If an index
// function calls runtime.Goexit, the table stays as it was.
func (s *Stream) commit(batch []delta) (applied int, panics []indexPanic, wait func(over <-chan struct{})) {
	in := s.intake
	in.writeMu.Lock()
	defer in.writeMu.Unlock()
	if s.Removed() {
		return 0, nil, nil // the table has nothing of the stream
	}
	b := batchWriter{stream: s, txn: in.table.Begin()}
	defer b.txn.Discard() // does nothing after Publish
	in.panics = nil
	switch {
	case s.part == nil:
	case s.staging.active:
		b.covered = s.part.complete(s.staging.number)
	default:
		b.covered = s.part.covered
	}
	if s.staging.active {
		b.replace(batch[0].ResourceVersion)
	} else {
		b.changeAll(batch)
	}
	if s.part != nil {
		s.part.covered, s.part.listed = b.covered, s.part.listed || s.staging.active
	}
	s.countChanges(b.applied)
	wait = in.config.Publish(Publication{
		Stream: s, Changes: b.changes, Full: s.staging.active, First: b.first, txn: b.txn,
	})
	if n := s.lastReread.Load(); s.staging.active && s.staging.number >= n {
		s.lastReread.CompareAndSwap(n, 0)
	}
	s.published.Store(s.changed.Load())
	return b.applied, in.panics, wait
}

func (in *Intake) report(logger klog.Logger, panics []indexPanic) {
	for _, p := range panics {
		logger.Error(p.err, "An index function panicked", "informer", in.config.Name, "stack", p.stack)
		if in.config.OnError != nil {
			in.config.OnError(in.config.Name, p.err)
		}
	}
}

type batchWriter struct {
	stream  *Stream
	txn     table.Txn
	changes []changelog.Change
	first   bool          // the batch is the stream's first full state
	replay  bool          // first, and replayed from the table instead of changes
	applied int           // objects that were set or deleted
	covered partition.Set // of a stream with a part
}

func (w *batchWriter) changeAll(batch []delta) {
	w.changes = slices.Grow(w.changes, len(batch))
	resourceVersion := ""
	for n := range batch {
		d := &batch[n]
		switch d.Type {
		case deltafifo.Added, deltafifo.Modified, deltafifo.Replaced:
			w.set(d.Key, d.Object)
		case deltafifo.Deleted:
			w.delete(d.Key, d.Object)
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

// replace applies a full state. Deletions of the objects it lacks come first in the log. That keeps
// the order of events of each key, because no other change of this state has one of their keys. The
// first full state is replayed from the table instead of being logged, which takes no memory. Only
// that of a stream added later is logged, because deletions logged when its namespace was removed
// may wait.
func (w *batchWriter) replace(resourceVersion string) {
	staging := &w.stream.staging
	w.first = !w.stream.HasSynced()
	w.replay = w.first && !w.stream.addedLater
	if !w.first { // otherwise the table has no objects of the stream
		w.txn.StartReplace()
		w.txn.KeepAll(&staging.keptRows)
	}
	for _, part := range staging.objects {
		for _, obj := range part {
			if dead, ok := obj.(tombstone); ok {
				w.delete(object.KeyOf(dead.Object), dead.Object)
			} else {
				w.set(object.KeyOf(obj), obj)
			}
		}
	}
	if vanished := w.sweep(); len(vanished) > 0 {
		w.changes = append(vanished, w.changes...)
		w.applied += len(vanished)
	}
	w.moveTo(resourceVersion)
}

// sweep deletes the stream's objects that were neither set nor kept since StartReplace.
func (w *batchWriter) sweep() (vanished []changelog.Change) {
	w.txn.Sweep(w.stream.namespace, func(old object.Object) {
		vanished = append(vanished, changelog.Change{Type: deltafifo.Deleted, Old: old, FinalStateUnknown: true})
	})
	return vanished
}

// set stores an object and records the resulting changes.
func (w *batchWriter) set(key object.Key, obj object.Object) {
	if w.foreign(obj) {
		w.drop(key, obj)
		return
	}
	if w.replay {
		w.store(obj)
		return
	}
	old, ok := w.txn.Get(key)
	change := changelog.Change{Type: deltafifo.Modified, Old: old, New: obj}
	switch {
	case !ok:
		change.Type, change.Old = deltafifo.Added, nil
	case old.GetUID() != obj.GetUID(): // the old one's deletion was missed
		w.record(changelog.Change{Type: deltafifo.Deleted, Old: old, FinalStateUnknown: true})
		change.Type, change.Old = deltafifo.Added, nil
	case sameState(old, obj):
		w.txn.Keep(key)
		return
	}
	w.record(change)
	w.store(obj)
}

func (w *batchWriter) store(obj object.Object) {
	w.stream.intake.config.Mutations.Store(obj)
	w.txn.Set(obj)
	w.applied++
}

func (w *batchWriter) delete(key object.Key, obj object.Object) {
	old, ok := w.txn.Delete(key)
	if !ok {
		return
	}
	w.applied++
	switch {
	case old.GetUID() == obj.GetUID():
		w.record(changelog.Change{Type: deltafifo.Deleted, Old: obj})
	default: // the server has deleted a successor of old that the stream missed
		w.record(changelog.Change{Type: deltafifo.Deleted, Old: old, FinalStateUnknown: true})
	}
}

func (w *batchWriter) record(c changelog.Change) {
	if !w.replay {
		w.changes = append(w.changes, c)
	}
}

func (w *batchWriter) moveTo(resourceVersion string) {
	switch {
	case resourceVersion == "":
	case w.stream.intake.versionPerNamespace:
		w.txn.SetNamespaceResourceVersion(w.stream.namespace, resourceVersion)
	default:
		w.txn.SetResourceVersion(resourceVersion)
	}
}
