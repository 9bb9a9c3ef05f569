// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Sink takes deltas from a stream's reader, on the reader's goroutine, and pushes them into the
// run's DeltaFIFO. It pushes the deltas of a burst in one step, so that they can be published in
// one.
type Sink struct {
	stream *Stream // set once at construction
	queue  fifo    // of the run
	batch  []delta // not pushed yet
	taken  int64   // deltas of the run
	// replaces counts the full states begun by the reader, over all runs.
	replaces int64
}

// maxBatch is the largest number of collected deltas.
const maxBatch = 128

// BeginReplace begins a full state.
func (s *Sink) BeginReplace() error {
	s.stream.restoring.Store(false)
	s.replaces++
	return s.take(delta{Type: deltafifo.ReplaceStarted})
}

// Replace adds an object to the full state.
func (s *Sink) Replace(o object.Object) error { return s.takeObject(deltafifo.Replaced, o) }

// Add takes an ADDED event.
func (s *Sink) Add(o object.Object) error { return s.takeObject(deltafifo.Added, o) }

// Update takes a MODIFIED event.
func (s *Sink) Update(o object.Object) error { return s.takeObject(deltafifo.Modified, o) }

// Delete takes a DELETED event.
func (s *Sink) Delete(o object.Object) error { return s.takeObject(deltafifo.Deleted, o) }

// Bookmark notes that the stream has reached a version.
func (s *Sink) Bookmark(resourceVersion string) error {
	return s.take(delta{Type: deltafifo.Bookmark, ResourceVersion: resourceVersion})
}

// EndReplace completes the full state, and pushes it.
func (s *Sink) EndReplace(resourceVersion string) error {
	if err := s.take(delta{Type: deltafifo.ReplaceEnded, ResourceVersion: resourceVersion}); err != nil {
		return err
	}
	defer func() { s.batch = nil }() // later batches take less room than a full state
	s.stream.markStarted()
	return s.Flush()
}

// AbortReplace gives the full state up.
func (s *Sink) AbortReplace() error {
	s.stream.restoring.Store(false)
	if err := s.take(delta{Type: deltafifo.ReplaceAborted}); err != nil {
		return err
	}
	return s.Flush()
}

func (s *Sink) takeObject(t deltafifo.Type, obj object.Object) error {
	return s.take(delta{Type: t, Key: object.KeyOf(obj), Object: obj, ResourceVersion: obj.GetResourceVersion()})
}

func (s *Sink) take(d delta) error {
	d.Stream = s.stream.number
	s.taken++
	s.batch = append(s.batch, d)
	if len(s.batch) < maxBatch {
		return nil
	}
	return s.Flush()
}

// Flush pushes the collected deltas. It waits while the queue is full.
func (s *Sink) Flush() error {
	if len(s.batch) == 0 {
		return nil
	}
	err := s.queue.Push(s.batch)
	clear(s.batch) // keeps no objects alive
	s.batch = s.batch[:0]
	return err
}
