// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/bench/data"
	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/rig"
	"github.com/informer-gen/informer-gen/bench/server"
)

// controllerCache is a cache of controller-runtime.
type controllerCache struct {
	cache.Cache
	world     server.World
	transport *http.Transport
	end       func() error
}

func newControllerCache(e harness.Env, w server.World) (framework, error) {
	transport := &http.Transport{}
	c, err := cacheOf(e.Side)(configOf(e, w, transport), cache.Options{
		Scheme:           data.Scheme,
		Mapper:           mapperOf(w),
		DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, err
	}
	return &controllerCache{Cache: c, world: w, transport: transport}, nil
}

func cacheOf(s harness.Side) cache.NewCacheFunc {
	if s == harness.Ours {
		return controllerruntime.NewCache
	}
	return cache.New
}

func mapperOf(w server.World) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range w.Kinds() {
		mapper.AddSpecific(kind.GVK(), kind.Resource, kind.Resource, meta.RESTScopeNamespace)
	}
	return mapper
}

func (c *controllerCache) sync() error {
	c.end = runUntil(c.Start)
	var all []toolscache.DoneChecker
	for _, kind := range c.world.Kinds() {
		i, err := c.GetInformerForKind(context.Background(), kind.GVK(), cache.BlockUntilSynced(false))
		if err != nil {
			return err
		}
		all = append(all, i.HasSyncedChecker())
	}
	for _, one := range all { // as soon as they know; theirs looks each 100 ms
		if err := rig.Wait(one.Done(), "the informer to sync"); err != nil {
			return err
		}
	}
	return nil
}

func (c *controllerCache) see() (harness.Seen, error) { return seeAll(c, c.world) }

func seeAll(r client.Reader, w server.World) (saw harness.Seen, err error) {
	for _, kind := range w.Kinds() {
		empty, err := data.Scheme.New(kind.Resource.GroupVersion().WithKind(kind.Name + "List"))
		if err != nil {
			return saw, err
		}
		list := empty.(client.ObjectList)
		if err := r.List(context.Background(), list, client.UnsafeDisableDeepCopy); err != nil {
			return saw, err
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error { return count(&saw, item) }); err != nil {
			return saw, err
		}
	}
	return saw, nil
}

func (c *controllerCache) stop() error {
	defer c.transport.CloseIdleConnections()
	return c.end()
}

// reconciler does the work of a controller.
type reconciler func(context.Context, client.Reader, reconcile.Request) error

// controllerManager is a manager of controller-runtime, with a controller of each kind.
type controllerManager struct {
	manager.Manager
	world     server.World
	transport *http.Transport
	left      atomic.Int64  // objects to reconcile for the first time
	all       chan struct{} // closed when none is left
	end       func() error
}

func newControllerManager(e harness.Env, w server.World, r reconciler) (framework, error) {
	m := &controllerManager{world: w, transport: &http.Transport{}, all: make(chan struct{})}
	m.left.Store(int64(w.Objects()))
	yes := true
	var err error
	m.Manager, err = manager.New(configOf(e, w, m.transport), manager.Options{
		Scheme:         data.Scheme,
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapperOf(w), nil },
		NewCache:       cacheOf(e.Side),
		Cache:          cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		Metrics:        metrics.Options{BindAddress: "0"},
		Logger:         logr.Discard(),
		Controller:     config.Controller{SkipNameValidation: &yes},
	})
	if err != nil {
		return nil, err
	}
	for _, kind := range w.Kinds() {
		obj, err := data.Scheme.New(kind.GVK())
		if err != nil {
			return nil, err
		}
		err = builder.ControllerManagedBy(m).Named(kind.Resource.GroupResource().String()).For(obj.(client.Object)).Complete(m.first(r))
		if err != nil {
			return nil, err
		}
	}
	return m, nil
}

// first counts what r does, to see when it was called for each object that there is at first.
func (m *controllerManager) first(r reconciler) reconcile.Func {
	return func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		err := r(ctx, m.GetClient(), request)
		if m.left.Add(-1) == 0 {
			close(m.all)
		}
		return reconcile.Result{}, err
	}
}

func (m *controllerManager) sync() error {
	m.end = runUntil(m.Start)
	return rig.Wait(m.all, "each object to be reconciled")
}

func (m *controllerManager) see() (harness.Seen, error) { return seeAll(m.GetClient(), m.world) }

func (m *controllerManager) stop() error {
	defer m.transport.CloseIdleConnections()
	return m.end()
}
