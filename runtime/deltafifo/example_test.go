// SPDX-License-Identifier: Apache-2.0

package deltafifo_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log"
	"slices"

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

// A consumer learns from a full state which of its objects are gone.
func ExampleDeltaFIFO_EndReplace() {
	pod := func(name string) *metav1.PartialObjectMetadata {
		return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}}
	}
	known := []*metav1.PartialObjectMetadata{pod("blue"), pod("green")} // the consumer's cache
	queue := deltafifo.New(deltafifo.Options[*metav1.PartialObjectMetadata]{
		Known: func() iter.Seq[*metav1.PartialObjectMetadata] { return slices.Values(known) },
	})
	// This is a list that a reflector reads after its watch has expired.
	err := errors.Join(queue.BeginReplace(), queue.Replace(pod("green")), queue.Replace(pod("red")), queue.EndReplace("7"))
	if err != nil {
		log.Fatal(err)
	}

	for range 3 {
		err := queue.Pop(context.Background(), func(key object.Key, deltas deltafifo.Deltas[*metav1.PartialObjectMetadata]) error {
			for _, delta := range deltas {
				fmt.Printf("%v: %v, final state unknown: %v\n", key, delta.Type, delta.FinalStateUnknown)
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("synced:", queue.HasSynced())
	// Output:
	// shop/blue: Deleted, final state unknown: true
	// shop/green: Replaced, final state unknown: false
	// shop/red: Replaced, final state unknown: false
	// synced: true
}
