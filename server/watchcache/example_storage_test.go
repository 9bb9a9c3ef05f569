// SPDX-License-Identifier: Apache-2.0

package watchcache_test

import (
	"context"
	"fmt"
	"log"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/server/watchcache"
)

// orders is a Storage over a database table with orders in JSON, and the feed of its changes.
type orders struct {
	table   []string
	version uint64 // of the table
	feed    chan string
}

func (o *orders) List(context.Context) (objects []*watchcache.Object, version uint64, err error) {
	for _, row := range o.table {
		object, err := watchcache.ParseJSON([]byte(row), "spec.state")
		if err != nil {
			return nil, 0, err
		}
		objects = append(objects, object)
	}
	return objects, o.version, nil
}

func (o *orders) Watch(ctx context.Context, _ uint64, emit func(watchcache.Event) error) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case row := <-o.feed:
			object, err := watchcache.ParseJSON([]byte(row), "spec.state")
			if err != nil {
				return err
			}
			if err := emit(watchcache.Event{Type: watch.Modified, Object: object, Version: object.Version}); err != nil {
				return err
			}
		}
	}
}

// A program gives its own data the lists and watches of an API server.
func ExampleStorage() {
	storage := &orders{
		table:   []string{`{"metadata":{"name":"one","uid":"1","resourceVersion":"7"},"spec":{"state":"new"}}`},
		version: 7,
		feed:    make(chan string, 1),
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage, Name: "orders"})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- cache.Run(ctx) }()
	if err := cache.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}

	// An order that enters the watch's selection is ADDED, whatever the change was.
	paid, err := cache.Watch(ctx, watchcache.WatchOptions{
		Filter: watchcache.Filter{Fields: fields.OneTermEqualSelector("spec.state", "paid")},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer paid.Close()
	storage.feed <- `{"metadata":{"name":"one","uid":"1","resourceVersion":"8"},"spec":{"state":"paid"}}`
	events, err := paid.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, event := range events {
		fmt.Println(event.Type, event.Object.Key, event.Object.Fields.Get("spec.state"))
	}
	one, err := cache.Get(ctx, "one", 8) // at least as new as version 8
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(one.Key, one.Version)
	cancel()
	<-done
	// Output:
	// ADDED one paid
	// one 8
}
