// SPDX-License-Identifier: Apache-2.0

// Package caches makes watch caches for tests.
package caches

import (
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Run returns a filled cache, which runs until the test ends.
func Run(t *testing.T, config watchcache.Config) *watchcache.Cache {
	t.Helper()
	cache, err := watchcache.New(config)
	if err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	running.Go(func() { _ = cache.Run(t.Context()) }) // its error is the context's cause
	t.Cleanup(running.Wait)
	if err := cache.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cache
}

// Upstream returns a storage with the objects of an API server.
func Upstream(t *testing.T, api *rest.Config, resource schema.GroupVersionResource, opts upstream.Options) watchcache.Storage {
	t.Helper()
	client, err := source.NewClient(api)
	if err != nil {
		t.Fatal(err)
	}
	storage, err := upstream.New(client, resource, opts)
	if err != nil {
		t.Fatal(err)
	}
	return storage
}
