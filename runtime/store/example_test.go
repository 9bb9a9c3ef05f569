// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

var (
	podsByNode = store.NewIndex("ByNode", func(pod *corev1.Pod, keys []string) []string {
		return append(keys, pod.Spec.NodeName)
	})
	podsByImage = store.NewIndex("ByImage", func(pod *corev1.Pod, keys []string) []string {
		for i := range pod.Spec.Containers {
			keys = append(keys, pod.Spec.Containers[i].Image)
		}
		return keys
	})
)

func newPod(name, node string, images ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Spec: corev1.PodSpec{NodeName: node}}
	for _, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Image: image})
	}
	return pod
}

func Example() {
	pods, err := store.New[*corev1.Pod](podsByNode, podsByImage)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pods.Update(func(x *store.Txn[*corev1.Pod]) error {
		for _, pod := range []*corev1.Pod{
			newPod("cart", "node-1", "cart:1", "proxy:3"),
			newPod("search", "node-1", "search:2", "proxy:3"),
			newPod("checkout", "node-2", "checkout:1", "proxy:3", "proxy:3"),
		} {
			if err := x.Set(pod); err != nil {
				return err
			}
		}
		x.SetResourceVersion("41")
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}

	snapshot := pods.Snapshot()
	var names []string
	for pod := range podsByNode.Lookup(snapshot, "node-1") {
		names = append(names, pod.Name)
	}
	fmt.Println("on node-1:", slices.Sorted(slices.Values(names)))
	fmt.Println("with the proxy:", podsByImage.Len(snapshot, "proxy:3"))
	fmt.Println("images:", slices.Sorted(podsByImage.Keys(snapshot)))
	fmt.Println("as of resourceVersion", snapshot.ResourceVersion())
	// Output:
	// on node-1: [cart search]
	// with the proxy: 3
	// images: [cart:1 checkout:1 proxy:3 search:2]
	// as of resourceVersion 41
}

// A Snapshot never changes.
func ExampleSnapshot() {
	pods, err := store.New[*corev1.Pod](podsByNode)
	if err != nil {
		fmt.Println(err)
		return
	}
	set := func(pod *corev1.Pod) {
		if err := pods.Update(func(x *store.Txn[*corev1.Pod]) error { return x.Set(pod) }); err != nil {
			fmt.Println(err)
		}
	}
	set(newPod("cart", "node-1"))
	before := pods.Snapshot()
	set(newPod("cart", "node-2"))
	after := pods.Snapshot()

	key := object.Key{Namespace: "shop", Name: "cart"}
	old, _ := before.Get(key)
	pod, _ := after.Get(key)
	fmt.Println("before:", old.Spec.NodeName, podsByNode.Len(before, "node-1"), podsByNode.Len(before, "node-2"))
	fmt.Println("after: ", pod.Spec.NodeName, podsByNode.Len(after, "node-1"), podsByNode.Len(after, "node-2"))
	// Output:
	// before: node-1 1 0
	// after:  node-2 0 1
}

// In a store without the index, Lookup reads every object.
func ExampleIndex_Lookup() {
	pods, err := store.New[*corev1.Pod]()
	if err != nil {
		fmt.Println(err)
		return
	}
	err = pods.Update(func(x *store.Txn[*corev1.Pod]) error { return x.Set(newPod("cart", "node-1")) })
	if err != nil {
		fmt.Println(err)
	}
	for pod := range podsByNode.Lookup(pods.Snapshot(), "node-1") {
		fmt.Println(pod.Name)
	}
	// Output: cart
}
