// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// sink takes what the reader of a stream reads, which is on the reader's goroutine. What comes at
// once is collected to one batch. The reader applies it itself, unless that might take long or be
// for others to do:
//
//	nothing is queued, nobody else writes, and no function of the user is called:  applied at once
//	else:                                                                          queued, for the goroutine that applies
//
// So an event that comes alone is applied without waking another goroutine, and yet the reader
// waits for nothing but a full queue, and, as does what applies what is queued, for handlers that
// lag (see pace.go).
type sink struct {
	*stream // set once at construction

	// The goroutine that reads guards what follows; before it begins and after it has ended, that
	// of the run.
	run *run
	// with a goroutine that applies what is in it; nil as long as nothing has had to be queued
	fifo   fifo
	batch  []delta // collected; none of it is queued
	queued int64   // deltas of this run

	applied atomic.Int64 // of those that were queued in this run
}

// atOnce is how many deltas are collected at most.
const atOnce = 128

func (s *sink) begin(r *run) {
	s.run, s.queued = r, 0
	s.applied.Store(0)
}

func (s *sink) end() {
	s.run, s.fifo, s.batch, s.rest = nil, nil, nil, nil
}

func (s *sink) BeginReplace() error           { return s.take(delta{Type: deltafifo.ReplaceStarted}) }
func (s *sink) Replace(o object.Object) error { return s.take(about(deltafifo.Replaced, o)) }
func (s *sink) Add(o object.Object) error     { return s.take(about(deltafifo.Added, o)) }
func (s *sink) Update(o object.Object) error  { return s.take(about(deltafifo.Updated, o)) }
func (s *sink) Delete(o object.Object) error  { return s.take(about(deltafifo.Deleted, o)) }

func (s *sink) Bookmark(resourceVersion string) error {
	return s.take(delta{Type: deltafifo.Bookmark, ResourceVersion: resourceVersion})
}

func (s *sink) EndReplace(resourceVersion string) error {
	if err := s.take(delta{Type: deltafifo.ReplaceEnded, ResourceVersion: resourceVersion}); err != nil {
		return err
	}
	defer func() { s.batch = nil }() // what follows takes less room than a full state
	s.started()
	return s.Flush()
}

func (s *sink) AbortReplace() error {
	if err := s.take(delta{Type: deltafifo.ReplaceAborted}); err != nil {
		return err
	}
	return s.Flush()
}

// about is a delta of an object, without its key, which only a queue has to have.
func about(t deltafifo.Type, obj object.Object) delta {
	return delta{Type: t, Object: obj, ResourceVersion: obj.GetResourceVersion()}
}

func (s *sink) take(d delta) error {
	if s.batch = append(s.batch, d); len(s.batch) < atOnce {
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

// startQueue starts the goroutine that applies what is queued until the run is over.
func (s *sink) startQueue() {
	queue := deltafifo.New(deltafifo.Options[object.Object]{})
	i, r := s.informer, s.run
	i.mu.Lock()
	r.queues = append(r.queues, queue)
	i.mu.Unlock()
	s.fifo = queue
	r.wg.Go(func() { s.applyAll(r, queue) })
}
