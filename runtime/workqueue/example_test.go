// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/workqueue"
)

// A worker gets keys until the queue is shut down. An informer's handler would add them.
func Example() {
	queue := workqueue.New[object.Key](workqueue.Options{Name: "widgets"})
	queue.Add(object.Key{Namespace: "shop", Name: "blue"})
	queue.Add(object.Key{Namespace: "shop", Name: "green"})
	queue.Add(object.Key{Namespace: "shop", Name: "blue"})

	reconcile := func(item workqueue.Item[object.Key]) error {
		if item.Key.Name == "blue" && item.Failures == 0 {
			return errors.New("try again")
		}
		return nil
	}
	ctx := context.Background()
	var synced, workers sync.WaitGroup
	synced.Add(3)
	workers.Go(func() {
		for {
			item, err := queue.Get(ctx)
			if err != nil {
				return // workqueue.ErrShutDown
			}
			err = reconcile(item)
			fmt.Println(item.Key, err)
			item.Done(workqueue.Outcome{Failed: err != nil})
			synced.Done()
		}
	})
	synced.Wait()
	if err := queue.ShutDown(ctx, workqueue.Finish); err != nil {
		log.Fatal(err)
	}
	workers.Wait()
	// Output:
	// shop/blue try again
	// shop/green <nil>
	// shop/blue <nil>
}

// The keys of a tenant wait only for one key of each other tenant, however many it has.
func ExampleNewFair() {
	byNamespace := func(key object.Key) string { return key.Namespace }
	queue := workqueue.NewFair(workqueue.Options{Name: "widgets"}, byNamespace)
	for n := range 100_000 {
		queue.Add(object.Key{Namespace: "large", Name: fmt.Sprint("widget-", n)})
	}
	queue.Add(object.Key{Namespace: "small", Name: "blue"})
	queue.Add(object.Key{Namespace: "small", Name: "green"})
	for range 5 {
		item, err := queue.Get(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(item.Key)
		item.Done(workqueue.Outcome{})
	}
	// Output:
	// large/widget-0
	// small/blue
	// large/widget-1
	// small/green
	// large/widget-2
}
