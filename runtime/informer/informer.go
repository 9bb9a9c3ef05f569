// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/settings"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Errors wrapped by the methods of informers and factories.
var (
	// ErrRunning is wrapped by the error of Run while the informer runs already, or still.
	ErrRunning = engine.ErrRunning
	// ErrNotSynced is wrapped by the error of a lister's Get if the informer has never synced and
	// its store lacks the object, and by the error of a factory's WaitForCacheSync for informers
	// that were never started. The text has the reason and the server's last error, which is not
	// wrapped, so apierrors.IsNotFound is false.
	ErrNotSynced = engine.ErrNotSynced
)

// SharedIndexInformer keeps a local copy, with indexes, of the objects that its Source lists and
// watches, and delivers the changes to any number of handlers. Make one with [New] or a factory;
// the zero value is not usable. All methods may be called by any goroutine at any time, also from
// handlers (where Run fails with [ErrRunning]).
//
// Most programs need five of them:
//
//	AddEventHandler     calls a handler for each object, and for each change
//	Run                 lists and watches until its context is done; a factory's Start does it
//	WaitForCacheSync    waits until the store has the first list, or says why it can't
//	Store               has the objects; generated listers read it
//	Status              describes the informer's state
//
// The path of an event, with the goroutine that carries it:
//
//	a stream's reader             the controller loop               a handler's goroutine
//	─────────────────             ───────────────────               ─────────────────────
//	Source
//	  ─▶ decode, transform
//	  ─▶ DeltaFIFO ─────────────▶ stage a list to its end, or
//	     (1,024 deltas)           apply all waiting deltas
//	                              publish a version ─▶ Store, listers, indexes
//	                              log the changes ────────────────▶ cursor, or, if it is slow,
//	                                                                a backlog merged by key
//	                                                                ─▶ your handler
//
// A new handler takes the published version and the end of the log in one step. It gets the
// version's objects first, then the log from that end on.
type SharedIndexInformer[T object.Object] engine.View

// New returns an informer over any Source. It starts nothing; [SharedIndexInformer.Run] does. It
// returns an error if src or an option is nil, or an option is wrong.
func New[T object.Object](src source.Source[T], opts ...Option) (*SharedIndexInformer[T], error) {
	if settings.IsNil(src) {
		return nil, errors.New("informer.New: the source is nil")
	}
	e, err := newEngine(erase(src), settings.TypeOf((*T)(nil)), opts)
	if err != nil {
		return nil, fmt.Errorf("informer.New: %w", err)
	}
	return (*SharedIndexInformer[T])(engine.NewView(e)), nil
}

// NewIn returns an informer of several namespaces. It calls in for the Source of each: now for the
// given namespaces, at least one, and later for each added by [SharedIndexInformer.AddNamespace].
// Each Source must have objects of its namespace only; selectors may differ. The errors are those
// of New, one for a namespace that is "" or given twice, and each error of in.
func NewIn[T object.Object](in func(namespace string) (source.Source[T], error), namespaces []string, opts ...Option) (*SharedIndexInformer[T], error) {
	e, err := newEngineIn(eraseIn(in), namespaces, settings.TypeOf((*T)(nil)), opts)
	if err != nil {
		return nil, fmt.Errorf("informer.NewIn: %w", err)
	}
	return (*SharedIndexInformer[T])(engine.NewView(e)), nil
}

// Run lists and watches until ctx is done. It returns context.Cause(ctx) once every goroutine that
// it started has ended, so it waits for running callbacks. Failures of the Source do not end it;
// Status reports them. If the informer runs already, the error wraps [ErrRunning]. An informer may
// run again: it lists anew, and its handlers get their waiting events and then the differences. It
// runs on after Run if Acquire or a factory's Start was called meanwhile.
func (i *SharedIndexInformer[T]) Run(ctx context.Context) error {
	return run(ctx, (*engine.View)(i).Engine())
}

// Acquire makes the informer run, for users that don't know of each other: it runs while there is
// an unreleased [Lease] whose context is not done, a factory that started it, or a call of Run.
// Acquire starts it if necessary, with the values of ctx, such as the logger, and waits for
// nothing. When the last lease has ended, the informer stops; it may be acquired or run again.
// Acquire returns an error if ctx is nil or done.
func (i *SharedIndexInformer[T]) Acquire(ctx context.Context) (*Lease, error) {
	return acquire(ctx, (*engine.View)(i).Engine())
}

// AddEventHandler registers a handler, which gets an OnAdd for each object in the store and then
// every change; see the package documentation for order and blocking. It never blocks. Each call
// makes a registration of its own. It returns an error if handler or an option is nil, or an option
// is wrong.
func (i *SharedIndexInformer[T]) AddEventHandler(handler Handler[T], opts ...HandlerOption) (*Registration, error) {
	if settings.IsNil(handler) {
		return register((*engine.View)(i).Engine(), nil, "", opts)
	}
	return register((*engine.View)(i).Engine(), eraseHandler(handler), handlerName(handler), opts)
}

// AddIndexers adds indexes. It waits until the current batch is applied and fills the indexes from
// the store, on the caller's goroutine. Later snapshots have them. An older snapshot answers their
// queries by a scan of all its objects. Adding an index again does nothing. If an index is nil or
// another index has its name, AddIndexers adds none and returns an error.
func (i *SharedIndexInformer[T]) AddIndexers(indexes ...store.AnyIndex[T]) error {
	return addIndexers((*engine.View)(i).Engine(), eraseIndexes(indexes))
}

// AddNamespace makes the informer read one more namespace, at once if it runs, else from its next
// run on, for everyone who shares it ([WithName] gives a part of a program an informer of its own).
// It waits until the current batch is applied; WaitForCacheSync waits for the namespace, and Status
// shows the progress. Adding a namespace again does nothing. AddNamespace changes nothing and
// returns an error if the namespace is "" or no valid name, if the informer reads all namespaces or
// those of [WithNamespaceSelector], and if New made it.
//
// If the informer has run before, its HasSynced and its handlers' don't change, and handlers get
// the namespace's objects as additions that are not initial. Until the namespace has synced, a
// lister's Get returns [ErrNotSynced] for objects missing there.
func (i *SharedIndexInformer[T]) AddNamespace(namespace string) error {
	return (*engine.View)(i).Engine().AddNamespace(namespace)
}

// RemoveNamespace makes the informer stop reading a namespace, even its last one. When it returns,
// the store has no objects of the namespace, and handlers get an OnDelete with an unknown final
// state for each: on the server, they may live on. Pending AwaitObject, AwaitDeleted and AwaitToken
// for the namespace return an error, and functions given to AfterToken are called. If the namespace
// is not read, RemoveNamespace does nothing.
//
// RemoveNamespace waits until the current batch is applied, then for the namespace's request and
// goroutines, until ctx is done. Then the error wraps context.Cause(ctx), but the namespace is
// removed nevertheless. A handler may call RemoveNamespace; a transform or an error handler that
// removes its own namespace waits for itself, until ctx is done. It returns an error if ctx is nil,
// if the informer reads all namespaces or those of [WithNamespaceSelector], and if New made it.
func (i *SharedIndexInformer[T]) RemoveNamespace(ctx context.Context, namespace string) error {
	return (*engine.View)(i).Engine().RemoveNamespace(ctx, namespace)
}

// SetTransform is [WithTransform] for an informer made by other code. nil means no transform. It
// returns an error, and changes nothing, once the informer has begun to run: the store may have
// objects by then.
func (i *SharedIndexInformer[T]) SetTransform(transform func(obj T) (T, error)) error {
	return (*engine.View)(i).Engine().SetTransform(eraseTransform(transform), settings.CodeOf(transform))
}

// SetErrorHandler is [WithErrorHandler] for an informer made by other code. nil means none. It
// fails like SetTransform once the informer has begun to run.
func (i *SharedIndexInformer[T]) SetErrorHandler(handle func(informer string, err error)) error {
	return (*engine.View)(i).Engine().SetOnError(handle)
}

// Store returns a Reader of the informer's objects. It can be read at any time, and is empty until
// the first sync; the first read before that is logged, unless [WithEmptyBeforeSync] was given.
func (i *SharedIndexInformer[T]) Store() store.Reader[T] {
	return store.View[T]((*engine.View)(i).Engine().Table())
}

// Resource returns the resource that the informer reads, or the zero value if its Source has no
// method Resource, as [source.HTTP] does.
func (i *SharedIndexInformer[T]) Resource() schema.GroupVersionResource {
	return (*engine.View)(i).Engine().Resource()
}

// Metrics returns the provider set by [WithMetrics], or nil.
func (i *SharedIndexInformer[T]) Metrics() metrics.Provider {
	return (*engine.View)(i).Engine().Metrics()
}

// HasSynced reports whether the first list is in the store, without namespaces added after the
// first run had begun, or found after the first list for [WithNamespaceSelector]. Once true, it
// stays true. Handlers may not have got all of its objects yet; see [Registration.HasSynced].
func (i *SharedIndexInformer[T]) HasSynced() bool { return (*engine.View)(i).Engine().HasSynced() }

// Synced returns a channel that is closed when HasSynced becomes true.
func (i *SharedIndexInformer[T]) Synced() <-chan struct{} { return (*engine.View)(i).Engine().Synced() }

// WaitForCacheSync waits until HasSynced returns true and every namespace added by AddNamespace has
// synced, and returns nil. It does not wait while the resource doesn't exist, if that is allowed
// ([WithOptionalResource]). Every 10 s it logs which streams have not synced, and why. If ctx is
// done first, or an option ends the wait, the error says the same. It wraps the reflector's last
// error and, if ctx is done, context.Cause(ctx).
func (i *SharedIndexInformer[T]) WaitForCacheSync(ctx context.Context, opts ...WaitOption) error {
	return waitForCacheSync(ctx, engine.Wait{Informer: (*engine.View)(i).Engine()}, opts)
}

// AwaitResourceVersion waits until the store is at resourceVersion or later, in every namespace,
// and so has every write up to it, to an object that matches namespaces and selectors. It does not
// poll: the arrival of an event ends the wait. A namespace without changes moves only with the
// server's bookmarks, events without an object sent about once a minute. So after a write of your
// own, use [SharedIndexInformer.AwaitObject], which waits for the object's namespace alone. It
// returns an error if resourceVersion is not a number, and one that wraps context.Cause(ctx) if ctx
// is done first.
func (i *SharedIndexInformer[T]) AwaitResourceVersion(ctx context.Context, resourceVersion string) error {
	return (*engine.View)(i).Engine().AwaitResourceVersion(ctx, resourceVersion)
}

// AwaitObject waits until a write has arrived; obj is the object returned by the write. Then the
// store has that state of the object or a later one, or the object was deleted since, or does not
// match the selectors. AwaitObject returns an error if obj is nil, lacks a resourceVersion, or is
// in a namespace the informer does not read, and one that wraps context.Cause(ctx) if ctx is done
// first.
func (i *SharedIndexInformer[T]) AwaitObject(ctx context.Context, obj T) error {
	return awaitObject(ctx, (*engine.View)(i).Engine(), obj)
}

// AwaitDeleted waits until obj is gone: until the store is at obj's resourceVersion or later, and
// has no object of this key and UID. An object of the same name created since does not count. The
// deletion ends the wait; finalizers may delay it. obj is any state of the object up to its
// deletion, such as the one last read. The errors are those of AwaitObject.
func (i *SharedIndexInformer[T]) AwaitDeleted(ctx context.Context, obj T) error {
	return awaitDeleted(ctx, (*engine.View)(i).Engine(), obj)
}

// AwaitToken waits until the write that gave token has arrived, like AwaitObject with the object
// the server answered or, for a token that is Gone, like AwaitDeleted. For the zero Token it
// returns nil at once. The token must be of the informer's resource, in any version; this is not
// checked. The errors are those of AwaitObject.
//
// An object excluded by the informer's selectors has no events there, except for a write that
// changes this, in either direction. If the object matched neither before nor after the write, only
// a later event of another object, or a bookmark, ends the wait: up to about a minute. So don't
// wait for such objects (labels.Selector.Matches finds them), or give ctx a deadline.
func (i *SharedIndexInformer[T]) AwaitToken(ctx context.Context, token object.Token) error {
	return awaitToken(ctx, (*engine.View)(i).Engine(), token)
}

// AfterToken is an AwaitToken that does not wait: it calls f, in a goroutine of its own, once the
// write that gave token has arrived, possibly at once. Until then it takes no goroutine. stop
// cancels the call, and reports whether f will not be called; if it returns false, f was called
// already, or stop was. The errors are those of AwaitToken, except for the context's; stop is then
// nil, and f is not called.
func (i *SharedIndexInformer[T]) AfterToken(token object.Token, f func()) (stop func() bool, err error) {
	return afterToken((*engine.View)(i).Engine(), token, f)
}

// Events returns the events of a new registration, for a loop: a [source.Added] for each object in
// the store, one [source.Bookmark], then every change.
//
//	for event := range pods.Events(ctx) {
//		…
//	}
//
// The loop's body takes the place of a handler's callbacks, with the same order, merging and
// waiting. A slow body delays only its own loop. The registration begins with the loop. It is
// removed when the loop ends: by break, by a return or panic in its body, or because ctx is done;
// waiting events are dropped then. It does not end with Run: once the informer runs again, the loop
// goes on. Each loop over the result is a registration of its own.
//
// A loop that can't be registered ends at once, without an event, and logs why: a nil ctx, a wrong
// option, or an informer that factories.For could not make.
//
//go:noinline
func (i *SharedIndexInformer[T]) Events(ctx context.Context, opts ...HandlerOption) iter.Seq[Change[T]] {
	return func(yield func(Change[T]) bool) {
		loopOver(ctx, (*engine.View)(i).Engine(), opts, func(e Change[object.Object]) bool {
			obj, _ := e.Object.(T)
			old, _ := e.Old.(T)
			return yield(Change[T]{e.Type, e.Key, obj, old, e.IsInInitialList, e.FinalStateUnknown})
		})
	}
}

// Until waits until condition returns true, or an error, which Until returns unchanged. It calls
// condition with the newest snapshot of the store as soon as the informer has synced, and again
// after changes, always on the caller's goroutine. Several changes may lead to one call. Until does
// not run the informer. It returns an error that wraps context.Cause(ctx) if ctx is done first, and
// an error if ctx or condition is nil.
func (i *SharedIndexInformer[T]) Until(ctx context.Context, condition func(*store.Snapshot[T]) (bool, error)) error {
	if condition == nil {
		return until(ctx, (*engine.View)(i).Engine(), nil)
	}
	return until(ctx, (*engine.View)(i).Engine(), func() (bool, error) { return condition(i.Store().Snapshot()) })
}

// Status returns the state of the informer and of its handlers.
func (i *SharedIndexInformer[T]) Status() Status { return statusOf((*engine.View)(i).Engine()) }

// KeyStatus returns each handler's status for one key: Backlog counts the key's waiting events,
// WaitingSince is when the oldest of them was published, and Callback is set if it is running for
// this key. It searches the whole backlog, so it is for people.
func (i *SharedIndexInformer[T]) KeyStatus(key object.Key) []HandlerStatus {
	return keyStatus((*engine.View)(i).Engine(), key)
}

// Lease keeps an informer running. [SharedIndexInformer.Acquire] returns it.
type Lease struct {
	// set once at construction
	informer *engine.Informer
	lease    *engine.Lease
}

// HasSynced reports whether the store has a list read since the informer began to run. Until then,
// an informer that had stopped and was acquired again has the objects of its last run, and its own
// HasSynced is true. A nil Lease has not synced.
func (l *Lease) HasSynced() bool { return l != nil && l.lease.HasSynced() }

// WaitForCacheSync waits until HasSynced returns true, and is otherwise like
// [SharedIndexInformer.WaitForCacheSync]. It also returns an error if the lease ends first.
func (l *Lease) WaitForCacheSync(ctx context.Context, opts ...WaitOption) error {
	if l == nil {
		return errors.New("informer: WaitForCacheSync: the lease is nil; Acquire has failed")
	}
	return waitForCacheSync(ctx, engine.Wait{Informer: l.informer, Lease: l.lease, Ended: l.lease.Done()}, opts)
}

// Release ends the lease. If it was the last one, that stops the informer, and Release waits until
// all its goroutines have ended, or until ctx is done. Then the error wraps context.Cause(ctx) and
// names each handler that has not returned, with its object's key. Each call waits. A lease whose
// context is done has ended by itself; Release then only waits. It returns an error if the lease or
// ctx is nil.
func (l *Lease) Release(ctx context.Context) error {
	if l == nil {
		return errors.New("informer: Release: the lease is nil; Acquire has failed")
	}
	return l.lease.Release(ctx)
}
