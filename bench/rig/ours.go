// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"iter"

	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// Ours is an informer of informer-gen.
type Ours[T server.Object] struct {
	Informer *informer.SharedIndexInformer[T]
	handlers []*informer.Registration
}

// Handle implements [Rig].
func (r *Ours[T]) Handle(h Handler[T]) error {
	funcs := informer.HandlerFuncs[T]{UpdateFunc: h.Update}
	if h.Add != nil {
		funcs.AddFunc = func(obj T, _ bool) { h.Add(obj) }
	}
	reg, err := r.Informer.AddEventHandler(funcs)
	r.handlers = append(r.handlers, reg)
	return err
}

// Start implements [Rig].
func (r *Ours[T]) Start() (stop func(), err error) {
	lease, err := r.Informer.Acquire(context.Background())
	return func() { _ = lease.Release(context.Background()) }, err
}

// Synced implements [Rig].
func (r *Ours[T]) Synced() bool {
	for _, reg := range r.handlers {
		if !reg.HasSynced() {
			return false
		}
	}
	return r.Informer.HasSynced()
}

// Objects implements [Rig].
func (r *Ours[T]) Objects() iter.Seq[T] { return r.Informer.Store().Snapshot().All() }
