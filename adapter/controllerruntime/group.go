// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"errors"
	"fmt"
	"slices"
	"time"

	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/adapter/internal/checker"
)

// group hands out the informers of several namespaces as one.
type group struct {
	// set once at construction
	checker.Checker // done when all members have synced
	name            string
	members         []*kindInformer
	spawn           func(func())    // runs f in a goroutine; f returns when stop is closed
	stop            <-chan struct{} // closed when the members end
}

var _ cache.Informer = (*group)(nil)

// follow makes the checker follow the members. It blocks until all have synced, or end.
func (g *group) follow() {
	var synced []<-chan struct{}
	for _, one := range g.members {
		synced = append(synced, one.informer.Synced())
	}
	doneAfter(synced, g.stop, g.Checker)
}

// AddEventHandler adds handler to all members, or to none.
func (g *group) AddEventHandler(handler clientcache.ResourceEventHandler) (clientcache.ResourceEventHandlerRegistration, error) {
	return g.AddEventHandlerWithOptions(handler, clientcache.HandlerOptions{})
}

func (g *group) AddEventHandlerWithResyncPeriod(handler clientcache.ResourceEventHandler, period time.Duration) (clientcache.ResourceEventHandlerRegistration, error) {
	return g.AddEventHandlerWithOptions(handler, clientcache.HandlerOptions{ResyncPeriod: &period})
}

func (g *group) AddEventHandlerWithOptions(handler clientcache.ResourceEventHandler, options clientcache.HandlerOptions) (clientcache.ResourceEventHandlerRegistration, error) {
	r := &groupRegistration{Checker: checker.New(g.name + " + event handler"), group: g}
	var synced []<-chan struct{}
	for _, one := range g.members {
		added, err := one.shared.AddEventHandlerWithOptions(handler, options)
		if err != nil {
			return nil, errors.Join(err, g.RemoveEventHandler(r))
		}
		r.of = append(r.of, added)
		synced = append(synced, syncedOf(added))
	}
	g.spawn(func() { doneAfter(synced, g.stop, r.Checker) })
	return r, nil
}

func (g *group) RemoveEventHandler(handle clientcache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*groupRegistration)
	if !ok || r.group != g {
		return fmt.Errorf("remove an event handler: a %T was not returned by AddEventHandler of this informer", handle)
	}
	var errs []error
	for i, of := range r.of {
		errs = append(errs, g.members[i].shared.RemoveEventHandler(of))
	}
	return errors.Join(errs...)
}

func (g *group) AddIndexers(indexers clientcache.Indexers) error {
	for _, one := range g.members {
		if err := one.shared.AddIndexers(indexers); err != nil {
			return err
		}
	}
	return nil
}

// HasSynced reports whether all members have synced. The checker follows a moment later.
func (g *group) HasSynced() bool {
	return !slices.ContainsFunc(g.members, func(one *kindInformer) bool { return !one.informer.HasSynced() })
}

func (g *group) IsStopped() bool {
	return !slices.ContainsFunc(g.members, func(one *kindInformer) bool { return !one.shared.IsStopped() })
}

type groupRegistration struct {
	// set once at construction
	checker.Checker // done when the handler has synced
	group           *group
	of              []clientcache.ResourceEventHandlerRegistration // by member
}

// HasSynced reports whether the handler has got the initial objects of all members. The checker
// follows a moment later.
func (r *groupRegistration) HasSynced() bool {
	return !slices.ContainsFunc(r.of, func(one clientcache.ResourceEventHandlerRegistration) bool { return !one.HasSynced() })
}

// doneAfter marks c as done when all channels of synced are closed. It gives up when stop is
// closed.
func doneAfter(synced []<-chan struct{}, stop <-chan struct{}, c checker.Checker) {
	for _, one := range synced {
		select {
		case <-one:
		case <-stop:
		}
		if !isClosed(one) {
			return
		}
	}
	checker.Done(c)
}
