// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// Informer is a [informer.SharedIndexInformer] of any type.
type Informer interface {
	Acquire(context.Context) (*informer.Lease, error)
	AwaitToken(context.Context, object.Token) error
	AfterToken(object.Token, func()) (stop func() bool, err error)
	Resource() schema.GroupVersionResource
	Status() informer.Status
}

// Watch is where keys come from: the events of an informer, or a period. [For], [Owns], [Indexed],
// [Watches] and [Every] return Watches; the zero value is not usable. One Watch may be given to
// several controllers.
type Watch struct {
	name  string        // for errors, logs and the informer's Status
	err   error         // what is wrong with it
	needs []Informer    // that must have synced before the first reconcile
	delay time.Duration // of the keys that it queues
	kind  *kind         // of For: what the controller is for
	// resolve, unless nil, returns the watch of a controller for a kind.
	resolve func(*kind) Watch
	// prepare, unless nil, is called before register.
	prepare func() error
	// register adds a handler that calls add; nil for a period.
	register func(add add, handler string) (*informer.Registration, error)
	// every, unless nil, runs until ctx is done. It calls add once the workers have started.
	every func(ctx context.Context, add add)
}

func (w Watch) applyTo(p *plan) error {
	p.watches = append(p.watches, w)
	return nil
}

// wrong returns an error that names the watch, the n-th of its controller from 0.
func (w *Watch) wrong(n int, err error) error {
	if w.name == "" {
		return fmt.Errorf("watch %d: %w", n+1, err)
	}
	return fmt.Errorf("watch %d, %s: %w", n+1, w.name, err)
}

// After returns the watch with a delay: a key that it queues waits for d, so that the events until
// then become one reconcile. d counts from the first of them. An event of another watch, without a
// delay, ends the wait. 0 is no delay; a negative one is an error of [New].
func (w Watch) After(d time.Duration) Watch {
	if d < 0 && w.err == nil {
		w.err = fmt.Errorf("After: negative delay %v", d)
	}
	w.delay = d
	return w
}

// OfKind returns a watch of [For] with the kind of its objects, which [Owns] looks for in owner
// references. Controllers made by [Kind.Reconcile] have it. For another watch it is an error of
// [New].
func (w Watch) OfKind(gk schema.GroupKind, namespaced bool) Watch {
	switch {
	case w.err != nil:
	case w.kind == nil:
		w.err = errors.New("OfKind: it is not For")
	default:
		k := *w.kind
		k.GroupKind, k.clusterScoped = gk, !namespaced
		w.kind = &k
	}
	return w
}

// adding returns add with the delay of the watch.
func (w *Watch) adding(add add) add {
	if w.delay == 0 {
		return add
	}
	return func(key object.Key, how workqueue.AddOptions) {
		how.After = w.delay
		add(key, how)
	}
}

// For queues the key of each object that changes: of the objects that the controller is for. A
// controller has one For at most.
func For[T object.Object](i *informer.SharedIndexInformer[T], filters ...Filter[T]) Watch {
	w := watchOf("For", i, filters, mapping[T]{
		keys: func(obj T, dst []object.Key) []object.Key { return append(dst, object.KeyOf(obj)) },
		same: func(T, T) bool { return true },
	})
	w.kind = &kind{of: typeOf((*T)(nil)), informer: (*erasedInformer)(i)}
	return w
}

// Owns queues, for each object that changes, its owners of the kind that the controller is for:
// those of its owner references, of any version, controllers or not. If an update changes the
// owners, the old and the new ones are queued. [New] needs [Watch.OfKind] for it. Use [Watches] and
// [object.OwnerNames] for owners of other kinds.
func Owns[T object.Object](i *informer.SharedIndexInformer[T], filters ...Filter[T]) Watch {
	filters = slices.Clone(filters)
	return Watch{name: "Owns", resolve: func(owner *kind) Watch {
		w := watchOf("Owns", i, filters, mapping[T]{keys: func(obj T, dst []object.Key) []object.Key {
			return owner.appendOwners(obj, dst)
		}})
		if w.err == nil && owner.Kind == "" {
			w.err = errors.New("the kind of the owners is unknown; give it by For(…).OfKind")
		}
		return w
	}}
}

// Watches queues the keys that keys appends to dst, for each object that changes; in an update, for
// its old and its new state. keys returns the result, as append does. It may append nothing, or the
// same key twice, must not change obj or keep dst, and is called as a [Filter] is. If it panics,
// the panic is logged, and the event queues nothing more.
func Watches[T object.Object](i *informer.SharedIndexInformer[T], keys func(obj T, dst []object.Key) []object.Key, filters ...Filter[T]) Watch {
	return watchOf("Watches", i, filters, mapping[T]{keys: keys})
}

// Indexed queues the objects that the controller is for and that refer to an object that changes:
// those that index finds by the key that of returns for the object; in an update, for its old and
// its new state. An example are the Pods of a Node that changes:
//
//	controller.Indexed(podsByNode, nodes, (*corev1.Node).GetName)
//
// The index is added to the informer of [For], unless it is there already. of is called as a
// [Filter] is. New returns an error if the index is of objects of another type.
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
				for referring := range index.Lookup(in.Store().Snapshot(), of(obj)) {
					dst = append(dst, object.KeyOf(referring))
				}
				return dst
			},
			same: func(old, obj T) bool { return of(old) == of(obj) },
		})
		if err := k.isOf("the index", (*U)(nil)); err != nil && w.err == nil {
			w.err = err
		}
		w.prepare = func() error { return in.AddIndexers(index) }
		return w
	}
	return w
}

// Every queues the keys that keys yields, at low priority, again and again: a period after the
// workers have started, and each period after that. Each period is longer by a random part, up to
// jitter times the period, so that several processes don't act at once. keys is called on a
// goroutine of the controller, one call at a time. A panic in it is logged, and queues nothing
// more until the next period.
func Every(period time.Duration, jitter float64, keys func() iter.Seq[object.Key]) Watch {
	w := Watch{name: "Every " + period.String()}
	switch {
	case period <= 0:
		w.err = errors.New("the period is not positive")
	case !(jitter >= 0): // NaN, too
		w.err = errors.New("the jitter is negative")
	case keys == nil:
		w.err = errors.New("the function is nil")
	}
	w.every = func(ctx context.Context, add add) { every(ctx, period, jitter, keys, add) }
	return w
}

// mapping is how a watch gets from objects to keys.
type mapping[T object.Object] struct {
	keys func(obj T, dst []object.Key) []object.Key
	// same reports whether two states of an object have the same keys; nil: it is not known.
	same func(old, obj T) bool
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
		w.needs = []Informer{i}
		w.register = func(add add, name string) (*informer.Registration, error) {
			return i.AddEventHandler(&handler[T]{add: add, filters: filters, mapping: m}, informer.WithHandlerName(name))
		}
	}
	return w
}
