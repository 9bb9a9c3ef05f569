// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"

	"k8s.io/klog/v2"

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

// --- the source, as the reflector sees it ---

// prepared is the stream's source; what it hands over belongs to the stream, is transformed, and is counted.
type prepared struct{ *stream }

func (p prepared) String() string { return fmt.Sprint(p.source) }

func (p prepared) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	if opts.VersionOnly {
		return p.source.List(ctx, opts, item)
	}
	p.startPage(opts)
	result, err := p.source.List(ctx, opts, func(obj object.Object) error {
		obj, err := p.prepare(ctx, obj)
		if err != nil {
			return err
		}
		p.countListed()
		return item(obj)
	})
	if err == nil && result.Continue == "" {
		p.endList()
	}
	return result, err
}

func (p prepared) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	m := p.startWatch(opts)
	defer m.end()
	return p.source.Watch(ctx, opts, func() { m.opened(); opened() }, func(e source.Event[object.Object]) (err error) {
		switch e.Type {
		case source.Added, source.Modified, source.Deleted:
			if e.Object, err = p.prepare(ctx, e.Object); err != nil {
				return err
			}
		case source.Bookmark:
		default:
			return &wrongError{source.DecodeError{Err: fmt.Errorf("the source handed over an event of the unknown type %d", e.Type)}}
		}
		m.count(&e)
		return event(e)
	})
}

// prepare checks and transforms an object.
func (s *stream) prepare(ctx context.Context, obj object.Object) (object.Object, error) {
	switch {
	case isNil(obj):
		return nil, &wrongError{source.DecodeError{Err: errNil}}
	case obj.GetName() == "":
		return nil, &wrongError{source.DecodeError{Key: object.KeyOf(obj), Err: errNameless}}
	case s.namespace != "" && obj.GetNamespace() != s.namespace:
		return nil, &wrongError{source.DecodeError{Key: object.KeyOf(obj), Err: fmt.Errorf(
			"the source of namespace %q sent %s; its server or its client restricts it to another namespace", s.namespace, object.KeyOf(obj))}}
	}
	transform := s.informer.config.Transform
	if transform == nil {
		return obj, nil
	}
	key, uid, version := object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion()
	fail := func(err error) (object.Object, error) { return nil, &reflector.TransformError{Key: key, Err: err} }
	result, err := callTransform(ctx, transform, obj)
	switch {
	case err != nil:
		return fail(err)
	case isNil(result):
		return fail(errTransformedToNil)
	case object.KeyOf(result) != key || result.GetUID() != uid || result.GetResourceVersion() != version:
		return fail(errTransformedIdentity)
	case reflect.TypeOf(result) != reflect.TypeOf(obj):
		return fail(fmt.Errorf("the function returned a %T; it must return a %T", result, obj))
	}
	return result, nil
}

var (
	errTransformedToNil    = errors.New("the function returned nil; to drop objects, restrict the informer by selectors")
	errTransformedIdentity = errors.New("the function changed namespace, name, uid or resourceVersion, which must stay")
)

// wrongError is bad data for the reflector, which the source did not see itself.
type wrongError struct{ data source.DecodeError }

var (
	errNil      = errors.New("the source handed over nil in the place of an object")
	errNameless = errors.New("the source handed over an object without a name, by which it would be found")
)

func (e *wrongError) Error() string { return e.data.Err.Error() }

func (e *wrongError) Unwrap() error { return &e.data }

func callTransform(ctx context.Context, transform func(object.Object) (object.Object, error), obj object.Object) (result object.Object, err error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if reason := recover(); reason != nil {
			err = fmt.Errorf("the function panicked: %w", panicError(reason))
			klog.FromContext(ctx).Error(err, "A transform function panicked", "key", object.KeyOf(obj), "stack", stack())
		}
	}()
	result, err = transform(obj)
	returned = true
	return result, err
}

// isNil also finds a nil pointer in an interface.
func isNil(obj object.Object) bool {
	v := reflect.ValueOf(obj)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}
