// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"iter"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/server"
)

// StripManagedFields is a usual transform for client-go's informers; controller-runtime has it as
// TransformStripManagedFields.
func StripManagedFields(obj any) (any, error) {
	if accessor, err := meta.Accessor(obj); err == nil && accessor.GetManagedFields() != nil {
		accessor.SetManagedFields(nil)
	}
	return obj, nil
}

// ClientGo is an informer of client-go.
type ClientGo[T server.Object] struct {
	Informer cache.SharedIndexInformer
	handlers []cache.ResourceEventHandlerRegistration
}

// Handle implements [Rig].
func (r *ClientGo[T]) Handle(h Handler[T]) error {
	var funcs cache.ResourceEventHandlerDetailedFuncs
	if h.Add != nil {
		funcs.AddFunc = func(obj any, _ bool) { h.Add(obj.(T)) }
	}
	if h.Update != nil {
		funcs.UpdateFunc = func(old, obj any) { h.Update(old.(T), obj.(T)) }
	}
	reg, err := r.Informer.AddEventHandler(funcs)
	r.handlers = append(r.handlers, reg)
	return err
}

// Start implements [Rig].
func (r *ClientGo[T]) Start() (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.Informer.RunWithContext(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}, nil
}

// Synced implements [Rig].
func (r *ClientGo[T]) Synced() bool {
	for _, reg := range r.handlers {
		if !reg.HasSynced() {
			return false
		}
	}
	return r.Informer.HasSynced()
}

// Objects implements [Rig].
func (r *ClientGo[T]) Objects() iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, obj := range r.Informer.GetStore().List() {
			if !yield(obj.(T)) {
				return
			}
		}
	}
}
