// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest"
	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/upstream"
)

// A cache of the Pods of an API server, which is in memory here.
func Example() {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, resource, "Pod").Create(pod("shop", "one", "n1"))

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	storage, err := upstream.New(client, resource, upstream.Options{Kind: "Pod", Fields: []string{"spec.nodeName"}})
	if err != nil {
		log.Fatal(err)
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- cache.Run(ctx) }()
	if err := cache.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}
	list, err := cache.List(ctx, watchcache.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range list.Objects {
		fmt.Println(o.Key, "on", o.Fields.Get("spec.nodeName"))
	}
	cancel()
	<-done
	// Output: shop/one on n1
}
