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
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type delta = deltafifo.Delta[object.Object]

// fifo is the DeltaFIFO of one run. It is an interface to save compile time: the compiler compiles
// the methods of a generic type in each package that can reach the type, and each package of
// generated code can reach a stream.
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
// informer have no objects in common. They share only Informer.writing, which each locks for one
// batch, or for one full state.
type stream struct {
	// set once at construction
	informer  *Informer
	namespace string // "": all
	source    source.Source[object.Object]
	reader    reader
	sink      *sink
	synced    chan struct{} // closed when the first full state is published

	// Only the goroutine that applies uses what follows: the reader while nothing is queued, else
	// the applier.
	rest    []delta // the rest of the batch that is being applied
	staging bool    // a full state is being read
	staged  fullState

	// base is the table's version when staging began; nil in the first full state.
	base *table.Version

	// kept has the rows in base of those objects of the full state that have not changed; they are
	// not staged.
	kept    table.RowSet
	touched table.RowSet // rows in base of the objects that are staged
	writer  batchWriter

	// stagedLen is staged.len(), for the metrics; it is set from time to time.
	stagedLen atomic.Int64

	// Only the reader uses what follows. recorder is the current run's, set before the reader
	// starts; nil without metrics.
	recorder metrics.InformerRecorder
	started  func() // lets another stream start
	list     list

	// Informer.mu guards what follows.
	waiters []*waiter // ascending by resourceVersion
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

// name returns what logs and errors call the stream.
func (s *stream) name() string {
	if len(s.informer.config.Streams) == 1 {
		return s.informer.config.Name
	}
	name := s.informer.config.Name // it may contain all the namespaces
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name + " in " + s.namespace
}

const maxName = 64

// read reads the stream until the run is over. It ends the run if it can't go on.
func (s *stream) read(r *run) {
	defer s.exited(r)
	var ok bool
	if s.started, ok = r.starting.acquire(r.over); ok {
		defer s.started()
		r.cancel(s.reader.Run(r.ctx)) // has no effect if it is done already
	}
}

// applyAll is the applier: it applies what is in the queue until the run is over. Then it closes
// the queue, since the reader may be waiting for room.
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
// ended the goroutine. Then the run ends too, because what the goroutine had read is lost, and the
// next run begins with a full state.
func (s *stream) exited(r *run) {
	if r.ctx.Err() == nil {
		r.cancel(fmt.Errorf("the source, transform, an index function or OnError of %s: %w", s.name(), errGoexit))
	}
}

// failed is called with each failure of a list or watch.
func (s *stream) failed(err error) {
	s.started()
	if s.recorder != nil {
		s.recorder.Failed(reason.Of(err).String())
	}
	if config := &s.informer.config; config.OnError != nil {
		config.OnError(config.Name, err)
	}
}
