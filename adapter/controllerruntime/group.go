// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// group hands out the informers of several namespaces as one. A handler may be called by several of
// them at once.
type group struct {
	// set once at construction
	members []clientcache.SharedIndexInformer
	synced  *allDone
}

var _ cache.Informer = (*group)(nil)

func newGroup(members []clientcache.SharedIndexInformer, owner goroutines) *group {
	g := &group{members: members, synced: newAllDone(owner)}
	for _, one := range members {
		g.synced.checkers = append(g.synced.checkers, one.HasSyncedChecker())
	}
	return g
}

// AddEventHandler adds handler to all members, or to none.
func (g *group) AddEventHandler(handler clientcache.ResourceEventHandler) (clientcache.ResourceEventHandlerRegistration, error) {
	return g.AddEventHandlerWithOptions(handler, clientcache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandler with a resync period.
func (g *group) AddEventHandlerWithResyncPeriod(handler clientcache.ResourceEventHandler, period time.Duration) (clientcache.ResourceEventHandlerRegistration, error) {
	return g.AddEventHandlerWithOptions(handler, clientcache.HandlerOptions{ResyncPeriod: &period})
}

// AddEventHandlerWithOptions is AddEventHandler with client-go's options.
func (g *group) AddEventHandlerWithOptions(handler clientcache.ResourceEventHandler, options clientcache.HandlerOptions) (clientcache.ResourceEventHandlerRegistration, error) {
	r := &groupRegistration{group: g, synced: newAllDone(g.synced.owner)}
	for _, one := range g.members {
		added, err := one.AddEventHandlerWithOptions(handler, options)
		if err != nil {
			return nil, errors.Join(err, g.RemoveEventHandler(r))
		}
		r.of = append(r.of, added)
		r.synced.checkers = append(r.synced.checkers, added.HasSyncedChecker())
	}
	return r, nil
}

// RemoveEventHandler removes a handler from all members.
func (g *group) RemoveEventHandler(handle clientcache.ResourceEventHandlerRegistration) error {
	r, ok := handle.(*groupRegistration)
	if !ok || r.group != g {
		return fmt.Errorf("remove an event handler: %T is not what AddEventHandler of this informer has returned", handle)
	}
	var errs []error
	for i, of := range r.of {
		errs = append(errs, g.members[i].RemoveEventHandler(of))
	}
	return errors.Join(errs...)
}

// AddIndexers adds indexers to all members.
func (g *group) AddIndexers(indexers clientcache.Indexers) error {
	for _, one := range g.members {
		if err := one.AddIndexers(indexers); err != nil {
			return err
		}
	}
	return nil
}

// HasSynced reports whether all members have synced.
func (g *group) HasSynced() bool {
	return !slices.ContainsFunc(g.members, func(one clientcache.SharedIndexInformer) bool { return !one.HasSynced() })
}

// HasSyncedChecker returns a checker that is done when all members have synced.
func (g *group) HasSyncedChecker() clientcache.DoneChecker { return g.synced }

// IsStopped reports whether all members have stopped.
func (g *group) IsStopped() bool {
	return !slices.ContainsFunc(g.members, func(one clientcache.SharedIndexInformer) bool { return !one.IsStopped() })
}

// groupRegistration is a handler of all members of a group.
type groupRegistration struct {
	// set once at construction
	group  *group
	of     []clientcache.ResourceEventHandlerRegistration // by member
	synced *allDone
}

// HasSynced reports whether the handler has got the initial objects of all members.
func (r *groupRegistration) HasSynced() bool {
	return !slices.ContainsFunc(r.of, func(one clientcache.ResourceEventHandlerRegistration) bool { return !one.HasSynced() })
}

// HasSyncedChecker returns a checker that is done when the handler has synced.
func (r *groupRegistration) HasSyncedChecker() clientcache.DoneChecker { return r.synced }

// goroutines runs a function that ends when stop is closed in a goroutine that is waited for.
type goroutines struct {
	run  func(func())
	stop <-chan struct{}
}

// allDone is a DoneChecker that is done when all of several are.
type allDone struct {
	// set once at construction
	checkers []clientcache.DoneChecker
	owner    goroutines
	done     chan struct{}

	once sync.Once // of the goroutine that closes done
}

func newAllDone(owner goroutines) *allDone {
	return &allDone{owner: owner, done: make(chan struct{})}
}

// Name returns the names of all.
func (a *allDone) Name() string {
	var names []string
	for _, one := range a.checkers {
		names = append(names, one.Name())
	}
	return strings.Join(names, ", ")
}

// Done returns a channel that is closed when all are done. If the informers end before, it stays
// open.
func (a *allDone) Done() <-chan struct{} {
	a.once.Do(func() {
		if slices.ContainsFunc(a.checkers, func(one clientcache.DoneChecker) bool { return !clientcache.IsDone(one) }) {
			a.owner.run(a.wait)
			return
		}
		close(a.done)
	})
	return a.done
}

func (a *allDone) wait() {
	for _, one := range a.checkers {
		select {
		case <-one.Done():
		case <-a.owner.stop:
			return
		}
	}
	close(a.done)
}
