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

	// late: added after the informer's first run had begun, so its first full state is logged. It
	// is set before the stream is published.
	late bool

	staging staging // used by the loop only

	// changed counts the objects set or deleted in the table, including a version about to be
	// published. published is its value after the last publication.
	changed, published atomic.Int64

	// restored is true while a state read from disk is on its way into the table.
	restored atomic.Bool
	// anew is the number of the last full state that the reflector read anew, because the versions
	// went back; 0 once the table has it, or a later one. Until then, equal versions of an object
	// do not mean equal content.
	anew atomic.Int64

	// Only the reader uses these. recorder is the current run's, set before the reader starts; nil
	// without metrics.
	recorder metrics.InformerRecorder
	started  func() // lets another stream start; nil once called, and without a limit
	list     list

	// removed is true once the table has nothing of the stream, for good.
	removed atomic.Bool

	// Intake.writing guards these.
	cancel context.CancelFunc // ends the reader; nil before the first run
	ended  chan struct{}      // closed when the reader has ended; nil before the first run
}

func (in *Intake) newStream(c StreamConfig) (*Stream, error) {
	in.newest++
	s := &Stream{intake: in, number: in.newest, namespace: c.Namespace, source: c.Source, disk: newDisk(&in.config, c), synced: make(chan struct{})}
	s.sink = &Sink{stream: s}
	connect := in.config.Connect
	if connect == nil {
		connect = (*Stream).reflect
	}
	var err error
	s.reader, err = connect(s)
	return s, err
}

func (s *Stream) reflect() (Reader, error) {
	config := &s.intake.config
	if s.source == nil {
		return nil, fmt.Errorf("there is nothing to read: the Source is nil of stream %s", s.Name())
	}
	var restore func(context.Context, func(object.Object) error) string
	if s.disk != nil {
		restore = s.restore
	}
	return reflector.New(reflector.Config[object.Object]{
		Name:    s.Name(),
		Source:  prepared{s},
		Sink:    s.sink,
		Tuning:  config.Tuning,
		OnError: s.failed,
		Restore: restore,
		OnState: func(reflector.State) { config.StateChanged() },
	})
}

// Namespace returns the namespace, "" for all.
func (s *Stream) Namespace() string { return s.namespace }

// Sink returns the sink for the stream's reader.
func (s *Stream) Sink() *Sink { return s.sink }

// Name returns the stream's name in logs and errors.
func (s *Stream) Name() string {
	name, all := s.intake.config.Name, s.intake.config.Streams
	if len(all) == 1 && s.namespace == all[0].Namespace {
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

// Late reports whether the stream was added after the informer's first run had begun.
func (s *Stream) Late() bool { return s.late }

// SetLate makes the stream late. It may be called while the stream's addition is published.
func (s *Stream) SetLate(late bool) { s.late = late }

// Removed reports whether the stream was removed.
func (s *Stream) Removed() bool { return s.removed.Load() }

// Status returns the state of the stream's reader.
func (s *Stream) Status() reflector.Status { return s.reader.Status() }

// StandsAt returns the resourceVersion of the stream in a version.
func (s *Stream) StandsAt(version *table.Version) string {
	return version.NamespaceResourceVersion(s.namespace)
}

// begin is called with Intake.writing held.
func (s *Stream) begin(r *Run, queue fifo, starting starting) {
	ctx, cancel := context.WithCancel(r.Ctx)
	ended := make(chan struct{})
	s.cancel, s.ended, s.recorder = cancel, ended, r.Recorder
	s.sink.queue, s.staging.count = queue, s.sink.replaces
	r.Go(func() {
		defer close(ended)
		s.read(ctx, r, starting)
	})
}

// read reads the stream until the run is over or the stream is removed. It ends the run if it can't
// go on, and if a function called by the reader ends the goroutine, since deltas are lost then.
func (s *Stream) read(ctx context.Context, r *Run, starting starting) {
	defer func() {
		if ctx.Err() == nil {
			r.Fail(s.intake.goexit(s.Name()))
		}
	}()
	var ok bool
	if s.started, ok = starting.acquire(ctx.Done()); ok {
		defer s.letOtherStart()
		if err := s.reader.Run(ctx); ctx.Err() == nil {
			r.Fail(err)
		}
	}
}

// letOtherStart lets another stream start, once.
func (s *Stream) letOtherStart() {
	if s.started != nil {
		s.started()
		s.started = nil
	}
}

func (s *Stream) failed(err error) {
	s.letOtherStart()
	if s.recorder != nil {
		s.recorder.Failed(reason.Of(err).String())
	}
	if config := &s.intake.config; config.OnError != nil {
		config.OnError(config.Name, err)
	}
}
