// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// Handler gets the events of an informer's objects. Its methods are called one at a time, in the
// server's order; see the package documentation. Calls may be on different goroutines, but each
// happens before the next in the sense of Go's memory model, so data used only by these methods
// needs no lock. The methods may take as long as they need, and may call every method of the
// informer; waiting there for the informer's end waits for the running callback too.
//
// Objects are shared with all readers of the cache and must not be changed.
type Handler[T object.Object] interface {
	// OnAdd is called when obj exists. isInInitialList is true for the handler's initial objects:
	// those of the informer's first list or, for a handler added later, those in the store then.
	OnAdd(obj T, isInInitialList bool)
	// OnUpdate is called when old has become obj, with the same UID. old is the object of this
	// handler's previous event. In a resync, old and obj are the same object.
	OnUpdate(old, obj T)
	// OnDelete is called when an object was deleted, or no longer matches the informer's namespace
	// and selectors. With [WithEveryDeletion], the object may have had no OnAdd.
	OnDelete(deleted Deleted[T])
}

// Deleted is the deletion of an object.
type Deleted[T object.Object] struct {
	// Key is the object's key.
	Key object.Key
	// Object is the last known state. It is never nil.
	Object T
	// FinalStateUnknown is set if the informer missed the deletion itself, so that Object may be
	// older than the deleted state.
	FinalStateUnknown bool
}

// HandlerFuncs is a Handler made of functions: client-go's ResourceEventHandlerFuncs, typed and
// without tombstones. A nil function ignores its events; the zero HandlerFuncs ignores all.
type HandlerFuncs[T object.Object] struct {
	AddFunc    func(obj T, isInInitialList bool)
	UpdateFunc func(old, obj T)
	DeleteFunc func(deleted Deleted[T])
}

// OnAdd calls AddFunc, unless it is nil.
func (h HandlerFuncs[T]) OnAdd(obj T, isInInitialList bool) {
	if h.AddFunc != nil {
		h.AddFunc(obj, isInInitialList)
	}
}

// OnUpdate calls UpdateFunc, unless it is nil.
func (h HandlerFuncs[T]) OnUpdate(old, obj T) {
	if h.UpdateFunc != nil {
		h.UpdateFunc(old, obj)
	}
}

// OnDelete calls DeleteFunc, unless it is nil.
func (h HandlerFuncs[T]) OnDelete(deleted Deleted[T]) {
	if h.DeleteFunc != nil {
		h.DeleteFunc(deleted)
	}
}

// FilteringHandler passes on the events of the objects that Filter accepts, as if the others did
// not exist: an update that makes an object acceptable becomes an OnAdd with isInInitialList false,
// and one that makes it unacceptable an OnDelete with the last accepted object.
//
// Filter is called on the goroutine that calls the handler's methods, for both objects of an
// update. Its result must depend only on the object; otherwise Handler may get an OnDelete without
// an OnAdd. A nil Filter accepts every object. A nil Handler gets nothing. The store has all
// objects nevertheless; [WithLabelSelector] and [WithFieldSelector] restrict it.
type FilteringHandler[T object.Object] struct {
	Filter  func(obj T) bool
	Handler Handler[T]
}

// OnAdd passes obj on if it is accepted.
func (h FilteringHandler[T]) OnAdd(obj T, isInInitialList bool) {
	if h.accepts(obj) {
		h.Handler.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate passes an update on, as OnUpdate, OnAdd or OnDelete, if either object is accepted.
func (h FilteringHandler[T]) OnUpdate(old, obj T) {
	switch before, after := h.accepts(old), h.accepts(obj); {
	case before && after:
		h.Handler.OnUpdate(old, obj)
	case after:
		h.Handler.OnAdd(obj, false)
	case before:
		h.Handler.OnDelete(Deleted[T]{Key: object.KeyOf(old), Object: old})
	}
}

// OnDelete passes a deletion on if the last known state was accepted.
func (h FilteringHandler[T]) OnDelete(deleted Deleted[T]) {
	if h.accepts(deleted.Object) {
		h.Handler.OnDelete(deleted)
	}
}

func (h FilteringHandler[T]) accepts(obj T) bool {
	return h.Handler != nil && (h.Filter == nil || h.Filter(obj))
}

var (
	_ Handler[object.Object] = HandlerFuncs[object.Object]{}
	_ Handler[object.Object] = FilteringHandler[object.Object]{}
)

// Registration is one handler of one informer, returned by [SharedIndexInformer.AddEventHandler].
// Its methods may be called by any goroutine at any time. A nil Registration is valid, and has
// ended.
type Registration struct {
	sub *fanout.Subscription // set once at construction
}

// Remove ends the registration: no callback starts after Remove has returned, and waiting events
// are dropped. It waits for a running callback, unless called by that callback. So two callbacks
// that remove each other's registration wait forever, and so does a callback that waits for another
// goroutine's Remove of its own registration; use [Registration.RemoveContext] there. A second
// Remove only waits.
func (r *Registration) Remove() {
	if r != nil {
		r.sub.Remove()
	}
}

// RemoveContext is Remove, but stops waiting when ctx is done. The registration has ended then,
// too, but a callback is still running. The error wraps context.Cause(ctx) and names the handler,
// the callback, its key and its running time. If no callback is running, RemoveContext returns nil,
// even if ctx is done. If ctx is nil, it returns an error and does nothing.
func (r *Registration) RemoveContext(ctx context.Context) error {
	if r == nil {
		return nil
	}
	return r.sub.RemoveContext(ctx)
}

// HasSynced reports whether the handler has got the initial objects: the informer has synced, and
// every OnAdd with isInInitialList has returned. Once true, it stays true. If Remove was called
// before, it stays false.
func (r *Registration) HasSynced() bool { return outcome.Closed(r.Synced()) }

// Synced returns a channel that is closed when HasSynced becomes true.
func (r *Registration) Synced() <-chan struct{} {
	if r == nil {
		return nil
	}
	return r.sub.Synced()
}

// Status returns the state of the handler.
func (r *Registration) Status() HandlerStatus {
	if r == nil {
		return HandlerStatus{}
	}
	return HandlerStatus(r.sub.Status())
}

// Change has the arguments of one call of a [Handler], or is the bookmark after the initial
// objects.
type Change[T object.Object] struct {
	// Type is [source.Added], [source.Modified] or [source.Deleted], as in a Handler's OnAdd,
	// OnUpdate and OnDelete. [source.Bookmark] comes once, without an object, after the last
	// initial object.
	Type source.EventType
	// Key is the object's key.
	Key object.Key
	// Object is the object after the change, or the last known state of a deleted object.
	Object T
	// Old is, if Type is Modified, the Object of the loop's previous event of this key. In a resync
	// it is Object.
	Old T
	// IsInInitialList is set for objects that existed when the loop began.
	IsInInitialList bool
	// FinalStateUnknown is as in [Deleted].
	FinalStateUnknown bool
}
