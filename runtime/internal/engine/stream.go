// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type delta = deltafifo.Delta[object.Object]

// fifo is the DeltaFIFO of one run. It is an interface because methods of a generic type are compiled anew in each package
// that mentions a type in which there is one: here, all packages of generated code.
type fifo interface {
	reflector.Sink[object.Object]
	PopBatch(ctx context.Context, batch []delta) ([]delta, error)
	Len() int
	Close()
}

// reader reads a source into a sink. Outside of tests it is a Reflector.
type reader interface {
	Run(ctx context.Context) error
	Status() reflector.Status
}

// sink is the queue of the current run, as the reflector sees it.
type sink struct{ fifo }

// stream is one collection of objects on its way from the source to the table. Streams of one informer have no objects
// in common, and meet only in Informer.writing, which each takes for one batch, or for one whole full state.
type stream struct {
	// set once at construction
	informer  *Informer
	namespace string // "": all
	source    source.Source[object.Object]
	reader    reader
	sink      *sink
	synced    chan struct{} // closed when the first full state is published

	// The goroutine that applies the stream guards what follows.
	batch   []delta // what was taken out of the queue
	rest    []delta // what is not applied of that
	staging bool    // a full state is being read
	staged  state
	writer  writer

	waiting atomic.Int64 // staged.len(), from time to time

	// The goroutine that reads the stream guards what follows.
	recorder metrics.InformerRecorder // of the current run, set before it starts; nil without metrics
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
	return &stream{informer: i, namespace: s.Namespace, source: s.Source, sink: &sink{}, synced: make(chan struct{})}
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
	return s.informer.config.Name + " in " + s.namespace
}

// applyAll applies what the queue delivers until the run is over, and closes it, since the reader may wait for room. If an
// index function or OnError calls runtime.Goexit, it has another goroutine go on by calling again.
func (s *stream) applyAll(r *run, again func()) {
	over := false
	defer func() {
		if !over {
			again()
		}
	}()
	queue := s.sink.fifo
	for {
		s.apply(r, s.rest)
		clear(s.batch) // so that it keeps no objects alive
		var err error
		if s.batch, err = queue.PopBatch(r.ctx, s.batch[:0]); err != nil {
			break
		}
		s.rest = s.batch
	}
	queue.Close()
	s.batch = nil
	over = true
}

// failed is called with each failure of a list or watch.
func (s *stream) failed(err error) {
	if s.recorder != nil {
		s.recorder.Failed(reflector.ReasonOf(err).String())
	}
	if s.informer.config.OnError != nil {
		s.informer.config.OnError(err)
	}
}
