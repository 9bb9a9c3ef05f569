// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	crsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-gen/informer-gen/runtime/manager/shard"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// RingReconciler is the reconciler of a controller with a [Ring], and a source of the same
// controller. [Ring.Reconciler] makes it.
type RingReconciler struct {
	// set once at construction
	ring  *Ring
	inner reconcile.Reconciler
	work  *shard.Work
	kinds []regranted // the first one is that of the requests

	started atomic.Bool // Start was called
}

// regranted is a kind whose objects are queued after a grant.
type regranted struct {
	example client.Object
	handler handler.EventHandler
	mapped  bool // the requests are not those of the objects themselves
}

var (
	_ reconcile.Reconciler = (*RingReconciler)(nil)
	_ crsource.Source      = (*RingReconciler)(nil)
)

// Reconciler returns a reconciler that calls inner for requests of buckets that this process owns,
// and drops others. obj is an empty object of the kind that the requests are about, as in For. A
// controller has the result twice: in WatchesRawSource and in Complete; see the example of [Ring].
//
// As a source, it queues a request for each object of a bucket that was granted. Each controller
// needs its own.
//
// The context of inner is that of the clients of [Ring.NewClient]. An error of inner is dropped if
// it wraps [shard.ErrNotOwned], or if the context was cancelled because of that: another process
// reconciles the object.
func (r *Ring) Reconciler(obj client.Object, inner reconcile.Reconciler) *RingReconciler {
	return &RingReconciler{
		ring: r, inner: inner, work: r.ring.NewWork(),
		kinds: []regranted{{obj, &handler.EnqueueRequestForObject{}, false}},
	}
}

// Watches makes h get a Generic event for each object of another kind after a grant, if the object
// itself is in a granted bucket or its kind is whole. It is for requests without an object of their
// own kind, which a grant would not queue otherwise. It returns w, and must not be called after the
// manager's start.
func (w *RingReconciler) Watches(obj client.Object, h handler.EventHandler) *RingReconciler {
	w.kinds = append(w.kinds, regranted{obj, h, true})
	return w
}

// Reconcile implements [reconcile.Reconciler]. It is called by the controller.
func (w *RingReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if !w.started.Load() {
		return reconcile.Result{}, errors.New("the controller doesn't get the grants of its ring; add WatchesRawSource with the result of Ring.Reconciler")
	}
	meta, err := w.metaOf(request)
	if err != nil {
		return reconcile.Result{}, err
	}
	ctx, done, ok := w.work.Begin(ctx, meta)
	if !ok {
		return reconcile.Result{}, nil
	}
	defer done()
	result, err := w.inner.Reconcile(ctx, request)
	if errors.Is(err, shard.ErrNotOwned) || errors.Is(context.Cause(ctx), shard.ErrNotOwned) {
		return reconcile.Result{}, nil
	}
	return result, err
}

// metaOf returns the metadata of a request's object. Of an object that is gone, it has the
// namespace and the name.
func (w *RingReconciler) metaOf(request reconcile.Request) (object.Meta, error) {
	k, err := w.kindOf(w.kinds[0].example)
	if err != nil {
		return object.Meta{}, err
	}
	key := object.Key(request.NamespacedName)
	if !k.namespaced {
		key.Namespace = ""
	}
	if p := k.informerSet.in(key.Namespace); p != nil {
		if obj, ok := p.store.Snapshot().Get(key); ok {
			return object.MetaOf(obj), nil
		}
	}
	return object.Meta{Namespace: key.Namespace, Name: key.Name}, nil
}

func (w *RingReconciler) kindOf(example client.Object) (*kind, error) {
	c := w.ring.cache.Load()
	gvk, err := apiutil.GVKForObject(example, c.scheme)
	if err != nil {
		return nil, err
	}
	return c.kindFor(kindKey{gvk, viewOf(example)})
}

// Start implements [crsource.Source]. It is called by the controller, and returns at once. Its
// goroutine ends after ctx is done and the last reconcile has ended.
func (w *RingReconciler) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	if w.ring.cache.Load() == nil {
		return errors.New("the Ring has no cache; set NewCache of the manager's options to Ring.NewCache")
	}
	for _, one := range w.kinds {
		if _, err := w.kindOf(one.example); err != nil {
			return fmt.Errorf("the kind of %T, whose objects a grant queues: %w", one.example, err)
		}
	}
	if !w.started.CompareAndSwap(false, true) {
		return errors.New("the result of Ring.Reconciler belongs to another controller already; make one for each")
	}
	go w.run(ctx, queue)
	return nil
}

func (w *RingReconciler) run(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	if !w.sync(ctx) {
		return
	}
	w.work.Run(ctx, func(granted func(object.Meta) bool) {
		for _, one := range w.kinds {
			w.queueAll(ctx, one, queue, granted)
		}
	})
}

// sync waits until the informers of all kinds have synced. It returns false if ctx is done first.
func (w *RingReconciler) sync(ctx context.Context) bool {
	for _, one := range w.kinds {
		for {
			_, err := w.ring.cache.Load().GetInformer(ctx, one.example)
			if ctx.Err() != nil {
				return false
			}
			if err == nil {
				break
			}
			log.FromContext(ctx).Error(err, "Failed to get the informer whose objects a grant queues")
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return false
			}
		}
	}
	return true
}

// queueAll gives the objects of granted buckets to a handler.
func (w *RingReconciler) queueAll(ctx context.Context, of regranted, queue workqueue.TypedRateLimitingInterface[reconcile.Request], granted func(object.Meta) bool) {
	k, err := w.kindOf(of.example)
	if err != nil {
		log.FromContext(ctx).Error(err, "Failed to queue the objects of buckets that were granted")
		return
	}
	// A handler may map a whole object to requests of any bucket.
	all := of.mapped && w.ring.cache.Load().settings.whole[k.gvk]
	for _, p := range k.informerSet.all {
		for obj := range p.store.Snapshot().All() {
			if all || granted(object.MetaOf(obj)) {
				of.handler.Generic(ctx, event.GenericEvent{Object: obj.(client.Object)}, queue)
			}
		}
	}
}
