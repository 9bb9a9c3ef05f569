// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// thing is an object that both sides can hold.
type thing interface {
	object.Object
	runtime.Object
}

// collectionOf is a collection in the form that each side reads.
type collectionOf[T thing] interface {
	source() (source.Source[T], error)
	listerWatcher() (cache.ListerWatcher, error)
	example() T // an empty object, which client-go wants to see
}

// handlerOf is an event handler of either side. A nil function ignores its events.
type handlerOf[T thing] struct {
	add    func(T)
	update func(T)
	// change is called in the place of update, with the object before.
	change func(old, obj T)
}

// rigOf is an informer of either side with a namespace index, the only one that client-go's
// factories give theirs.
type rigOf[T thing] interface {
	// handle adds a handler; the informer may be running.
	handle(handlerOf[T]) error
	// start runs the informer, as a factory does, until the function that it returns is called;
	// that waits for the end.
	start() (stop func(), err error)
	// synced reports whether the informer and all its handlers have the initial objects.
	synced() bool
	objects() iter.Seq[T]
}

// The benchmarks without a server are about Pods.
type (
	handler = handlerOf[*corev1.Pod]
	podRig  = rigOf[*corev1.Pod]
)

// setup is the configuration of an informer.
type setup struct {
	// client-go's has a transform that removes managedFields; ours has a source that drops them,
	strip   bool
	keep    bool              // or doesn't: then its options have a transform, too
	options []informer.Option // of ours
}

// newPodRig makes an informer; opts are for ours only.
func newPodRig(s side, c collectionOf[*corev1.Pod], opts ...informer.Option) (podRig, error) {
	return newRigOf(s, c, setup{options: opts})
}

func newRigOf[T thing](s side, c collectionOf[T], how setup) (rigOf[T], error) {
	switch s {
	case ours:
		src, err := c.source()
		if err != nil {
			return nil, err
		}
		i, err := informer.New(src, how.options...)
		return &ourRig[T]{informer: i}, err
	case clientGo:
		lw, err := c.listerWatcher()
		if err != nil {
			return nil, err
		}
		i := cache.NewSharedIndexInformer(lw, c.example(), 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if how.strip {
			err = i.SetTransform(stripManagedFields)
		}
		return &clientGoRig[T]{informer: i}, err
	}
	return nil, fmt.Errorf("%s has no informer here", s)
}

// stripManagedFields is the transform that people give to client-go's informers, and
// controller-runtime has as TransformStripManagedFields.
func stripManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// patience is how long one step of a benchmark may take before it counts as hanging.
const patience = 3 * time.Minute

// wait waits for done, which is closed or sent to by what the benchmark expects.
func wait(done <-chan struct{}, what string) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("waited %v for %s", patience, what)
	}
}

// waitSynced is for benchmarks whose clock does not run yet.
func waitSynced[T thing](r rigOf[T]) error {
	for deadline := time.Now().Add(patience); !r.synced(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("waited " + patience.String() + " for the sync")
		}
	}
	return nil
}

type ourRig[T thing] struct {
	informer *informer.SharedIndexInformer[T]
	handlers []*informer.Registration
}

func (r *ourRig[T]) handle(h handlerOf[T]) error {
	var funcs informer.HandlerFuncs[T]
	if h.add != nil {
		funcs.AddFunc = func(obj T, _ bool) { h.add(obj) }
	}
	if h.update != nil {
		funcs.UpdateFunc = func(_, obj T) { h.update(obj) }
	}
	if h.change != nil {
		funcs.UpdateFunc = h.change
	}
	reg, err := r.informer.AddEventHandler(funcs)
	r.handlers = append(r.handlers, reg)
	return err
}

func (r *ourRig[T]) start() (stop func(), err error) {
	lease, err := r.informer.Acquire(context.Background())
	return func() { _ = lease.Release(context.Background()) }, err
}

func (r *ourRig[T]) synced() bool {
	for _, reg := range r.handlers {
		if !reg.HasSynced() {
			return false
		}
	}
	return r.informer.HasSynced()
}

func (r *ourRig[T]) objects() iter.Seq[T] { return r.informer.Store().Snapshot().All() }

type clientGoRig[T thing] struct {
	informer cache.SharedIndexInformer
	handlers []cache.ResourceEventHandlerRegistration
}

func (r *clientGoRig[T]) handle(h handlerOf[T]) error {
	var funcs cache.ResourceEventHandlerDetailedFuncs
	if h.add != nil {
		funcs.AddFunc = func(obj any, _ bool) { h.add(obj.(T)) }
	}
	if h.update != nil {
		funcs.UpdateFunc = func(_, obj any) { h.update(obj.(T)) }
	}
	if h.change != nil {
		funcs.UpdateFunc = func(old, obj any) { h.change(old.(T), obj.(T)) }
	}
	reg, err := r.informer.AddEventHandler(funcs)
	r.handlers = append(r.handlers, reg)
	return err
}

func (r *clientGoRig[T]) start() (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.informer.RunWithContext(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}, nil
}

func (r *clientGoRig[T]) synced() bool {
	for _, reg := range r.handlers {
		if !reg.HasSynced() {
			return false
		}
	}
	return r.informer.HasSynced()
}

func (r *clientGoRig[T]) objects() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, obj := range r.informer.GetStore().List() {
			if !yield(obj.(T)) {
				return
			}
		}
	}
}
