// SPDX-License-Identifier: Apache-2.0

package devserver

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	"k8s.io/apiserver/pkg/storage/storagebackend/factory"
	"k8s.io/client-go/tools/cache"
)

// storages records the live storages of custom resources. When a CRD changes, the API server
// replaces its storage and destroys the old one a second later. If it stops in between, it forgets
// the old one, so this package destroys it.
type storages struct {
	mu     sync.Mutex
	nextID int            // mu guards it
	alive  map[int]func() // mu guards it; functions that destroy each storage
}

func (s *storages) destroy() {
	s.mu.Lock()
	alive := s.alive
	s.alive = nil
	s.mu.Unlock()
	for _, destroy := range alive {
		destroy()
	}
}

func (s *storages) add(destroy func()) (destroyOnce func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.alive == nil {
		s.alive = map[int]func(){}
	}
	id := s.nextID
	s.nextID++
	once := sync.OnceFunc(destroy)
	s.alive[id] = once
	return func() {
		once()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.alive, id)
	}
}

func (s *storages) track(getter generic.RESTOptionsGetter) generic.RESTOptionsGetter {
	return trackingGetter{getter, s}
}

type trackingGetter struct {
	generic.RESTOptionsGetter
	storages *storages
}

func (g trackingGetter) GetRESTOptions(resource schema.GroupResource, example runtime.Object) (generic.RESTOptions, error) {
	opts, err := g.RESTOptionsGetter.GetRESTOptions(resource, example)
	if err != nil {
		return opts, err
	}
	decorate := opts.Decorator
	opts.Decorator = func(
		config *storagebackend.ConfigForResource,
		resourcePrefix string,
		keyFunc func(runtime.Object) (string, error),
		newFunc func() runtime.Object,
		newListFunc func() runtime.Object,
		attrs storage.AttrFunc,
		triggers storage.IndexerFuncs,
		indexers *cache.Indexers,
	) (storage.Interface, factory.DestroyFunc, error) {
		store, destroy, err := decorate(config, resourcePrefix, keyFunc, newFunc, newListFunc, attrs, triggers, indexers)
		if err == nil {
			destroy = g.storages.add(destroy)
		}
		return store, destroy, err
	}
	return opts, nil
}
