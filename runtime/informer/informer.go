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
	// ErrNotSynced is wrapped by the error of a lister's Get if the informer has never synced and
	// its store lacks the object, and by that of [Factory.WaitForCacheSync] for informers that were
	// never started. The text says why, and contains the last error of the server. That error is
	// not wrapped, so apierrors.IsNotFound is false.
	ErrNotSynced = engine.ErrNotSynced
	// ErrShutdown is wrapped by the errors of Factory.Start after Shutdown, and of
	// Factory.WaitForCacheSync if informers had not synced before Shutdown. It is also the cause
	// with which the factory's informers end.
	ErrShutdown = errors.New("the factory was shut down")
)

// SharedIndexInformer keeps a local copy, with indexes, of the objects that its Source lists and
// watches, and delivers the changes to any number of handlers. Make one with [New] or [For]; the
// zero value is not usable. All methods may be called by any goroutine at any time: before, during
// and after Run, and from handlers (where Run fails with [ErrRunning]).
//
// The path of an event, with the goroutine that carries it. Each stream (one per namespace, or one
// in all) has a left half of its own:
//
//	                     run or reader                                         handler pool
//	┌────────┐ list, watch ┌───────────────────────────┐
//	│ Source ├────────────▶│ collect what comes at once├────┐
//	└────────┘ transform   └────────────┬──────────────┘    │ if it need not wait
//	                                    │ else              ▼
//	           blocks while       ┌─────▼─────┐ apply ┌─────────────────┐
//	           1,024 deltas       │ DeltaFIFO ├──────▶│ a list: stage   │
//	           wait               └───────────┘       │  it to its end  │
//	                                                  │ then one Txn:   │
//	                                                  │  Set, Delete    │
//	                                                  └────────┬────────┘
//	                                                           │ under mu, in one step:
//	                                     ┌─────────────────────┴────┐
//	                                     ▼ publish           append ▼
//	                               ┌───────────┐   change log  ┌───┬───┬───┬─ ─┐     ┌─────────┐
//	 Store, listers ◀─ lock-free ──┤  Version  │   (immutable) │ c │ c │ c │   │────▶│ handler │
//	                               └─────┬─────┘               └───┴─▲─┴───┴─ ─┘     └─────────┘
//	                                     │                           │ cursor             ▲
//	                                     └─ replay to a late handler ┼────────────────────┤
//	                                                                 ▼ past the threshold │
//	                                                           merged backlog, by key ────┘
//
// A change is delivered in three steps:
//
//  1. The goroutine that applies the change publishes the version that has it, and appends it to
//     the change log. (It hands a change that comes alone directly to idle registrations.)
//  2. Each registration with events to deliver becomes ready for a turn. If no goroutine of the
//     handler pool is looking for work, one is woken or started.
//  3. That goroutine wakes the next one if more registrations are ready. Then it takes the turn: it
//     reads the change at the registration's cursor, or, if the cursor lags too far behind, from
//     the registration's merged backlog, and calls the handler until no event waits.
//
// The garbage collector frees the part of the log that all cursors have passed. When a handler is
// added, the published version and the end of the log are taken in one step. The handler gets the
// objects of the version first, and then the log from that end on.
type SharedIndexInformer[T object.Object] struct {
	engine *engine.Informer // set once at construction
}

// New returns an informer over any Source. It starts nothing; [SharedIndexInformer.Run] does. It
// returns an error if src or an option is nil, or an option is wrong.
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
// Status reports them. If the informer runs already, the error wraps [ErrRunning]. An informer may
// run again: it lists anew, and its handlers get the events that still waited for them and then the
// differences.
//
// If Acquire or a Factory's Start was called meanwhile, Run returns when ctx is done, and the
// informer runs on.
func (i *SharedIndexInformer[T]) Run(ctx context.Context) error { return run(ctx, i.engine) }

// Acquire makes the informer run. It is for several users that don't know of each other: the
// informer runs as long as there is a [Lease] whose context is not done and that was not released,
// a Factory that has started it, or a call of Run. Acquire starts the informer if it does not run,
// and waits for nothing. The informer stops when the last of these has ended. After that, it may be
// acquired, or run, again. The informer uses the values, such as the logger, of the context that
// started it. Acquire returns an error if ctx is nil or done.
func (i *SharedIndexInformer[T]) Acquire(ctx context.Context) (*Lease, error) {
	return acquire(ctx, i.engine)
}

// AddEventHandler registers a handler, which gets an OnAdd for each object in the store and then
// every change; see the package documentation for order and blocking. It does not block, however
// many objects there are. Each call makes a registration of its own, even for the same handler. It
// returns an error if handler or an option is nil, or an option is wrong.
func (i *SharedIndexInformer[T]) AddEventHandler(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	if isNil(handler) {
		return register(i.engine, nil, "", opts)
	}
	return register(i.engine, eraseHandler(handler), handlerName(handler), opts)
}

// AddIndexers adds indexes. It waits for the batch that is being applied and fills the indexes from
// the store, on the caller's goroutine. Snapshots taken from then on have them. A query of an older
// snapshot scans all its objects, and gives the same answer. Adding an index again does nothing.
// AddIndexers adds none, and returns an error, if one is nil or another index has the same name.
func (i *SharedIndexInformer[T]) AddIndexers(indexes ...store.Indexer[T]) error {
	return addIndexers(i.engine, eraseIndexes(indexes))
}

// Store returns a Reader of the informer's objects. It can be read at any time, and is empty until
// the first sync; the first read before that is logged, unless WithEmptyBeforeSync was given.
func (i *SharedIndexInformer[T]) Store() store.Reader[T] { return store.View[T](i.engine.Table()) }

// HasSynced reports whether the first list is in the store. Once true, it stays true. Handlers may
// not have got all of its objects yet; see [Registration.HasSynced].
func (i *SharedIndexInformer[T]) HasSynced() bool { return i.engine.HasSynced() }

// Synced returns a channel that is closed when HasSynced becomes true.
func (i *SharedIndexInformer[T]) Synced() <-chan struct{} { return i.engine.Synced() }

// WaitForCacheSync waits until HasSynced returns true, and then returns nil. While it waits, it
// logs every 10 s what it waits for and why. If ctx is done first, or an option ends the wait, the
// error contains the same. It wraps the last error of the reflector, and, if ctx is done,
// context.Cause(ctx).
func (i *SharedIndexInformer[T]) WaitForCacheSync(ctx context.Context, opts ...WaitOption) error {
	return waitForCacheSync(ctx, i.engine, opts)
}

// AwaitResourceVersion waits until the store is at resourceVersion or later, in every namespace if
// there are several. Then the store has every write up to it, to an object that matches namespaces
// and selectors. The arrival of an event ends the wait; AwaitResourceVersion does not poll. A
// namespace without changes moves only with the server's bookmarks, events without an object that
// come about once a minute. So after a write of your own, use [SharedIndexInformer.AwaitObject],
// which waits for the object's namespace alone. AwaitResourceVersion returns an error if
// resourceVersion is not a number, and one that wraps context.Cause(ctx) if ctx is done first.
func (i *SharedIndexInformer[T]) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return i.engine.AwaitResourceVersion(ctx, resourceVersion)
}

// AwaitObject waits until a write of obj has arrived, where obj is the object that the write has
// returned. Then the store has that state of the object or a later one, or the object was deleted
// since, or it does not match the selectors. The arrival of an event ends the wait. AwaitObject
// returns an error if obj is nil, lacks a resourceVersion, or is in a namespace that the informer
// does not read, and one that wraps context.Cause(ctx) if ctx is done first.
func (i *SharedIndexInformer[T]) AwaitObject(ctx context.Context, obj T) error {
	return awaitObject(ctx, i.engine, obj)
}

// AwaitDeleted waits until obj is gone: until the store is at obj's resourceVersion or later, and
// has no object of this key and UID. An object of the same name that was created since does not
// count. The deletion ends the wait; finalizers may delay it. obj is any state of the object that
// is not newer than its deletion, such as the one that was read before. The errors are those of
// AwaitObject.
func (i *SharedIndexInformer[T]) AwaitDeleted(ctx context.Context, obj T) error {
	return awaitDeleted(ctx, i.engine, obj)
}

// Status returns what the informer is doing, and how its handlers keep up.
func (i *SharedIndexInformer[T]) Status() Status { return statusOf(i.engine) }

// Informer is a [SharedIndexInformer] of any type, with those of its methods that do not depend on
// the type. No other type implements it.
type Informer interface {
	HasSynced() bool
	Synced() <-chan struct{}
	WaitForCacheSync(ctx context.Context, opts ...WaitOption) error
	Acquire(ctx context.Context) (*Lease, error)
	Status() Status
	base() *engine.Informer
}

var _ Informer = (*SharedIndexInformer[object.Object])(nil)

// Lease keeps an informer running. [SharedIndexInformer.Acquire] returns it.
type Lease struct {
	lease *engine.Lease // set once at construction
}

// Release ends the lease. If it was the last one, that stops the informer, and Release waits until
// all its goroutines have ended, or until ctx is done. Then the error wraps context.Cause(ctx) and
// names each handler that has not returned, with the key of the object that it was called for. Each
// call waits. A lease whose context is done has ended by itself; Release may still be called to
// wait. It returns an error if ctx is nil.
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

// isNil reports whether v is nil, or an interface with a nil pointer, as a failed constructor may
// return.
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

// erase returns a Source of object.Object over a Source of T.
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
