// SPDX-License-Identifier: Apache-2.0

package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/adapter/etcd"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// cluster returns a client of a new etcd, as clientv3.New does, and a function that ends both.
func cluster() (client *clientv3.Client, end func()) {
	dir, err := os.MkdirTemp("", "etcd")
	if err != nil {
		log.Fatal(err)
	}
	client, stop, err := etcd.StartEtcd(dir)
	if err != nil {
		log.Fatal(err)
	}
	return client, func() {
		if err := errors.Join(stop(), os.RemoveAll(dir)); err != nil {
			log.Fatal(err)
		}
	}
}

// An API on etcd, without an API server. Each process that serves the API has a cache. With Fresh,
// it answers with the newest writes of other processes.
func Example() {
	client, end := cluster()
	defer end()
	storage := etcd.New(client, "/registry/samples.dev/widgets", "spec.node")
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		log.Fatal(err)
	}
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"},
		Kind:                 "Widget", Namespaced: true, Fields: []string{"spec.node"},
		Cache: cache, Writer: storage,
		Fresh: func(ctx context.Context) error { return storage.WaitUntilFresh(ctx, cache) },
	}}})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- cache.Run(ctx) }()
	if err := cache.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}

	// another process
	widget := `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"namespace":"a","name":"one"},"spec":{"node":"n1"}}`
	if _, err := storage.Create(ctx, []byte(widget)); err != nil {
		log.Fatal(err)
	}

	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/apis/samples.dev/v1/namespaces/a/widgets/one", nil))
	fmt.Println(answer.Code)
	cancel()
	<-done
	// Output: 200
}

// Several processes count in one object. An update of a stale version is refused, and its process
// starts again with the newest version.
func ExampleStorage_Update() {
	client, end := cluster()
	defer end()
	storage := etcd.New(client, "/registry/samples.dev/counters", "count")
	ctx := context.Background()
	if _, err := storage.Create(ctx, []byte(`{"metadata":{"name":"visits"},"count":0}`)); err != nil {
		log.Fatal(err)
	}
	count := func() error {
		for {
			objects, _, err := storage.List(ctx) // or a cache of the storage
			if err != nil {
				return err
			}
			var n int
			if _, err := fmt.Sscan(objects[0].Fields.Get("count"), &n); err != nil {
				return err
			}
			_, err = storage.Update(ctx, fmt.Appendf(nil, `{"metadata":{"name":"visits","resourceVersion":"%d"},"count":%d}`,
				objects[0].Version, n+1))
			if !errors.Is(err, watchcache.ErrConflict) {
				return err
			}
		}
	}
	results := make(chan error)
	for range 3 {
		go func() { results <- count() }()
	}
	fmt.Println(<-results, <-results, <-results)
	objects, _, err := storage.List(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(objects[0].Key, objects[0].Fields.Get("count"))
	// Output:
	// <nil> <nil> <nil>
	// visits 3
}
