// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/informer-gen/informer-gen/runtime/manager/shard"
)

// Ring divides the work of a manager's controllers among the replicas of a program. The manager's
// options have its [Ring.NewCache] and [Ring.NewClient], it is added to the manager, and
// controllers use its [Ring.Reconciler]. docs/sharding.md has an example.
//
// One Ring is for one manager, with or without LeaderElection. With it, sharded controllers need
// NeedLeaderElection: false.
type Ring struct {
	// set once at construction
	ring  *shard.Ring
	whole []client.Object

	cache atomic.Pointer[Cache] // nil before NewCache
}

var (
	_ manager.Runnable               = (*Ring)(nil)
	_ manager.LeaderElectionRunnable = (*Ring)(nil)
	_ client.NewClientFunc           = (*Ring)(nil).NewClient
	_ cache.NewCacheFunc             = (*Ring)(nil).NewCache
)

// NewRing returns a Ring for the members of ring, which must not be nil. The cache has all objects
// of the kinds of whole, in each view. Of other kinds, it has the objects of the buckets of this
// process: Get of another object fails with NotFound at once, and List leaves it out, also in
// namespaces of cache.Options.DefaultNamespaces.
func NewRing(ring *shard.Ring, whole ...client.Object) *Ring {
	return &Ring{ring: ring, whole: whole}
}

// NewCache is [NewCache] with informers that read the buckets of this process; see [NewRing], and
// [github.com/informer-gen/informer-gen/runtime/informer.WithRing]. AddNamespace and
// RemoveNamespace of the cache return an error for the kinds that are not whole.
func (r *Ring) NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	c, err := New(config, opts)
	if err != nil {
		return nil, err
	}
	whole := map[schema.GroupVersionKind]bool{}
	for _, obj := range r.whole {
		gvk, err := apiutil.GVKForObject(obj, c.scheme)
		if err != nil {
			return nil, fmt.Errorf("controllerruntime: the kind of %T, which NewRing was given: %w", obj, err)
		}
		whole[gvk] = true
	}
	c.settings.ring, c.settings.whole = r.ring, whole
	if !r.cache.CompareAndSwap(nil, c) {
		return nil, errors.New("controllerruntime: the Ring has a cache already; make a Ring for each manager")
	}
	return c, nil
}

// NewClient is client.New with the fence of the ring: requests with the context of a reconcile
// leave this process only while it owns the bucket; see [shard.Ring.Fence]. The client has its own
// connections, made from config; the HTTPClient of opts is not used.
func (r *Ring) NewClient(config *rest.Config, opts client.Options) (client.Client, error) {
	opts.HTTPClient = nil
	return client.New(r.ring.Fence(config), opts)
}

// Start takes part in the ring until ctx is done. The manager calls it, when its caches have
// synced. If this process is lost to the ring, the error wraps [shard.ErrLost] and ends the
// manager; the process should end.
func (r *Ring) Start(ctx context.Context) error {
	err := r.ring.Run(ctx, func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})
	if ctx.Err() != nil && err == context.Cause(ctx) {
		return nil
	}
	return err
}

// NeedLeaderElection returns false: every replica takes part.
func (r *Ring) NeedLeaderElection() bool { return false }

// ringOf returns the ring of a kind's informers, or nil.
func (s *settings) ringOf(gvk schema.GroupVersionKind) *shard.Ring {
	if s.whole[gvk] {
		return nil
	}
	return s.ring
}
