// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// A consumer takes one key after the other, with all deltas that wait for it.
func ExampleDeltaFIFO_Pop() {
	pod := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	queue := deltafifo.New(deltafifo.Options[*metav1.PartialObjectMetadata]{})
	queue.Add(pod("blue"))
	queue.Add(pod("green"))
	queue.Update(pod("blue"))
	queue.Close()

	for {
		err := queue.Pop(context.Background(), func(key object.Key, deltas deltafifo.Deltas[*metav1.PartialObjectMetadata]) error {
			newest, _ := deltas.Newest()
			fmt.Printf("%v: %d deltas, the newest is %v\n", key, len(deltas), newest.Type)
			return nil
		})
		if err != nil {
			fmt.Println(err)
			return
		}
	}
	// Output:
	// shop/blue: 2 deltas, the newest is Modified
	// shop/green: 1 deltas, the newest is Added
	// the queue is closed
}
