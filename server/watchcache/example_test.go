// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// A list at a version, and a watch from there on.
func Example() {
	storage := memory.New("spec.node")
	for _, data := range []string{
		`{"kind":"Widget","metadata":{"name":"one","namespace":"a","uid":"1"},"spec":{"node":"n1"}}`,
		`{"kind":"Widget","metadata":{"name":"two","namespace":"a","uid":"2"},"spec":{"node":"n2"}}`,
	} {
		if _, err := storage.Create(context.Background(), []byte(data)); err != nil {
			log.Fatal(err)
		}
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
	for _, object := range list.Objects {
		fmt.Println(object.Key, "on", object.Fields.Get("spec.node"))
	}

	// the changes on one node
	watcher, err := cache.Watch(ctx, watchcache.WatchOptions{
		After:  list.Version,
		Filter: watchcache.Filter{Fields: fields.OneTermEqualSelector("spec.node", "n2")},
		Format: watchcache.JSON{APIVersion: "samples.dev/v1", Kind: "Widget"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer watcher.Close()
	moved := `{"kind":"Widget","metadata":{"name":"two","namespace":"a","uid":"2"},"spec":{"node":"n1"}}`
	if _, err := storage.Update(context.Background(), []byte(moved)); err != nil {
		log.Fatal(err)
	}
	events, err := watcher.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, event := range events {
		_, _ = os.Stdout.Write(event.Frame)
	}

	cancel()
	<-done

	// Output:
	// a/one on n1
	// a/two on n2
	// {"type":"DELETED","object":{"kind":"Widget","metadata":{"resourceVersion":"4","name":"two","namespace":"a","uid":"2"},"spec":{"node":"n2"}}}
}
