// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"time"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
)

// apply applies the next deltas of the stream. A full state is staged, without a lock, until it is
// complete, and then applied and published in one step. The changes between two full states are
// applied and published in one step too.
//
// A stream begins with a full state. Deltas that come before the first one belong to no state, and
// are dropped.
func (s *Stream) apply(r *Run, batch []delta) {
	for len(batch) > 0 {
		switch first := &batch[0]; {
		case s.staging.open && first.Type == deltafifo.ReplaceEnded:
			s.write(r, func(b *batchWriter) { b.replace(first.ResourceVersion) })
			s.unstage()
			batch = batch[1:]
		case s.staging.open || first.Type == deltafifo.ReplaceStarted:
			batch = s.stage(batch)
		default:
			n := 1
			for n < len(batch) && batch[n].Type != deltafifo.ReplaceStarted {
				n++
			}
			if s.HasSynced() {
				s.write(r, func(b *batchWriter) { b.changeAll(batch[:n]) })
			}
			batch = batch[n:]
		}
	}
}

// write applies a batch, publishes it, and waits for handlers that lag.
func (s *Stream) write(r *Run, apply func(*batchWriter)) {
	in := s.intake
	applied, took, panics, wait := s.commit(r, apply)
	if r.Recorder != nil {
		r.Recorder.BatchDone(took, applied)
	}
	in.report(r.Logger, panics)
	if wait != nil {
		wait(r.Ctx.Done())
	}
}

// commit applies and publishes a batch in one step, unless the stream was removed. If an index
// function calls runtime.Goexit, the table stays as it was.
func (s *Stream) commit(r *Run, apply func(*batchWriter)) (applied int, took time.Duration, panics []indexPanic, wait func(over <-chan struct{})) {
	in := s.intake
	in.writing.Lock()
	defer in.writing.Unlock()
	if s.Removed() {
		return 0, 0, nil, nil // the table has nothing of the stream any more
	}
	start := in.now()
	b := batchWriter{stream: s, txn: in.table.Begin()}
	defer b.txn.Discard() // does nothing after Publish
	in.panics = nil
	apply(&b)
	s.countChanges(b.applied)
	wait = in.publish(&Publication{Stream: s, Changes: b.changes, Full: s.staging.open, First: b.first, Replay: b.replay}, b.txn)
	if n := s.anew.Load(); s.staging.open && s.staging.count >= n {
		s.anew.CompareAndSwap(n, 0)
	}
	s.published.Store(s.changed.Load())
	return b.applied, in.now() - start, in.panics, wait
}

// publish has the owner publish a transaction. writing is held.
func (in *Intake) publish(p *Publication, txn table.Txn) (wait func(over <-chan struct{})) {
	p.commit = func() *table.Version {
		version := txn.Publish()
		if p.First {
			close(p.Stream.synced)
		}
		return version
	}
	return in.config.Publish(p)
}

// report reports panics of index functions. It is called without a lock.
func (in *Intake) report(logger klog.Logger, panics []indexPanic) {
	for _, p := range panics {
		logger.Error(p.err, "An index function panicked", "informer", in.config.Name, "stack", p.stack)
		if in.config.OnError != nil {
			in.config.OnError(in.config.Name, p.err)
		}
	}
}
