// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// side is whose informer it is.
type side int

const (
	ours side = iota
	clientGo
)

var sides = []side{ours, clientGo}

func (s side) String() string { return [...]string{"informer-gen", "client-go"}[s] }

// collection is what an informer reads, as each side wants it.
type collection interface {
	source() (source.Source[*corev1.Pod], error)
	listerWatcher() (cache.ListerWatcher, error)
}

// handler is an event handler of either side. A nil function ignores its events.
type handler struct {
	add    func(*corev1.Pod)
	update func(*corev1.Pod)
}

// rig is an informer of either side with a namespace index, the only one that client-go's factories give theirs.
type rig interface {
	// handle adds a handler; the informer may be running.
	handle(handler) error
	// start runs the informer, as a factory does, until the function that it returns is called; that waits for the end.
	start() (stop func(), err error)
	// synced says whether the informer and all its handlers have the initial objects.
	synced() bool
	pods() iter.Seq[*corev1.Pod]
}

// newRig makes an informer; opts are for ours only.
func newRig(s side, c collection, opts ...informer.Option) (rig, error) {
	if s == clientGo {
		return newClientGoRig(c)
	}
	return newOurRig(c, opts)
}

// patience is how long one step of a benchmark may take before it counts as hanging.
const patience = 2 * time.Minute

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
func waitSynced(r rig) error {
	for deadline := time.Now().Add(patience); !r.synced(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %v for the sync", patience)
		}
	}
	return nil
}

type ourRig struct {
	informer *informer.SharedIndexInformer[*corev1.Pod]
	handlers []*informer.Registration
}

func newOurRig(c collection, opts []informer.Option) (rig, error) {
	src, err := c.source()
	if err != nil {
		return nil, err
	}
	i, err := informer.New(src, opts...)
	return &ourRig{informer: i}, err
}

func (r *ourRig) handle(h handler) error {
	var funcs informer.HandlerFuncs[*corev1.Pod]
	if h.add != nil {
		funcs.AddFunc = func(pod *corev1.Pod, _ bool) { h.add(pod) }
	}
	if h.update != nil {
		funcs.UpdateFunc = func(_, pod *corev1.Pod) { h.update(pod) }
	}
	reg, err := r.informer.AddEventHandler(funcs)
	r.handlers = append(r.handlers, reg)
	return err
}

func (r *ourRig) start() (stop func(), err error) {
	lease, err := r.informer.Acquire(context.Background())
	return func() { _ = lease.Release(context.Background()) }, err
}

func (r *ourRig) synced() bool {
	for _, reg := range r.handlers {
		if !reg.HasSynced() {
			return false
		}
	}
	return r.informer.HasSynced()
}

func (r *ourRig) pods() iter.Seq[*corev1.Pod] { return r.informer.Store().Snapshot().All() }

type clientGoRig struct {
	informer cache.SharedIndexInformer
	handlers []cache.ResourceEventHandlerRegistration
}

func newClientGoRig(c collection) (rig, error) {
	lw, err := c.listerWatcher()
	if err != nil {
		return nil, err
	}
	return &clientGoRig{informer: cache.NewSharedIndexInformer(lw, &corev1.Pod{}, 0,
		cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}, nil
}

func (r *clientGoRig) handle(h handler) error {
	var funcs cache.ResourceEventHandlerDetailedFuncs
	if h.add != nil {
		funcs.AddFunc = func(obj any, _ bool) { h.add(obj.(*corev1.Pod)) }
	}
	if h.update != nil {
		funcs.UpdateFunc = func(_, obj any) { h.update(obj.(*corev1.Pod)) }
	}
	reg, err := r.informer.AddEventHandler(funcs)
	r.handlers = append(r.handlers, reg)
	return err
}

func (r *clientGoRig) start() (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { r.informer.RunWithContext(ctx) })
	return func() {
		cancel()
		wg.Wait()
	}, nil
}

func (r *clientGoRig) synced() bool {
	for _, reg := range r.handlers {
		if !reg.HasSynced() {
			return false
		}
	}
	return r.informer.HasSynced()
}

func (r *clientGoRig) pods() iter.Seq[*corev1.Pod] {
	return func(yield func(*corev1.Pod) bool) {
		for _, obj := range r.informer.GetStore().List() {
			if !yield(obj.(*corev1.Pod)) {
				return
			}
		}
	}
}
