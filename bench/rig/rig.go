// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"iter"
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/server"
	"github.com/informer-gen/informer-gen/runtime/informer"
)

// Handler is an event handler of either side. A nil function ignores its events.
type Handler[T server.Object] struct {
	Add    func(T)
	Update func(old, obj T)
}

// Rig is an informer of either side with a namespace index, the only one set by client-go's
// factories.
type Rig[T server.Object] interface {
	// Handle adds a handler; the informer may be running.
	Handle(Handler[T]) error
	// Start runs the informer, as a factory does. stop ends it, and waits for its end.
	Start() (stop func(), err error)
	// Synced reports whether the informer and all its handlers have the initial objects.
	Synced() bool
	Objects() iter.Seq[T]
}

// Setup is the configuration of an informer.
type Setup struct {
	// Strip removes managedFields: client-go's informer does it in a transform, our source drops
	// them.
	Strip   bool
	Options []informer.Option // of ours
}

// New makes an informer of that side, which reads the collection.
func New[T server.Object](s harness.Side, c server.Collection[T], how Setup) (Rig[T], error) {
	switch s {
	case harness.Ours:
		src, err := c.Source()
		if err != nil {
			return nil, err
		}
		i, err := informer.New(src, how.Options...)
		return &Ours[T]{Informer: i}, err
	case harness.ClientGo:
		lw, err := c.ListerWatcher()
		if err != nil {
			return nil, err
		}
		i := cache.NewSharedIndexInformer(lw, c.Example(), 0, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
		if how.Strip {
			err = i.SetTransform(StripManagedFields)
		}
		return &ClientGo[T]{Informer: i}, err
	}
	return nil, fmt.Errorf("%s has no informer here", s)
}

// patience is how long one step of a benchmark may take before it counts as hanging.
const patience = 3 * time.Minute

// Wait waits until done is closed or gets a value.
func Wait(done <-chan struct{}, what string) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
		return fmt.Errorf("waited %v for %s", patience, what)
	}
}

// WaitSynced waits until an informer, or a fleet, has synced. It is for benchmarks whose clock does
// not run.
func WaitSynced(r interface{ Synced() bool }) error {
	for deadline := time.Now().Add(patience); !r.Synced(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v for the sync", patience)
		}
	}
	return nil
}
