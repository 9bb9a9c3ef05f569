// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Errors that the methods of informers and factories wrap.
var (
	// ErrRunning is wrapped by the error of Run while the informer runs already, or still.
	ErrRunning = engine.ErrRunning
	// ErrNotSynced is wrapped by the errors of listers' Get for what is not in the store of an
	// informer that has never synced, and of Factory.WaitForCacheSync for informers that were never
	// started. The text says why, with the last error of the server, which is not wrapped:
	// apierrors.IsNotFound is false.
	ErrNotSynced = engine.ErrNotSynced
	// ErrShutdown is wrapped by the errors of Factory.Start after Shutdown, and of
	// Factory.WaitForCacheSync if informers had not synced before Shutdown. It is also the cause
	// with which the factory's informers end.
	ErrShutdown = errors.New("the factory was shut down")
)

// SharedIndexInformer keeps a local copy of the objects that its Source lists and watches, indexed,
// and tells any number of handlers what changes. Make one with New or For; the zero value is not
// usable. All methods may be called by any goroutine at any time: before, during and after Run, and
// from handlers (where Run fails with ErrRunning).
//
// The path of an event, with the goroutine that carries it; each stream (one per namespace, or one
// in all) has the left half for itself:
//
//	                       run or reflector                                             deliver
//	┌────────┐  list, watch  ┌───────────────────────────┐
//	│ Source ├──────────────▶│ collect what comes at once├───────┐
//	└────────┘  transform    └─────────────┬─────────────┘       │ nobody has to be waited for
//	                                       │ else                ▼
//	            blocks while         ┌─────▼─────┐ apply ┌─────────────────┐
//	            1,024 deltas         │ DeltaFIFO ├──────▶│ a list: stage   │
//	            wait                 └───────────┘       │  it to its end  │
//	                                                     │ then one Txn:   │
//	                                                     │  Set, Delete    │
//	                                                     └────────┬────────┘
//	                                                              │ under mu, at once:
//	                                       ┌──────────────────────┴────┐
//	                                       ▼ publish            append ▼
//	                                 ┌───────────┐      change log  ┌───┬───┬───┬─ ─┐      ┌─────────┐
//	   Store, listers ◀─ lock-free ──┤  Version  │      (immutable) │ c │ c │ c │   │─────▶│ handler │
//	                                 └─────┬─────┘                  └───┴─▲─┴───┴─ ─┘ next └─────────┘
//	                                       │                              │ cursor             ▲
//	                                       └─ replayed to a late handler ─┼────────────────────┤
//	                                                                      ▼ past the threshold │
//	                                                                merged backlog, by key ────┘
//
// To deliver a change: 1. who applies publishes the version that has it and appends it to the log
// (a change that comes alone is handed to the registrations that wait for nothing else); 2. each
// registration that has something to deliver becomes ready for a turn, and if nobody is on the way
// to it, one goroutine that delivers is woken or started; 3. that takes the turn: it finds the
// change under the registration's cursor, or, if that lags too far behind, in its own merged
// backlog, and calls the handler until nothing waits; before that, it has another one woken if more
// registrations are ready. What all cursors have passed is garbage. To add a handler: take the
// published version and the end of the log in one step, replay the version, then continue from that
// end.
type SharedIndexInformer[T object.Object] struct {
	engine *engine.Informer // set once at construction
}

// New returns an informer over any Source. It starts nothing; Run does. It fails if src or an
// option is nil, and on a wrong option.
func New[T object.Object](src source.Source[T], opts ...Option) (*SharedIndexInformer[T], error) {
	if isNil(src) {
		return nil, errors.New("informer.New: the source is nil")
	}
	e, err := newEngine(erase(src), typeOf((*T)(nil)), opts)
	if err != nil {
		return nil, fmt.Errorf("informer.New: %w", err)
	}
	return &SharedIndexInformer[T]{e}, nil
}

// Run lists and watches until ctx is done. It returns context.Cause(ctx) after every goroutine that
// it started has ended, so it waits for running callbacks. Failures of the Source do not end it;
// Status reports them. If the informer runs already, the error wraps ErrRunning. An informer may
// run again: it lists anew, and its handlers get the events that waited for them and then the
// differences.
//
// If Acquire or a Factory's Start has come meanwhile, Run returns when ctx is done, and the
// informer runs on.
func (i *SharedIndexInformer[T]) Run(ctx context.Context) error { return run(ctx, i.engine) }

// Acquire makes the informer run, for several users who don't know of each other: it runs as long
// as one of them holds a Lease whose context is not done, or a Factory has started it, or somebody
// is in Run. Acquire starts it if it does not run, and waits for nothing. The last one to let go
// stops it; it may be acquired again then, as it may Run again. The values of a context, such as
// its logger, are those of the first one. Acquire fails if ctx is nil or done.
func (i *SharedIndexInformer[T]) Acquire(ctx context.Context) (*Lease, error) {
	return acquire(ctx, i.engine)
}

// AddEventHandler registers a handler, which gets an OnAdd for each object in the store and then
// every change; see the package documentation for order and blocking. It does not block, however
// many objects there are. Each call makes a registration of its own, even for the same handler. It
// fails if handler or an option is nil, and on a wrong option.
func (i *SharedIndexInformer[T]) AddEventHandler(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	if isNil(handler) {
		return register(i.engine, nil, "", opts)
	}
	return register(i.engine, eraseHandler(handler), handlerName(handler), opts)
}

// AddIndexers adds indexes. It waits for the batch that is being applied and fills the indexes from
// the store, on the caller's goroutine. Snapshots taken from then on have them; queries of older
// ones scan and give the same answers. Adding an index again does nothing. It fails, and adds none,
// if one is nil or another index has the same name.
func (i *SharedIndexInformer[T]) AddIndexers(indexes ...store.Indexer[T]) error {
	return addIndexers(i.engine, eraseIndexes(indexes))
}

// Store returns a Reader of the informer's objects. It can be read at any time, and is empty until
// the first sync; the first read before that is logged, unless WithEmptyBeforeSync was given.
func (i *SharedIndexInformer[T]) Store() store.Reader[T] { return store.View[T](i.engine.Table()) }

// HasSynced reports whether the first list is in the store. Once true, it stays true. Handlers may
// still be busy with it; see Registration.HasSynced.
func (i *SharedIndexInformer[T]) HasSynced() bool { return i.engine.HasSynced() }

// Synced returns a channel that is closed when HasSynced becomes true.
func (i *SharedIndexInformer[T]) Synced() <-chan struct{} { return i.engine.Synced() }

// WaitForCacheSync waits until HasSynced, and returns nil then. While it waits, it logs every 10 s
// what it waits for and why. If ctx is done first, or an option ends the wait, the error says the
// same, and wraps context.Cause(ctx) if ctx is done and the last error of the reflector.
func (i *SharedIndexInformer[T]) WaitForCacheSync(ctx context.Context, opts ...WaitOption) error {
	return waitForCacheSync(ctx, i.engine, opts)
}

// AwaitResourceVersion waits until the store stands at resourceVersion or later, in every namespace
// if there are several: every write up to it, to an object that matches namespaces and selectors,
// is in the store then. It is woken by the arrival of an event; it does not poll. A namespace in
// which nothing happens moves with the server's bookmarks only, which come about once a minute:
// after a write of your own, AwaitObject is what waits for its namespace alone. It returns an error
// if resourceVersion is not a number, and one that wraps context.Cause(ctx) if ctx is done first.
func (i *SharedIndexInformer[T]) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.engine.AwaitResourceVersion(ctx, resourceVersion)
}

// AwaitObject waits until a write of obj has arrived, where obj is what the write returned: the
// store then has that state of the object or a later one, or the object was deleted since, or it
// does not match the selectors. It is woken by the arrival. It returns an error if obj is nil,
// lacks a resourceVersion, or is in a namespace that the informer does not read, and one that wraps
// context.Cause(ctx) if ctx is done first.
func (i *SharedIndexInformer[T]) AwaitObject(ctx context.Context, obj T) error {
	return awaitObject(ctx, i.engine, obj)
}

// AwaitDeleted waits until obj is gone: until the store has seen obj's resourceVersion or a later
// one, and has no object of this key and UID. An object of the same name that was created since
// does not count. It is woken by the deletion, which may take as long as finalizers do. obj is any
// state of the object that is not newer than its deletion, such as the one that was read before.
// The errors are those of AwaitObject.
func (i *SharedIndexInformer[T]) AwaitDeleted(ctx context.Context, obj T) error {
	return awaitDeleted(ctx, i.engine, obj)
}

// Status returns what the informer is doing, and how its handlers keep up.
func (i *SharedIndexInformer[T]) Status() Status { return statusOf(i.engine) }

// Informer is a SharedIndexInformer of any type, with those of its methods that do not depend on
// the type. Nothing else implements it.
type Informer interface {
	HasSynced() bool
	Synced() <-chan struct{}
	WaitForCacheSync(ctx context.Context, opts ...WaitOption) error
	Acquire(ctx context.Context) (*Lease, error)
	Status() Status
	base() *engine.Informer
}

var _ Informer = (*SharedIndexInformer[object.Object])(nil)

// Lease keeps an informer running. Acquire returns it.
type Lease struct {
	lease *engine.Lease // set once at construction
}

// Release ends the lease. If it was the last one, that stops the informer, and Release waits until
// all its goroutines have ended, or until ctx is done; then the error wraps context.Cause(ctx) and
// names each handler that has not returned, with the key of the object that it was called for. Each
// call waits. A lease whose context is done has ended by itself; it may be released in order to
// wait. It fails if ctx is nil.
func (l *Lease) Release(ctx context.Context) error {
	if l == nil {
		return errors.New("informer: Release: the lease is nil; Acquire has failed")
	}
	return l.lease.Release(ctx)
}

// --- private from here ---

func (i *SharedIndexInformer[T]) base() *engine.Informer { return i.engine }

func run(ctx context.Context, e *engine.Informer) error {
	if ctx == nil {
		return fmt.Errorf("informer %s: Run: %w", e.Name(), errContext)
	}
	err := e.Run(ctx)
	if err == ErrRunning {
		return fmt.Errorf("informer %s: Run: %w", e.Name(), err)
	}
	return err
}

// broken returns the error of an informer that For could not make.
func broken(e *engine.Informer) error { return e.AddIndexes() }

func acquire(ctx context.Context, e *engine.Informer) (*Lease, error) {
	l, err := e.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return &Lease{l}, nil
}

func awaitObject(ctx context.Context, e *engine.Informer, obj object.Object) error {
	if err := checkAwaited(e, "AwaitObject", obj); err != nil {
		return err
	}
	return e.AwaitObject(ctx, object.KeyOf(obj), obj.GetResourceVersion())
}

func awaitDeleted(ctx context.Context, e *engine.Informer, obj object.Object) error {
	if err := checkAwaited(e, "AwaitDeleted", obj); err != nil {
		return err
	}
	return e.AwaitDeleted(ctx, object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion())
}

func checkAwaited(e *engine.Informer, call string, obj object.Object) error {
	if err := broken(e); err != nil {
		return err
	}
	switch {
	case isNil(obj):
		return fmt.Errorf("informer %s: %s: the object is nil", e.Name(), call)
	case obj.GetResourceVersion() == "":
		return fmt.Errorf("informer %s: %s: %s has no resourceVersion; give what the server returned", e.Name(), call, object.KeyOf(obj))
	}
	return nil
}

// isNil also finds a nil pointer in an interface, as a failed constructor may return.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || r.Kind() == reflect.Pointer && r.IsNil()
}

func newEngine(src source.Source[object.Object], t goType, opts []Option) (*engine.Informer, error) {
	s := defaults()
	s.objectType = t
	if err := s.applyAll(inNew, opts); err != nil {
		return nil, err
	}
	name := s.Name
	if name == "" {
		name = t.String()
	}
	return s.newEngine(name, engine.Stream{Source: src})
}

func addIndexers(e *engine.Informer, indexes []engine.Indexer) error {
	if err := e.AddIndexes(indexes...); err != nil {
		return fmt.Errorf("informer %s: AddIndexers: %w", e.Name(), err)
	}
	return nil
}

func waitForCacheSync(ctx context.Context, e *engine.Informer, opts []WaitOption) error {
	settings, err := applyWaitOptions(opts)
	if err == nil && ctx == nil {
		err = errContext
	}
	if err != nil {
		return fmt.Errorf("informer %s: WaitForCacheSync: %w", e.Name(), err)
	}
	return engine.WaitForCacheSync(ctx, settings.giveUp, engine.Wait{Informer: e})
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
		erased := source.Event[object.Object]{Type: e.Type, ResourceVersion: e.ResourceVersion, InitialEventsEnd: e.InitialEventsEnd, More: e.More}
		if e.Type != source.Bookmark {
			erased.Object = e.Object // a Bookmark's nil *T must not become a non-nil interface
		}
		return event(erased)
	})
}
