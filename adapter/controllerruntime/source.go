// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	crsource "sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
)

// Source returns the events of an informer, for WatchesRawSource of a controller: h gets the events
// admitted by all predicates. The controller's workers wait until h has got the initial objects.
// The source runs no informer: [Runnable] does, or the program.
func Source[T client.Object](i *informer.SharedIndexInformer[T], h handler.TypedEventHandler[T, reconcile.Request], predicates ...predicate.TypedPredicate[T]) crsource.SyncingSource {
	return &events[T]{informer: i, handler: h, predicates: predicates}
}

type events[T client.Object] struct {
	// set once at construction
	informer   *informer.SharedIndexInformer[T]
	handler    handler.TypedEventHandler[T, reconcile.Request]
	predicates []predicate.TypedPredicate[T]

	// set once by Start, which comes before WaitForSync
	registration *informer.Registration
}

func (s *events[T]) String() string { return "informer source: " + reflect.TypeFor[T]().String() }

func (s *events[T]) Start(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	if s.informer == nil || s.handler == nil {
		return errors.New("the informer or the handler of the source is nil")
	}
	var err error
	s.registration, err = s.informer.AddEventHandler(informer.HandlerFuncs[T]{
		AddFunc: func(obj T, initial bool) {
			e := event.TypedCreateEvent[T]{Object: obj, IsInInitialList: initial}
			if s.admit(func(p predicate.TypedPredicate[T]) bool { return p.Create(e) }) {
				s.handler.Create(ctx, e, queue)
			}
		},
		UpdateFunc: func(old, obj T) {
			e := event.TypedUpdateEvent[T]{ObjectOld: old, ObjectNew: obj}
			if s.admit(func(p predicate.TypedPredicate[T]) bool { return p.Update(e) }) {
				s.handler.Update(ctx, e, queue)
			}
		},
		DeleteFunc: func(deleted informer.Deleted[T]) {
			e := event.TypedDeleteEvent[T]{Object: deleted.Object, DeleteStateUnknown: deleted.FinalStateUnknown}
			if s.admit(func(p predicate.TypedPredicate[T]) bool { return p.Delete(e) }) {
				s.handler.Delete(ctx, e, queue)
			}
		},
	}, informer.WithHandlerName(s.String()))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, s.registration.Remove)
	return nil
}

func (s *events[T]) admit(by func(predicate.TypedPredicate[T]) bool) bool {
	for _, p := range s.predicates {
		if !by(p) {
			return false
		}
	}
	return true
}

// WaitForSync waits until the handler has got the initial objects. If ctx is done first, the error
// has the state of the informer.
func (s *events[T]) WaitForSync(ctx context.Context) error {
	select {
	case <-s.registration.Synced():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the initial objects: %w; %s", context.Cause(ctx), s.informer.Status())
	}
}

// Runnable returns a runnable for a manager's Add, which runs the informers of a factory on every
// replica. It returns after all their goroutines have ended.
func Runnable(factory *factories.Factory) manager.Runnable { return factoryRunnable{factory} }

type factoryRunnable struct{ factory *factories.Factory }

func (r factoryRunnable) Start(ctx context.Context) error {
	if err := r.factory.Start(ctx); err != nil {
		return err
	}
	<-ctx.Done()
	return r.factory.Shutdown(context.WithoutCancel(ctx))
}

func (factoryRunnable) NeedLeaderElection() bool { return false }

var _ manager.LeaderElectionRunnable = factoryRunnable{}
