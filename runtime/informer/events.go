// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/engine"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Event has the arguments of one call of a [Handler], or is the bookmark after the initial objects.
type Event[T object.Object] struct {
	// Type is [source.Added], [source.Modified] or [source.Deleted], as in OnAdd, OnUpdate and
	// OnDelete of a Handler. [source.Bookmark] comes once, after the last object that existed when
	// the loop began, as the bookmark of a watch-list ends its initial events. It has no object.
	Type source.EventType
	// Key is the object's.
	Key object.Key
	// Object is the object after the change, or the last known state of an object that was deleted.
	Object T
	// Old is, if Type is Modified, the state in the loop's previous event of this key. In a resync
	// it is Object.
	Old T
	// IsInInitialList is set for objects that existed when the loop began.
	IsInInitialList bool
	// FinalStateUnknown is set if the informer did not see the deletion itself, so that Object may
	// be older than the state that was deleted.
	FinalStateUnknown bool
}

// Events returns the events of a new registration, for a loop: a [source.Added] for each object in
// the store, one [source.Bookmark], then every change.
//
//	for event := range pods.Events(ctx) {
//		…
//	}
//
// The loop's body takes the place of a handler's callbacks. The order is the same. Events are
// merged by key while the body is slow (see [WithBacklogThreshold]). A slow body delays only its
// own loop. Run waits for the body while it handles an event. The registration begins with the
// loop. It is removed when the loop ends: by break, by a return or panic in its body, or because
// ctx is done; events that wait are dropped then. It does not end with Run: once the informer runs
// again, the loop goes on. Each loop over the result is a registration of its own.
//
// A loop that can't be registered ends at once, without an event, and logs why: a nil ctx, a wrong
// option, or an informer that [For] could not make.
//
//go:noinline
func (i *SharedIndexInformer[T]) Events(ctx context.Context, opts ...HandlerOption) iter.Seq[Event[T]] {
	return func(yield func(Event[T]) bool) {
		loopOver(ctx, i.engine, opts, func(e Event[object.Object]) bool {
			obj, _ := e.Object.(T)
			old, _ := e.Old.(T)
			return yield(Event[T]{e.Type, e.Key, obj, old, e.IsInInitialList, e.FinalStateUnknown})
		})
	}
}

// Until waits until condition returns true, or returns an error, which Until returns unchanged.
// Until calls condition with the newest snapshot of the store as soon as the informer has synced,
// and again after changes, always on the caller's goroutine. Several changes may lead to one call.
// Until does not run the informer. It returns an error that wraps context.Cause(ctx) if ctx is done
// first, and an error if ctx or condition is nil.
func (i *SharedIndexInformer[T]) Until(ctx context.Context, condition func(*store.Snapshot[T]) (bool, error)) error {
	if condition == nil {
		return until(ctx, i.engine, nil)
	}
	return until(ctx, i.engine, func() (bool, error) { return condition(i.Store().Snapshot()) })
}

// --- private from here ---

func until(ctx context.Context, e *engine.Informer, condition func() (bool, error)) error {
	fail := func(err error) error { return fmt.Errorf("informer %s: Until: %w", e.Name(), err) }
	switch {
	case ctx == nil:
		return fail(errContext)
	case condition == nil:
		return fail(errors.New("the condition is nil"))
	}
	if err := broken(e); err != nil {
		return fail(err)
	}
	select {
	case <-e.Synced():
	case <-ctx.Done():
		return fail(context.Cause(ctx))
	}
	for {
		changed := e.Changed() // before looking
		if done, err := condition(); done || err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fail(context.Cause(ctx))
		}
	}
}

// loop is the handler behind Events: it hands each event to the goroutine that runs the loop, and
// returns when the body has handled it.
type loop struct {
	events  chan Event[object.Object]
	handled chan struct{}
	ended   chan struct{} // closed when the loop has ended
}

func loopOver(ctx context.Context, e *engine.Informer, opts []HandlerOption, yield func(Event[object.Object]) bool) {
	if ctx == nil {
		klog.Background().Error(errContext, "Events", "informer", e.Name())
		return
	}
	l := loop{events: make(chan Event[object.Object]), handled: make(chan struct{}), ended: make(chan struct{})}
	r, err := register(e, l, "Events", opts)
	if err != nil {
		klog.FromContext(ctx).Error(err, "Events", "informer", e.Name())
		return
	}
	defer r.Remove()     // waits for the callback
	defer close(l.ended) // so that the callback returns
	l.run(ctx, r.Synced(), yield)
}

func (l loop) OnAdd(obj object.Object, initial bool) {
	l.hand(Event[object.Object]{Type: source.Added, Key: object.KeyOf(obj), Object: obj, IsInInitialList: initial})
}

func (l loop) OnUpdate(old, obj object.Object) {
	l.hand(Event[object.Object]{Type: source.Modified, Key: object.KeyOf(obj), Object: obj, Old: old})
}

func (l loop) OnDelete(d engine.Deleted) {
	l.hand(Event[object.Object]{Type: source.Deleted, Key: d.Key, Object: d.Object, FinalStateUnknown: d.FinalStateUnknown})
}

func (l loop) hand(e Event[object.Object]) {
	select {
	case l.events <- e:
	case <-l.ended:
		return
	}
	select {
	case <-l.handled:
	case <-l.ended:
	}
}

func (l loop) run(ctx context.Context, synced <-chan struct{}, yield func(Event[object.Object]) bool) {
	end := func() bool {
		synced = nil
		return yield(Event[object.Object]{Type: source.Bookmark})
	}
	for ctx.Err() == nil {
		select {
		case e := <-l.events:
			// The registration becomes synced before its next callback, so the Bookmark is in
			// order.
			if !e.IsInInitialList && isClosed(synced) && !end() {
				return
			}
			if !yield(e) {
				return
			}
			l.handled <- struct{}{}
		case <-synced:
			if !end() {
				return
			}
		case <-ctx.Done():
		}
	}
}

// isClosed reports whether c is closed. It returns false for a nil channel.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
