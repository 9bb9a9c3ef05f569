// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"fmt"
	"log"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// An informer calls its handlers for each change, in order.
func ExampleSharedIndexInformer() {
	_, collection, client := cluster(pod("shop", "blue", "node-1"))
	src, err := source.New[*corev1.Pod](client, podResource, source.Options{})
	if err != nil {
		log.Fatal(err)
	}
	pods, err := informer.New(src)
	if err != nil {
		log.Fatal(err)
	}
	seen := make(chan struct{}, 10)
	_, err = pods.AddEventHandler(informer.HandlerFuncs[*corev1.Pod]{
		AddFunc: func(pod *corev1.Pod, isInInitialList bool) {
			fmt.Printf("%s is on %s (initially: %v)\n", pod.Name, pod.Spec.NodeName, isInInitialList)
			seen <- struct{}{}
		},
		UpdateFunc: func(old, pod *corev1.Pod) {
			fmt.Printf("%s moves from %s to %s\n", pod.Name, old.Spec.NodeName, pod.Spec.NodeName)
		},
		DeleteFunc: func(deleted informer.Deleted[*corev1.Pod]) {
			fmt.Printf("%s was last on %s\n", deleted.Key, deleted.Object.Spec.NodeName)
			seen <- struct{}{}
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- pods.Run(ctx) }()
	if err := pods.WaitForCacheSync(ctx); err != nil {
		log.Fatal(err)
	}
	<-seen
	collection.Update(pod("shop", "blue", "node-2"))
	collection.Delete("shop", "blue")
	<-seen
	cancel()
	fmt.Println(<-ended)
	// Output:
	// blue is on node-1 (initially: true)
	// blue moves from node-1 to node-2
	// shop/blue was last on node-2
	// context canceled
}

// PodByNode indexes Pods as generated code does for the marker
//
//	+informer:index:name=ByNode,field=.spec.nodeName
var PodByNode = store.NewIndex("ByNode", func(pod *corev1.Pod, keys []string) []string {
	return append(keys, pod.Spec.NodeName)
})

// An index is queried on one snapshot, with typed keys.
func ExampleWithIndexes() {
	_, _, client := cluster(pod("shop", "blue", "node-1"), pod("shop", "green", "node-2"), pod("shop", "red", "node-1"))
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.For[*corev1.Pod](factory, podResource, informer.WithIndexes(PodByNode))
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))

	snapshot := pods.Store().Snapshot()
	var names []string
	for pod := range PodByNode.Lookup(snapshot, "node-1") {
		names = append(names, pod.Name)
	}
	slices.Sort(names)
	fmt.Println(names, "of", snapshot.Len(), "at version", snapshot.ResourceVersion())
	must(factory.Shutdown(ctx))
	// Output: [blue red] of 3 at version 4
}

// A program can wait until the store has what the program has written.
func ExampleSharedIndexInformer_AwaitResourceVersion() {
	_, collection, client := cluster()
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))

	// In a program, this is the result of the client's Create.
	written := collection.Create(pod("shop", "blue", "node-1"))
	must(pods.AwaitResourceVersion(ctx, written.ResourceVersion))
	_, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
	fmt.Println(ok)
	must(factory.Shutdown(ctx))
	// Output: true
}

type fatal struct{}

func (fatal) Fatal(v ...any) { log.Fatal(v...) }
