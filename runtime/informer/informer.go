// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Errors that the methods of informers and factories wrap.
var (
	// ErrRunning is returned by Run while another Run of the same informer has not returned.
	ErrRunning = engine.ErrRunning
	// ErrShutdown is returned by Factory.Start after Shutdown, and by Factory.WaitForCacheSync if informers had not synced
	// before Shutdown. It is also the cause with which the factory's informers end.
	ErrShutdown = errors.New("the factory was shut down")
)

// SharedIndexInformer keeps a local copy of the objects that its Source lists and watches, indexed, and tells any
// number of handlers what changes. Make one with New or For; the zero value is not usable. All methods may be called
// by any goroutine at any time: before, during and after Run, and from handlers (where Run returns ErrRunning).
//
// The path of an event, with the goroutine that carries it:
//
//	               reflector                      apply (Run's own)                   one per registration
//	┌────────┐  list, watch  ┌───────────┐ PopBatch ┌─────────────────┐
//	│ Source ├──────────────▶│ DeltaFIFO ├─────────▶│ open Txn        │
//	└────────┘ blocks while  └───────────┘ a prefix │  Set/Keep/Delete│
//	           1,024 deltas                of the   │  Sweep          │
//	           wait                        stream   └────────┬────────┘
//	                                                         │ under mu, at once:
//	                                       ┌─────────────────┴──────────────┐
//	                                       ▼ publish                 append ▼
//	                                 ┌───────────┐      change log  ┌───┬───┬───┬─ ─┐      ┌─────────┐
//	   Store, listers ◀─ lock-free ──┤  Version  │      (immutable) │ c │ c │ c │   │─────▶│ handler │
//	                                 └─────┬─────┘                  └───┴─▲─┴───┴─ ─┘ next └─────────┘
//	                                       │                              │ cursor             ▲
//	                                       └─ replayed to a late handler ─┼────────────────────┤
//	                                                                      ▼ past the threshold │
//	                                                                merged backlog, by key ────┘
//
// To deliver a change: 1. the apply goroutine publishes the version that has it and appends it to the log; 2. each
// registration's goroutine finds it under its cursor, or, if that lags too far behind, in its own merged backlog; 3. it
// calls the handler. What all cursors have passed is garbage. To add a handler: take the published version and the end
// of the log in one step, replay the version, then continue from that end.
type SharedIndexInformer[T object.Object] struct {
	engine *engine.Informer // set once at construction
}

// New returns an informer over any Source. It starts nothing; Run does. It fails if src or an option is nil, and on a wrong
// option.
func New[T object.Object](src source.Source[T], opts ...Option) (*SharedIndexInformer[T], error) {
	if isNil(src) {
		return nil, errors.New("informer.New: the source is nil")
	}
	e, err := newEngine(erase(src), reflect.TypeFor[T](), opts)
	if err != nil {
		return nil, fmt.Errorf("informer.New: %w", err)
	}
	return &SharedIndexInformer[T]{e}, nil
}

// Run lists and watches until ctx is done. It returns context.Cause(ctx) after every goroutine that it started has ended,
// so it waits for running callbacks. Failures of the Source do not end it; Status reports them. While it runs, another
// Run returns ErrRunning. An informer may run again: it lists anew, and its handlers get the events that waited for them
// and then the differences.
func (i *SharedIndexInformer[T]) Run(ctx context.Context) error { return i.engine.Run(ctx) }

// AddEventHandler registers a handler, which gets an OnAdd for each object in the store and then every change; see the
// package documentation for order and blocking. It does not block, however many objects there are. Each call makes a
// registration of its own, even for the same handler. It fails if handler or an option is nil, and on a wrong option.
func (i *SharedIndexInformer[T]) AddEventHandler(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	if isNil(handler) {
		return register(i.engine, nil, "", opts)
	}
	return register(i.engine, erased[T]{handler}, handlerName(handler), opts)
}

// AddIndexers adds indexes. It waits for the batch that is being applied and fills the indexes from the store, on the
// caller's goroutine. Snapshots taken from then on have them, or, if a list is in progress, those taken after the list is
// complete; until then queries scan and give the same answers. Adding an index again does nothing. It fails, and adds
// none, if one is nil or another index has the same name.
func (i *SharedIndexInformer[T]) AddIndexers(indexes ...store.Indexer[T]) error {
	return addIndexers(i.engine, eraseIndexes(indexes))
}

// Store returns a Reader of the informer's objects. It can be read at any time, and is empty until the first sync.
func (i *SharedIndexInformer[T]) Store() store.Reader[T] { return store.View[T](i.engine.Table()) }

// HasSynced says whether the first list is in the store. Once true, it stays true. Handlers may still be busy with it;
// see Registration.HasSynced.
func (i *SharedIndexInformer[T]) HasSynced() bool { return i.engine.HasSynced() }

// Synced returns a channel that is closed when HasSynced becomes true.
func (i *SharedIndexInformer[T]) Synced() <-chan struct{} { return i.engine.Synced() }

// WaitForCacheSync waits until HasSynced, and returns nil then. While it waits, it logs every 10 s what it waits for and
// why. If ctx is done first, the error says the same, and wraps context.Cause(ctx) and the last error of the reflector.
func (i *SharedIndexInformer[T]) WaitForCacheSync(ctx context.Context) error {
	return waitForCacheSync(ctx, i.engine)
}

// AwaitResourceVersion waits until the store stands at resourceVersion or later: every write up to it, to an object that
// matches namespace and selectors, is in the store then. It is woken by the arrival; it does not poll. It returns an error
// if resourceVersion is not a number, and one that wraps context.Cause(ctx) if ctx is done first.
func (i *SharedIndexInformer[T]) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.engine.AwaitResourceVersion(ctx, resourceVersion)
}

// Status returns what the informer is doing, and how its handlers keep up.
func (i *SharedIndexInformer[T]) Status() Status { return statusOf(i.engine) }

// --- private from here ---

// isNil also finds a nil pointer in an interface, as a failed constructor may return.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

func newEngine(src source.Source[object.Object], t reflect.Type, opts []Option) (*engine.Informer, error) {
	s := defaults()
	s.objectType = t
	s.Name = t.String()
	if err := s.applyAll(inNew, opts); err != nil {
		return nil, err
	}
	return engine.New(s.engineConfig(src))
}

func (s *settings) engineConfig(src source.Source[object.Object]) engine.Config {
	return engine.Config{
		Name:             s.Name,
		Source:           src,
		Indexes:          s.indexes,
		PageSize:         s.PageSize,
		DisableWatchList: s.DisableWatchList,
		Handlers:         s.handlers,
		Logger:           s.logger,
	}
}

func addIndexers(e *engine.Informer, indexes []engine.Indexer) error {
	if err := e.AddIndexes(indexes...); err != nil {
		return fmt.Errorf("informer %s: AddIndexers: %w", e.Name(), err)
	}
	return nil
}

func waitForCacheSync(ctx context.Context, e *engine.Informer) error {
	return engine.WaitForCacheSync(ctx, engine.Wait{Informer: e})
}

// erase makes a Source of objects out of one of T.
func erase[T object.Object](src source.Source[T]) source.Source[object.Object] {
	if s, ok := any(src).(source.Source[object.Object]); ok {
		return s
	}
	return erasedSource[T]{src}
}

type erasedSource[T object.Object] struct{ src source.Source[T] }

func (s erasedSource[T]) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	return s.src.List(ctx, opts, func(obj T) error { return item(obj) })
}

func (s erasedSource[T]) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	return s.src.Watch(ctx, opts, opened, func(e source.Event[T]) error {
		erased := source.Event[object.Object]{Type: e.Type, ResourceVersion: e.ResourceVersion, InitialEventsEnd: e.InitialEventsEnd}
		if e.Type != source.Bookmark {
			erased.Object = e.Object // a Bookmark's nil *T must not become a non-nil interface
		}
		return event(erased)
	})
}
