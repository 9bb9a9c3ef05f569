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

// Watch is where keys come from: the events of an informer, or a period. [Self], [Owned],
// [OwnedByClusterScoped], [Mapped], [Indexed] and [Every] return Watches; the zero value is not
// usable. One Watch may be given to several controllers.
type Watch[K comparable] struct {
	name  string     // for errors, logs and the informer's Status
	err   error      // what is wrong with it
	needs []Informer // that must have synced before the first reconcile
	// prepare, unless nil, is called before register.
	prepare func() error
	// register adds a handler that calls add; nil for a period.
	register func(add add[K], handler string) (*informer.Registration, error)
	// every, unless nil, runs until ctx is done. It calls add once the workers have started.
	every func(ctx context.Context, add add[K])
}

// wrong returns an error that names the watch, the n-th of its controller from 0.
func (w *Watch[K]) wrong(n int, err error) error {
	if w.name == "" {
		return fmt.Errorf("watch %d: %w", n+1, err)
	}
	return fmt.Errorf("watch %d, %s: %w", n+1, w.name, err)
}

// After returns the watch with a delay: a key that it queues waits for d, so that the events until
// then become one reconcile. d counts from the first of them. An event of another watch, without a
// delay, ends the wait. 0 is no delay; a negative one is an error of [New].
func (w Watch[K]) After(d time.Duration) Watch[K] {
	if d < 0 && w.err == nil {
		w.err = fmt.Errorf("After: negative delay %v", d)
	}
	later := func(add add[K]) add[K] {
		return func(key K, how workqueue.AddOptions, version string) {
			how.After = d
			add(key, how, version)
		}
	}
	if register := w.register; register != nil {
		w.register = func(add add[K], handler string) (*informer.Registration, error) {
			return register(later(add), handler)
		}
	}
	if every := w.every; every != nil {
		w.every = func(ctx context.Context, add add[K]) { every(ctx, later(add)) }
	}
	return w
}

// Self queues the key of each object that changes: of the objects that the controller is for.
func Self[T object.Object](i *informer.SharedIndexInformer[T], filters ...Filter[T]) Watch[object.Key] {
	return watchOf("Self", i, filters, mapping[T, object.Key]{
		keys: func(obj T, dst []object.Key) []object.Key { return append(dst, object.KeyOf(obj)) },
		same: func(T, T) bool { return true },
	})
}

// Owned queues, for each object that changes, its owners of one kind in the object's namespace:
// those of its owner references, of any version, controllers or not. If an update changes the
// owners, the old and the new ones are queued. The group "" is that of Pods and Nodes. An owner
// that is cluster-scoped while the object is not has another key: see [OwnedByClusterScoped].
func Owned[T object.Object](i *informer.SharedIndexInformer[T], owner schema.GroupKind, filters ...Filter[T]) Watch[object.Key] {
	return watchOf("Owned by "+owner.String(), i, filters, mapping[T, object.Key]{keys: func(obj T, dst []object.Key) []object.Key {
		return appendOwners(obj, dst, owner, obj.GetNamespace())
	}})
}

// OwnedByClusterScoped is [Owned] for owners of a kind that has no namespaces, whatever the
// namespace of the objects is.
func OwnedByClusterScoped[T object.Object](i *informer.SharedIndexInformer[T], owner schema.GroupKind, filters ...Filter[T]) Watch[object.Key] {
	return watchOf("Owned by "+owner.String(), i, filters, mapping[T, object.Key]{keys: func(obj T, dst []object.Key) []object.Key {
		return appendOwners(obj, dst, owner, "")
	}})
}

func appendOwners(obj object.Object, dst []object.Key, owner schema.GroupKind, namespace string) []object.Key {
	var room [4]string
	for _, name := range object.OwnerNames(obj, room[:0], owner) {
		dst = append(dst, object.Key{Namespace: namespace, Name: name})
	}
	return dst
}

// Mapped queues the keys that keys appends to dst, for each object that changes; in an update, for
// its old and its new state. keys returns the result, as append does. It may append nothing, or the
// same key twice, must not change obj or keep dst, and is called as a [Filter] is. If it panics,
// the panic is logged, and the event queues nothing more.
func Mapped[T object.Object, K comparable](i *informer.SharedIndexInformer[T], keys func(obj T, dst []K) []K, filters ...Filter[T]) Watch[K] {
	return watchOf("Mapped", i, filters, mapping[T, K]{keys: keys})
}

// Indexed queues the objects of another informer that refer to an object that changes: those that
// index finds in it by the key that of returns for the object; in an update, for its old and its
// new state. An example are the Pods of a Node that changes:
//
//	controller.Indexed(nodes, (*corev1.Node).GetName, podsByNode, pods)
//
// The index is added to the informer in, unless it is there already. The reconciles begin after in
// has synced, too. An object that comes to refer to another one later is not found by this watch:
// watch in as well, by [Self]. of is called as a [Filter] is.
func Indexed[T, U object.Object, X comparable](i *informer.SharedIndexInformer[T], of func(T) X, index *store.Index[U, X], in *informer.SharedIndexInformer[U], filters ...Filter[T]) Watch[object.Key] {
	m := mapping[T, object.Key]{
		keys: func(obj T, dst []object.Key) []object.Key {
			for referring := range index.Lookup(in.Store().Snapshot(), of(obj)) {
				dst = append(dst, object.KeyOf(referring))
			}
			return dst
		},
		same: func(old, obj T) bool { return of(old) == of(obj) },
	}
	name := "Indexed"
	if index != nil {
		name += " " + index.Name()
	}
	w := watchOf(name, i, filters, m)
	switch {
	case w.err != nil:
	case of == nil:
		w.err = errors.New("the function is nil")
	case index == nil:
		w.err = errors.New("the index is nil")
	case in == nil:
		w.err = errors.New("the informer that has the index is nil")
	default:
		w.needs = append(w.needs, in)
		w.prepare = func() error { return in.AddIndexers(index) }
	}
	return w
}

// Every queues the keys that keys yields, at low priority, again and again: a period after the
// workers have started, and each period after that. Each period is longer by a random part, up to
// jitter times the period, so that several processes don't act at once. keys is called on a
// goroutine of the controller, one call at a time. A panic in it is logged, and queues nothing
// more until the next period.
func Every[K comparable](period time.Duration, jitter float64, keys func() iter.Seq[K]) Watch[K] {
	w := Watch[K]{name: "Every " + period.String()}
	switch {
	case period <= 0:
		w.err = errors.New("the period is not positive")
	case !(jitter >= 0): // NaN, too
		w.err = errors.New("the jitter is negative")
	case keys == nil:
		w.err = errors.New("the function is nil")
	}
	w.every = func(ctx context.Context, add add[K]) { every(ctx, period, jitter, keys, add) }
	return w
}

// mapping is how a watch gets from objects to keys.
type mapping[T object.Object, K comparable] struct {
	keys func(obj T, dst []K) []K
	// same reports whether two states of an object have the same keys; nil: it is not known.
	same func(old, obj T) bool
}

func watchOf[T object.Object, K comparable](name string, i *informer.SharedIndexInformer[T], filters []Filter[T], m mapping[T, K]) Watch[K] {
	w := Watch[K]{name: name}
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
		w.register = func(add add[K], name string) (*informer.Registration, error) {
			return i.AddEventHandler(&handler[T, K]{add: add, filters: filters, mapping: m}, informer.WithHandlerName(name))
		}
	}
	return w
}
