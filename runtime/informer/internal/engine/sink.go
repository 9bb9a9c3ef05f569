// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// sink takes what the reader of a stream reads, on the reader's goroutine. It collects what comes
// at once into one batch. The reader applies the batch itself, unless that might take long:
//
//	nothing is queued, no function of the user is called,
//	and no other goroutine writes or nothing more has come    applied at once
//	else                                                      queued, for the applier
//
// So an event that comes alone is applied without waking another goroutine. The reader waits for a
// full queue, for a goroutine that writes if nothing more has come, and for handlers that lag; the
// applier waits for handlers that lag, too (see pace.go).
type sink struct {
	*stream // set once at construction

	// Only the reader uses what follows; before it begins and after it has ended, only the
	// goroutine of the run.
	run *run

	// fifo has an applier; it is nil until the first batch of the run has to be queued.
	fifo   fifo
	batch  []delta // collected; none of it is queued
	queued int64   // deltas of this run
	// replaces counts the full states that the reader has begun, over all runs.
	replaces int64

	applied atomic.Int64 // of the deltas that were queued in this run
}

// atOnce is the largest number of deltas that are collected.
const atOnce = 128

func (s *sink) begin(r *run) {
	s.run, s.queued, s.stagings = r, 0, s.replaces
	s.applied.Store(0)
}

func (s *sink) end() {
	s.run, s.fifo, s.batch, s.rest = nil, nil, nil, nil
}

func (s *sink) BeginReplace() error {
	s.restored.Store(false)
	s.replaces++
	return s.take(deltafifo.ReplaceStarted, nil, "")
}

func (s *sink) Replace(o object.Object) error { return s.takeObject(deltafifo.Replaced, o) }
func (s *sink) Add(o object.Object) error     { return s.takeObject(deltafifo.Added, o) }
func (s *sink) Update(o object.Object) error  { return s.takeObject(deltafifo.Modified, o) }
func (s *sink) Delete(o object.Object) error  { return s.takeObject(deltafifo.Deleted, o) }

func (s *sink) Bookmark(resourceVersion string) error {
	return s.take(deltafifo.Bookmark, nil, resourceVersion)
}

func (s *sink) EndReplace(resourceVersion string) error {
	if err := s.take(deltafifo.ReplaceEnded, nil, resourceVersion); err != nil {
		return err
	}
	defer func() { s.batch = nil }() // what follows takes less room than a full state
	s.letOtherStart()
	return s.Flush()
}

func (s *sink) AbortReplace() error {
	s.restored.Store(false)
	if err := s.take(deltafifo.ReplaceAborted, nil, ""); err != nil {
		return err
	}
	return s.Flush()
}

func (s *sink) takeObject(t deltafifo.Type, obj object.Object) error {
	return s.take(t, obj, obj.GetResourceVersion())
}

// take takes a delta without its key, which only the queue needs. The parameters fit into
// registers; a delta would be copied.
func (s *sink) take(t deltafifo.Type, obj object.Object, resourceVersion string) error {
	s.batch = append(s.batch, delta{Type: t, Object: obj, ResourceVersion: resourceVersion})
	if len(s.batch) < atOnce {
		return nil
	}
	return s.Flush()
}

// Flush applies or queues what was collected.
func (s *sink) Flush() error {
	rest := s.batch
	if s.queued == s.applied.Load() && !s.informer.functions.Load() {
		s.applyRest(s.run, rest, true)
		rest, s.rest = s.rest, nil
	}
	if len(rest) > 0 {
		if err := s.queue(rest); err != nil {
			return err
		}
	}
	clear(s.batch) // so that it keeps no objects alive
	s.batch = s.batch[:0]
	return nil
}

func (s *sink) queue(rest []delta) error {
	if s.fifo == nil {
		s.startQueue()
	}
	for n := range rest {
		if rest[n].Object != nil {
			rest[n].Key = object.KeyOf(rest[n].Object)
		}
	}
	s.queued += int64(len(rest))
	return s.fifo.PushBatch(rest)
}

// startQueue starts the applier, which applies what is queued until the run is over.
func (s *sink) startQueue() {
	queue := deltafifo.New(deltafifo.Options[object.Object]{})
	i, r := s.informer, s.run
	i.mu.Lock()
	r.queues = append(r.queues, queue)
	s.goroutines++
	i.mu.Unlock()
	s.fifo = queue
	r.wg.Go(func() { s.applyAll(r, queue) })
}

// close is called when the applier ends.
func (s *stream) close(r *run, queue fifo) {
	queue.Close()
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	r.queues = slices.DeleteFunc(r.queues, func(q fifo) bool { return q == queue })
}
