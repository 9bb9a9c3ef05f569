// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type delta = deltafifo.Delta[object.Object]

// fifo is the DeltaFIFO of one run. It is an interface because methods of a generic type are
// compiled anew in each package that mentions a type in which there is one: here, all packages of
// generated code.
type fifo interface {
	PushBatch(batch []delta) error
	PopBatch(ctx context.Context, batch []delta) ([]delta, error)
	Len() int
	Close()
}

// reader reads a source into a sink. Outside of tests it is a Reflector.
type reader interface {
	Run(ctx context.Context) error
	Status() reflector.Status
}

// stream is one collection of objects on its way from the source to the table. Streams of one
// informer have no objects in common, and meet only in Informer.writing, which each takes for one
// batch, or for one whole full state.
type stream struct {
	// set once at construction
	informer  *Informer
	namespace string // "": all
	source    source.Source[object.Object]
	reader    reader
	sink      *sink
	synced    chan struct{} // closed when the first full state is published

	// Who applies guards what follows: the goroutine that reads the stream while nothing is queued,
	// else the one that takes out of the queue.
	rest    []delta // what is not applied of the batch that is being applied
	staging bool    // a full state is being read
	staged  state
	// what the table had when staging began; nil if that was the first full state
	known *table.Version
	// places in known of the objects of the full state that have not changed, and are not staged
	kept    table.PlaceSet
	touched table.PlaceSet // places in known of the objects that are staged
	writer  writer

	waiting atomic.Int64 // staged.len(), from time to time

	// The goroutine that reads the stream guards what follows.
	// of the current run, set before it starts; nil without metrics
	recorder metrics.InformerRecorder
	started  func() // ends the stream's turn
	list     list

	// Informer.mu guards what follows.
	waiters []*waiter // ascending by resourceVersion
}

// state is a full state in parts, which are not copied when it grows.
type state [][]object.Object

// gone is an object that was deleted while the state was read.
type gone struct{ object.Object }

func (s *state) add(obj object.Object) {
	last := len(*s) - 1
	if last < 0 || len((*s)[last]) == cap((*s)[last]) {
		room := 16
		if last >= 0 {
			room = min(2*cap((*s)[last]), 1024)
		}
		*s = append(*s, make([]object.Object, 0, room))
		last++
	}
	(*s)[last] = append((*s)[last], obj)
}

func (s state) len() (n int64) {
	for _, part := range s {
		n += int64(len(part))
	}
	return n
}

func newStream(i *Informer, s Stream) *stream {
	made := &stream{informer: i, namespace: s.Namespace, source: s.Source, synced: make(chan struct{})}
	made.sink = &sink{stream: made}
	return made
}

// connect gives the stream its reflector.
func (s *stream) connect() (err error) {
	config := s.informer.config
	if s.source == nil {
		return fmt.Errorf("there is nothing to read: the Source is nil of stream %s", s.name())
	}
	s.reader, err = reflector.New(reflector.Config[object.Object]{
		Name:     s.name(),
		Source:   prepared{s},
		Sink:     s.sink,
		Tuning:   config.Tuning,
		OnError:  s.failed,
		OnStatus: func(reflector.Status) { s.informer.notify() },
	})
	return err
}

// name is what logs and errors call the stream.
func (s *stream) name() string {
	if len(s.informer.config.Streams) == 1 {
		return s.informer.config.Name
	}
	name := s.informer.config.Name // which may have all the namespaces
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name + " in " + s.namespace
}

const maxName = 64

// read reads the stream until the run is over, and ends the run if it can't go on.
func (s *stream) read(r *run) {
	defer s.exited(r)
	var ok bool
	if s.started, ok = r.turns.wait(r.over); ok {
		defer s.started()
		r.cancel(s.reader.Run(r.ctx)) // has no effect if it is done already
	}
}

// applyAll applies what the queue delivers until the run is over, and closes it, since the reader
// may wait for room.
func (s *stream) applyAll(r *run, queue fifo) {
	defer queue.Close()
	defer s.exited(r)
	var batch []delta
	for {
		var err error
		if batch, err = queue.PopBatch(r.ctx, batch[:0]); err != nil {
			return
		}
		s.apply(r, batch)
		s.sink.applied.Add(int64(len(batch)))
		clear(batch) // so that it keeps no objects alive
	}
}

// exited is deferred by the goroutines of the stream. If the run isn't over, runtime.Goexit has
// ended the goroutine, and the run ends: what was read is lost, and only the next run has a full
// state again.
func (s *stream) exited(r *run) {
	if r.ctx.Err() == nil {
		r.cancel(fmt.Errorf("the source, transform, an index function or OnError of %s: %w", s.name(), errGoexit))
	}
}

// failed is called with each failure of a list or watch.
func (s *stream) failed(err error) {
	s.started()
	if s.recorder != nil {
		s.recorder.Failed(reflector.ReasonOf(err).String())
	}
	if s.informer.config.OnError != nil {
		s.informer.config.OnError(err)
	}
}
