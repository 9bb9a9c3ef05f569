// SPDX-License-Identifier: Apache-2.0

package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

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

// Where keys are, and why nothing happens to one of them.
func ExampleQueue_StatusOf() {
	queue := workqueue.New[string](workqueue.Options{})
	queue.AddWith("blue", workqueue.AddOptions{Level: workqueue.Low})
	queue.AddWith("green", workqueue.AddOptions{After: time.Hour})
	status := queue.Status()
	fmt.Println(status.Low, status.Delayed, status.Oldest.Key)
	green, ok := queue.StatusOf("green")
	fmt.Println(ok, green.Ready, time.Until(green.Due).Round(time.Hour))
	// Output:
	// 1 1 blue
	// true false 1h0m0s
}
