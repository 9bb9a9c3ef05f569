// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Informer is an [informer.SharedIndexInformer] of any type.
type Informer interface {
	Acquire(context.Context) (*informer.Lease, error)
	AwaitToken(context.Context, object.Token) error
	AfterToken(object.Token, func()) (stop func() bool, err error)
	Resource() schema.GroupVersionResource
	Status() informer.Status
}

// Watch is a source of keys: the events of an informer, or a period. [For], [Owns], [Indexed],
// [Watches] and [Every] return Watches; the zero value is invalid. Several controllers may share
// one.
type Watch struct {
	name      string        // for errors, logs and the informer's Status
	err       error         // the first mistake in its arguments
	informers []Informer    // must have synced before the first reconcile
	delay     time.Duration // of queued keys
	kind      *kind         // the controller's kind, if made by For
	// resolve, unless nil, returns the watch for a controller's kind.
	resolve func(*kind) Watch
	// prepare, unless nil, is called before register.
	prepare func() error
	// register adds a handler that calls add; nil for a period. Its calls of functions, and those
	// of addAll, are made with the lock calls, unless that is nil.
	register func(add addFunc, handler string, calls *sync.Mutex) (*informer.Registration, error)
	// addAll calls add for all objects of the informer, as if they were added; nil for a period.
	addAll func(ctx context.Context, add addFunc, calls *sync.Mutex)
	// every, unless nil, runs until ctx is done. It calls add once the workers have started.
	every func(ctx context.Context, add addFunc)
}

func (w Watch) applyTo(p *plan) error {
	p.watches = append(p.watches, w)
	return nil
}

// wrapError returns an error that names the watch, number n from 0.
func (w *Watch) wrapError(n int, err error) error {
	if w.name == "" {
		return fmt.Errorf("watch %d: %w", n+1, err)
	}
	return fmt.Errorf("watch %d, %s: %w", n+1, w.name, err)
}

// After returns the watch with a delay: its keys wait for d, counted from the first event, so all
// events until then become one reconcile. An event of a watch without delay ends the wait. 0 means
// no delay; for a negative d, [New] returns an error.
func (w Watch) After(d time.Duration) Watch {
	if d < 0 && w.err == nil {
		w.err = fmt.Errorf("After: negative delay %v", d)
	}
	w.delay = d
	return w
}

// OfKind returns a watch of [For] with the kind of its objects, which [Owns] looks for in owner
// references. [Kind.Reconcile] sets it. On any other watch, OfKind makes [New] return an error.
func (w Watch) OfKind(gk schema.GroupKind, namespaced bool) Watch {
	switch {
	case w.err != nil:
	case w.kind == nil:
		w.err = errors.New("OfKind: the watch was not made by For")
	default:
		k := *w.kind
		k.GroupKind, k.clusterScoped = gk, !namespaced
		w.kind = &k
	}
	return w
}

func (w *Watch) withDelay(add addFunc) addFunc {
	if w.delay == 0 {
		return add
	}
	return func(key object.Key, how workqueue.AddOptions) {
		how.After = w.delay
		add(key, how)
	}
}

// For queues the key of each changed object. Its objects are those the controller is for; a
// controller has at most one For.
func For[T object.Object](i *informer.SharedIndexInformer[T], filters ...Filter[T]) Watch {
	w := watchOf("For", i, filters, mapping[T]{
		keys:     func(obj T, dst []object.Key) []object.Key { return append(dst, object.KeyOf(obj)) },
		sameKeys: func(T, T) bool { return true },
	})
	w.kind = &kind{objectType: typeOf((*T)(nil)), informer: (*erasedInformer)(i)}
	return w
}

// Owns queues the owners of each changed object that have the controller's kind: all in its owner
// references, of any version, controllers or not. An update that changes the owners queues old and
// new ones. [New] needs [Watch.OfKind] for it. Use [Watches] and [object.OwnerNames] for owners of
// other kinds.
func Owns[T object.Object](i *informer.SharedIndexInformer[T], filters ...Filter[T]) Watch {
	filters = slices.Clone(filters)
	return Watch{name: "Owns", resolve: func(owner *kind) Watch {
		w := watchOf("Owns", i, filters, mapping[T]{keys: func(obj T, dst []object.Key) []object.Key {
			return owner.appendOwners(obj, dst)
		}})
		if w.err == nil && owner.Kind == "" {
			w.err = errors.New("the kind of the owners is unknown; set it with For(…).OfKind")
		}
		return w
	}}
}

// Watches queues the keys that keys appends to dst for each changed object; for an update, those of
// its old and new state. keys returns the result, as append does. It may append nothing, or a key
// twice. It must not change obj or keep dst, and is called as a [Filter] is. If it panics, the
// panic is logged, and the event queues nothing more.
func Watches[T object.Object](i *informer.SharedIndexInformer[T], keys func(obj T, dst []object.Key) []object.Key, filters ...Filter[T]) Watch {
	return watchOf("Watches", i, filters, mapping[T]{keys: keys})
}

// Indexed queues the objects that refer to a changed object: it looks up of(changed) in index, for
// an update with the old and the new state. For example, the Pods of a changed Node:
//
//	controller.Indexed(podsByNode, nodes, (*corev1.Node).GetName)
//
// The index is added to the informer of [For], unless it has it. Nothing is looked up before that
// informer has synced: For queues its initial objects. of is called as a [Filter] is. New returns
// an error if the index is of objects of another type.
//
// For an index within namespaces, whose keys are [store.NamespacedKey], of returns such a key.
func Indexed[T, U object.Object, X comparable](index *store.Index[U, X], i *informer.SharedIndexInformer[T], of func(T) X, filters ...Filter[T]) Watch {
	w := Watch{name: "Indexed"}
	switch {
	case index == nil:
		w.err = errors.New("the index is nil")
		return w
	case of == nil:
		w.err = errors.New("the function is nil")
		return w
	}
	filters = slices.Clone(filters)
	w.name += " " + index.Name()
	w.resolve = func(k *kind) Watch {
		in := (*informer.SharedIndexInformer[U])(k.informer)
		w := watchOf("Indexed "+index.Name(), i, filters, mapping[T]{
			keys: func(obj T, dst []object.Key) []object.Key {
				if !in.HasSynced() {
					return dst
				}
				for referring := range index.Lookup(in.Store().Snapshot(), of(obj)) {
					dst = append(dst, object.KeyOf(referring))
				}
				return dst
			},
			sameKeys: func(old, obj T) bool { return of(old) == of(obj) },
		})
		if err := k.checkType("the index", (*U)(nil)); err != nil && w.err == nil {
			w.err = err
		}
		w.prepare = func() error { return in.AddIndexers(index) }
		return w
	}
	return w
}

// Every queues the keys yielded by keys, at low priority, at intervals that begin when the workers
// start. Each interval is the period plus a random part of up to jitter times the period, so
// several processes don't act at once. keys is called on a goroutine of the controller, one call at
// a time. A panic in it is logged, and ends that round.
func Every(period time.Duration, jitter float64, keys func() iter.Seq[object.Key]) Watch {
	w := Watch{name: "Every " + period.String()}
	switch {
	case period <= 0:
		w.err = errors.New("the period is not positive")
	case !(jitter >= 0): // also if NaN
		w.err = errors.New("the jitter is negative")
	case keys == nil:
		w.err = errors.New("the function is nil")
	}
	w.every = func(ctx context.Context, add addFunc) { every(ctx, period, jitter, keys, add) }
	return w
}

type mapping[T object.Object] struct {
	keys func(obj T, dst []object.Key) []object.Key
	// sameKeys reports whether two states of an object have equal keys; nil if unknown.
	sameKeys func(old, obj T) bool
}

func watchOf[T object.Object](name string, i *informer.SharedIndexInformer[T], filters []Filter[T], m mapping[T]) Watch {
	w := Watch{name: name}
	switch {
	case i == nil:
		w.err = errors.New("the informer is nil")
	case m.keys == nil:
		w.err = errors.New("the function is nil")
	case slices.ContainsFunc(filters, func(f Filter[T]) bool { return f == nil }):
		w.err = errors.New("a filter is nil")
	default:
		filters = slices.Clone(filters)
		w.name += " of " + i.Status().Name
		w.informers = []Informer{i}
		w.register = func(add addFunc, name string, calls *sync.Mutex) (*informer.Registration, error) {
			return i.AddEventHandler(&handler[T]{add: add, filters: filters, mapping: m, calls: calls}, informer.WithHandlerName(name))
		}
		w.addAll = func(ctx context.Context, add addFunc, calls *sync.Mutex) {
			h := &handler[T]{add: add, filters: filters, mapping: m, calls: calls}
			for obj := range i.Store().Snapshot().All() {
				if ctx.Err() != nil {
					return
				}
				h.addRecovered(ctx, w.name, obj)
			}
		}
	}
	return w
}
