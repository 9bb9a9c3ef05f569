// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"context"
	"fmt"
	"log"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// A consumer gets all waiting deltas, in order.
func ExampleDeltaFIFO_Pop() {
	type pod = *metav1.PartialObjectMetadata
	delta := func(kind deltafifo.Type, name string) deltafifo.Delta[pod] {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
		return deltafifo.Delta[pod]{Type: kind, Key: object.KeyOf(obj), Object: obj}
	}
	queue := deltafifo.New[pod](deltafifo.DefaultCapacity)
	err := queue.Push([]deltafifo.Delta[pod]{delta(deltafifo.Added, "blue"), delta(deltafifo.Added, "green"), delta(deltafifo.Modified, "blue")})
	if err != nil {
		log.Fatal(err)
	}
	deltas, err := queue.Pop(context.Background(), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range deltas {
		fmt.Println(d.Type, d.Key)
	}
	// Output:
	// ADDED shop/blue
	// ADDED shop/green
	// MODIFIED shop/blue
}

// After Close, a consumer gets the remaining deltas, and then an error.
func ExampleDeltaFIFO_Close() {
	queue := deltafifo.New[*metav1.PartialObjectMetadata](deltafifo.DefaultCapacity)
	mark := deltafifo.Delta[*metav1.PartialObjectMetadata]{Type: deltafifo.Bookmark, ResourceVersion: "7"}
	if err := queue.Push([]deltafifo.Delta[*metav1.PartialObjectMetadata]{mark}); err != nil {
		log.Fatal(err)
	}
	queue.Close()
	for range 2 {
		deltas, err := queue.Pop(context.Background(), nil)
		fmt.Println(len(deltas), err)
	}
	// Output:
	// 1 <nil>
	// 0 the queue is closed
}
