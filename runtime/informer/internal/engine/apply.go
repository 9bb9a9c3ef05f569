// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
)

// apply applies the next batch of the stream.
func (s *stream) apply(r *run, batch []delta) { s.applyRest(r, batch, false) }

// applyRest applies the next batch of the stream. A full state is staged, without a lock, until it
// is complete, and then applied and published in one step. The changes between two full states are
// applied and published in one step too. If reading is true, as on the reader, it calls no function
// of the user, and does not wait for another goroutine that is writing if more has come already. It
// leaves in s.rest what it has not applied.
//
// A stream begins with a full state. Deltas that come before the first one belong to no state, and
// are dropped.
func (s *stream) applyRest(r *run, batch []delta, reading bool) {
	s.rest = batch
	for len(s.rest) > 0 {
		switch first := &s.rest[0]; {
		case s.staging && first.Type == deltafifo.ReplaceEnded:
			if !s.informer.write(r, s, 1, reading) {
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
			} else if !s.informer.write(r, s, n, reading) {
				return
			}
		}
	}
}

// HasSynced reports whether the first full state is published.
func (s *stream) HasSynced() bool { return closed(s.synced) }

// write applies and publishes the first n deltas of s.rest, and removes them from it. They are
// either the end of a full state, or changes. If reading is true, and there are functions of the
// user to call, or another goroutine is writing and more has come already, write does nothing and
// returns false. In the end it waits for handlers that lag (see pace.go).
func (i *Informer) write(r *run, s *stream, n int, reading bool) bool {
	// Behind less than a full batch there is nothing to read meanwhile. Another goroutine mostly
	// writes for microseconds, and an applier that is started stays until the run is over.
	if !reading || len(s.rest) < atOnce {
		i.writing.Lock()
	} else if !i.writing.TryLock() {
		return false
	}
	if reading && i.functions.Load() { // an index was added since the caller looked
		i.writing.Unlock()
		return false
	}
	if s.removed { // the table has nothing of the stream any more
		i.writing.Unlock()
		s.rest = nil
		s.unstage()
		return true
	}
	applied, took, panics := i.commit(r, s, n)
	s.rest = s.rest[n:]
	if s.staging {
		s.unstage()
	}
	if r.recorder != nil {
		r.recorder.BatchDone(took, applied)
	}
	i.report(r.logger, panics)
	if w := &s.writer; len(w.laggards) > 0 {
		w.publication.pace(s.over, w.laggards)
		clear(w.laggards) // so that it keeps no subscriptions alive
		w.laggards = w.laggards[:0]
	}
	return true
}

// report reports panics of index functions. It is called without a lock.
func (i *Informer) report(logger klog.Logger, panics []indexPanic) {
	for _, p := range panics {
		logger.Error(p.err, "An index function panicked", "informer", i.config.Name, "stack", p.stack)
		if i.config.OnError != nil {
			i.config.OnError(i.config.Name, p.err)
		}
	}
}

// commit applies and publishes n deltas in one step, and unlocks Informer.writing. If an index
// function calls runtime.Goexit, the table stays as it was.
func (i *Informer) commit(r *run, s *stream, n int) (applied int, took time.Duration, panics []indexPanic) {
	var start time.Duration
	if r.recorder != nil {
		start = i.now()
	}
	w := &s.writer
	w.stream, w.run, w.txn, w.first, w.replay, w.applied = s, r, i.table.Begin(), false, false, 0
	w.changes, w.spare, w.laggards = w.spare[:0], nil, w.laggards[:0]
	defer i.writing.Unlock()
	defer w.reset()
	i.panics = nil
	if s.staging {
		w.replace(s.staged, s.rest[0].ResourceVersion)
	} else {
		w.changeAll(s.rest[:n])
	}
	w.countChanges()
	w.publish()
	if n := s.anew.Load(); s.staging && s.stagings >= n {
		s.anew.CompareAndSwap(n, 0)
	}
	w.published.Store(w.changed.Load())
	if r.recorder != nil {
		took = i.now() - start
	}
	return w.applied, took, i.panics
}
