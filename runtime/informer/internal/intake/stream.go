// SPDX-License-Identifier: Apache-2.0

package intake

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Stream is one collection of objects on its way from the source to the table. Streams of one
// Intake have no objects in common.
type Stream struct {
	// set once at construction
	intake    *Intake
	number    uint64 // marks its deltas
	namespace string // "": all
	source    source.Source[object.Object]
	reader    Reader
	sink      *Sink
	disk      *disk         // nil without checkpoints
	synced    chan struct{} // closed when the first full state is published

	// addedLater is true if the stream was added after the informer's first run had begun. Its
	// first full state is then logged. It is set before the stream is published.
	addedLater bool

	staging staging // used by the loop only
	part    *part   // nil: the stream has all objects

	// changed counts the objects set or deleted in the table, including a version about to be
	// published. published is its value after the last publication.
	changed, published atomic.Int64

	// restoring is true while a state read from disk is on its way into the table.
	restoring atomic.Bool
	// lastReread is the number of the last full state that the reflector read anew, because the
	// versions went back; 0 once the table has it, or a later one. Until then, equal versions of an
	// object do not mean equal content.
	lastReread atomic.Int64

	// Only the reader uses these. recorder is the current run's, set before the reader starts; nil
	// without metrics.
	recorder     metrics.InformerRecorder
	releaseStart func() // lets another stream start; nil once called, and without a limit
	listStats    listStats

	// removed is true once the table has nothing of the stream, for good.
	removed atomic.Bool

	// Intake.writeMu guards these.
	cancel context.CancelFunc // ends the reader; nil before the first run
	ended  chan struct{}      // closed when the reader has ended; nil before the first run
}

func (in *Intake) newStream(c StreamConfig) (*Stream, error) {
	in.lastNumber++
	s := &Stream{intake: in, number: in.lastNumber, namespace: c.Namespace, source: c.Source, disk: newDisk(&in.config, c), synced: make(chan struct{})}
	s.sink = &Sink{stream: s}
	if in.wanted != nil {
		s.part = s.newPart(*in.wanted)
	}
	connect := in.config.Connect
	if connect == nil {
		connect = (*Stream).newReflector
	}
	var err error
	s.reader, err = connect(s)
	return s, err
}

func (s *Stream) newReflector() (Reader, error) {
	config := &s.intake.config
	if s.source == nil {
		return nil, fmt.Errorf("the Source of stream %s is nil", s.Name())
	}
	var restore func(context.Context, func(object.Object) error) string
	if s.disk != nil {
		restore = s.restore
	}
	return reflector.New(reflector.Config[object.Object]{
		Name:    s.Name(),
		Source:  preparedSource{s},
		Sink:    s.sink,
		Tuning:  config.Tuning,
		OnError: s.onError,
		Restore: restore,
		OnState: s.onState,

		Optional: config.Optional,
	})
}

// Namespace returns the namespace, "" for all.
func (s *Stream) Namespace() string { return s.namespace }

// Sink returns the sink for the stream's reader.
func (s *Stream) Sink() *Sink { return s.sink }

// Name returns the stream's name in logs and errors.
func (s *Stream) Name() string {
	name, all := s.intake.config.Name, s.intake.config.Streams
	if s.namespace == "" || len(all) == 1 && s.namespace == all[0].Namespace {
		return name
	}
	if len(name) > maxName { // it may contain all the namespaces
		name = strings.ToValidUTF8(name[:maxName], "") + "…"
	}
	return name + " in " + s.namespace
}

const maxName = 64

// HasSynced reports whether the first full state is published.
func (s *Stream) HasSynced() bool { return outcome.Closed(s.synced) }

// AddedLater reports whether the stream was added after the informer's first run had begun.
func (s *Stream) AddedLater() bool { return s.addedLater }

// SetAddedLater sets AddedLater. It may be called while the stream's addition is published.
func (s *Stream) SetAddedLater(later bool) { s.addedLater = later }

// IsPart reports whether the stream reads some buckets only.
func (s *Stream) IsPart() bool { return s.part != nil }

// Removed reports whether the stream was removed.
func (s *Stream) Removed() bool { return s.removed.Load() }

// Status returns the state of the stream's reader.
func (s *Stream) Status() reflector.Status { return s.reader.Status() }

// ResourceVersion returns the resourceVersion of the stream in a version.
func (s *Stream) ResourceVersion(version *table.Version) string {
	return version.NamespaceResourceVersion(s.namespace)
}

// begin is called with Intake.writeMu held.
func (s *Stream) begin(r *Run, queue fifo, limit startLimit) {
	ctx, cancel := context.WithCancel(r.Ctx)
	ended := make(chan struct{})
	s.cancel, s.ended, s.recorder = cancel, ended, r.Recorder
	s.sink.queue, s.sink.taken, s.staging.number = queue, 0, s.sink.replaces
	if s.part != nil {
		s.part.begin()
	}
	r.Go(func() {
		defer close(ended)
		s.read(ctx, r, limit)
	})
}

// read reads the stream until the run is over or the stream is removed. It ends the run if it can't
// go on, and if a function called by the reader ends the goroutine, since deltas are lost then.
func (s *Stream) read(ctx context.Context, r *Run, limit startLimit) {
	defer func() {
		if ctx.Err() == nil {
			r.Fail(s.intake.goexitError(s.Name()))
		}
	}()
	var ok bool
	if s.releaseStart, ok = limit.acquire(ctx.Done()); ok {
		defer s.markStarted()
		if err := s.reader.Run(ctx); ctx.Err() == nil {
			r.Fail(err)
		}
	}
}

// markStarted lets another stream start, on its first call.
func (s *Stream) markStarted() {
	if s.releaseStart != nil {
		s.releaseStart()
		s.releaseStart = nil
	}
}

func (s *Stream) onState(state reflector.State) {
	if state == reflector.StateAbsent {
		s.markStarted()
	}
	s.intake.config.StateChanged()
}

func (s *Stream) onError(err error) {
	s.markStarted()
	if s.recorder != nil {
		s.recorder.Failed(reason.Of(err).String())
	}
	if config := &s.intake.config; config.OnError != nil {
		config.OnError(config.Name, err)
	}
}
