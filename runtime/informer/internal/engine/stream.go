// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"slices"
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
	late      bool   // it was added after the first run had begun
	source    source.Source[object.Object]
	reader    reader
	sink      *sink
	disk      *disk         // nil if nothing is kept on disk
	synced    chan struct{} // closed when the first full state is published

	// Only the goroutine that applies uses what follows: the reader while nothing is queued, else
	// the applier.
	rest    []delta // the rest of the batch that is being applied
	staging bool    // a full state is being read
	staged  fullState
	// stagings counts the full states that have begun to be staged, so that it is the number of the
	// one that is staged. It includes those that were dropped at the end of a run.
	stagings int64

	// base is the table's version when staging began; nil in the first full state.
	base *table.Version

	// kept has the rows in base of those objects of the full state that have not changed; they are
	// not staged.
	kept    table.RowSet
	touched table.RowSet // rows in base of the objects that are staged
	writer  batchWriter

	// stagedLen is staged.len(), for the metrics; it is set from time to time.
	stagedLen atomic.Int64

	// changed counts the objects that were set or deleted in the table, with those of a version
	// that is about to be published. published is what changed was when the last version had been
	// published.
	changed, published atomic.Int64

	// restored is true from when a state was read from disk until it is in the table, or dropped.
	restored atomic.Bool
	// anew is the number of the last full state that the reflector has had read anew, because the
	// versions went back; 0 once the table has it, or a later one. Until then, equal versions of an
	// object are not taken for equal content.
	anew atomic.Int64

	// Only the reader uses what follows. recorder is the current run's, set before the reader
	// starts; nil without metrics.
	recorder metrics.InformerRecorder
	started  func() // lets another stream start; nil once it has been called, and without a limit
	list     list

	// Set before the reader of a run starts. ctx is done when the run is over or the stream is
	// removed. It is the run's if the stream can't be removed.
	ctx      context.Context
	over     <-chan struct{} // ctx.Done()
	starting starting

	// removed is true once the table has nothing of the stream, for good. It is set under both
	// Informer.writing and Informer.mu, and read under either.
	removed bool

	// Informer.mu guards what follows.
	cancel     context.CancelFunc // of ctx; nil before the first run, and if ctx is the run's
	goroutines int                // the reader and the applier, as long as they run
	ended      chan struct{}      // made when it is removed, closed when its goroutines have ended
	waiters    []*waiter          // ascending by resourceVersion
}

func newStream(i *Informer, s Stream) *stream {
	made := &stream{informer: i, namespace: s.Namespace, source: s.Source, disk: newDisk(i, s), synced: make(chan struct{})}
	made.sink = &sink{stream: made}
	return made
}

// connect gives the stream its reflector.
func (s *stream) connect() (err error) {
	config := s.informer.config
	if s.source == nil {
		return fmt.Errorf("there is nothing to read: the Source is nil of stream %s", s.name())
	}
	var restore func(context.Context, func(object.Object) error) string
	if s.disk != nil {
		restore = s.restore
	}
	s.reader, err = reflector.New(reflector.Config[object.Object]{
		Name:    s.name(),
		Source:  prepared{s},
		Sink:    s.sink,
		Tuning:  config.Tuning,
		OnError: s.failed,
		Restore: restore,
		OnState: func(reflector.State) { s.informer.notify() },
	})
	return err
}

// name returns what logs and errors call the stream.
func (s *stream) name() string {
	if all := s.informer.config.Streams; len(all) == 1 && s.namespace == all[0].Namespace {
		return s.informer.config.Name
	}
	name := s.informer.config.Name // it may contain all the namespaces
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name + " in " + s.namespace
}

const maxName = 64

// beginLocked begins the stream's part in a run. The caller then has read called.
func (s *stream) beginLocked(r *run) {
	s.ctx = r.ctx
	if s.informer.hasNamespaces() {
		s.ctx, s.cancel = context.WithCancel(r.ctx)
	}
	s.over, s.starting, s.recorder = s.ctx.Done(), r.startingLocked(len(s.informer.streams())), r.recorder
	s.sink.begin(r)
	s.goroutines++
}

// read reads the stream until the run is over or the stream is removed. It ends the run if it can't
// go on.
func (s *stream) read(r *run) {
	defer s.exited(r)
	var ok bool
	if s.started, ok = s.starting.acquire(s.over); ok {
		defer s.letOtherStart()
		if err := s.reader.Run(s.ctx); s.ctx.Err() == nil {
			r.cancel(err)
		}
	}
}

// letOtherStart lets another stream start, unless it has done so.
func (s *stream) letOtherStart() {
	if s.started != nil {
		s.started()
		s.started = nil
	}
}

// applyAll is the applier: it applies what is in the queue until the reader has to end. Then it
// closes the queue, since the reader may be waiting for room.
func (s *stream) applyAll(r *run, queue fifo) {
	defer s.exited(r)
	defer s.close(r, queue)
	var batch []delta
	for {
		var err error
		if batch, err = queue.PopBatch(s.ctx, batch[:0]); err != nil {
			return
		}
		s.apply(r, batch)
		s.sink.applied.Add(int64(len(batch)))
		clear(batch) // so that it keeps no objects alive
	}
}

// exited is deferred by the goroutines of the stream. If the stream's context isn't done,
// runtime.Goexit has ended the goroutine. Then the run ends too, because what the goroutine had
// read is lost, and the next run begins with a full state.
func (s *stream) exited(r *run) {
	if s.ctx.Err() == nil {
		r.cancel(fmt.Errorf("the source, transform, an index function or OnError of %s: %w", s.name(), errGoexit))
	}
	s.informer.mu.Lock()
	defer s.informer.mu.Unlock()
	s.goroutines--
	s.endLocked()
}

// endLocked closes ended if that is due.
func (s *stream) endLocked() {
	if i := s.informer; s.removed && s.goroutines == 0 {
		close(s.ended)
		i.leaving = slices.DeleteFunc(i.leaving, func(other *stream) bool { return other == s })
		i.past.add(s)
	}
}

// failed is called with each failure of a list or watch.
func (s *stream) failed(err error) {
	s.letOtherStart()
	if s.recorder != nil {
		s.recorder.Failed(reason.Of(err).String())
	}
	if config := &s.informer.config; config.OnError != nil {
		config.OnError(config.Name, err)
	}
}
