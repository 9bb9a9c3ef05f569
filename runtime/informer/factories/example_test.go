// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// cluster returns a client of an API server in memory that has pods.
func cluster(existing ...*corev1.Pod) *source.Client {
	client, err := source.NewClient(newShop(existing...).Config())
	must(err)
	return client
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A factory starts its informers, waits for them, and stops them together. (Generated factories
// have an accessor for each kind.)
func ExampleFactory() {
	client := cluster(pod("shop", "blue", "node-1"), pod("lab", "green", "node-2"))
	ctx := context.Background()

	factory := factories.New(client, informer.WithNamespace("shop"))
	pods := factories.For[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods"))
	if err := factory.Start(ctx); err != nil {
		log.Fatal(err)
	}
	if err := factory.WaitForCacheSync(ctx); err != nil {
		log.Fatal(err)
	}
	blue, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
	fmt.Println(ok, blue.Spec.NodeName)
	if err := factory.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println(factory.Start(ctx))
	// Output:
	// true node-1
	// informer factory: Start: the factory was shut down
}

// One kind may have other options than the rest of the factory. Generated code has a WithPods with
// the resource filled in.
func ExampleWithKind() {
	client := cluster(pod("shop", "blue", "node-1"), pod("lab", "green", "node-2"))
	ctx := context.Background()
	factory := factories.New(client, informer.WithoutManagedFields(), factories.WithKind(podResource, factories.KindOptions[*corev1.Pod]{
		Namespaces: []string{"lab", "shop"},
		Transform: func(pod *corev1.Pod) (*corev1.Pod, error) {
			pod.Spec.Volumes, pod.Status = nil, corev1.PodStatus{}
			return pod, nil
		},
		Indexes: []store.AnyIndex[*corev1.Pod]{PodByNode},
	}))
	pods := factories.For[*corev1.Pod](factory, podResource)
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	fmt.Println(pods.Status().Name, "has", pods.Status().Objects, "objects in", len(pods.Status().Streams), "namespaces")
	fmt.Println("on node-2:", PodByNode.Len(pods.Store().Snapshot(), "node-2"))
	must(factory.Shutdown(ctx))
	// Output:
	// pods/v1 has 2 objects in 2 namespaces
	// on node-2: 1
}

// A kind can have any number of informers, each with other objects. In generated code,
// factory.Core().V1().Pods() has this With, which returns a PodInformer with its own Lister.
func ExampleKind_With() {
	client := cluster(pod("shop", "blue", "node-1"), pod("shop", "green", "node-2"))
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.NewKind[*corev1.Pod](factory, podResource)
	here := pods.With(factories.KindOptions[*corev1.Pod]{FieldSelector: fields.OneTermEqualSelector("spec.nodeName", "node-1")})
	informers := []*informer.SharedIndexInformer[*corev1.Pod]{pods.Informer(), here.Informer()}
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	for _, i := range informers {
		fmt.Println(i.Status().Name, "has", i.Status().Objects)
	}
	must(factory.Shutdown(ctx))
	// Output:
	// pods/v1 has 2
	// pods/v1 with fields "spec.nodeName=node-1" has 1
}

// If a program needs only metadata, the server sends nothing else.
func ExampleForMetadata() {
	client := cluster(pod("shop", "blue", "node-7"), pod("lab", "green", "node-8"))
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.ForMetadata(factory, podResource, informer.WithNamespace("shop"))
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	for pod := range pods.Store().Snapshot().All() {
		fmt.Println(pod.Namespace, pod.Name)
	}
	must(factory.Shutdown(ctx))
	// Output: shop blue
}

// A resource whose Go type is not known is read as unstructured objects, by the same factory.
func ExampleFor() {
	client := cluster(pod("shop", "blue", "node-7"))
	ctx := context.Background()
	factory := factories.New(client)
	pods := factories.For[*unstructured.Unstructured](factory, podResource)
	must(factory.Start(ctx))
	must(factory.WaitForCacheSync(ctx))
	for pod := range pods.Store().Snapshot().All() {
		node, _, err := unstructured.NestedString(pod.Object, "spec", "nodeName")
		must(err)
		fmt.Println(pod.GetKind(), pod.GetName(), node)
	}
	must(factory.Shutdown(ctx))
	// Output: Pod blue node-7
}
