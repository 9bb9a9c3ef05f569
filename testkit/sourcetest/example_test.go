// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// Pods is the resource of these examples.
var podResource = corev1.SchemeGroupVersion.WithResource("pods")

// An informer over a server in memory: the informer sees the writes of the test.
func Example() {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "blue"}})

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	factory := factories.New(client)
	cache := factories.For[*corev1.Pod](factory, podResource)
	if err := errors.Join(factory.Start(ctx), factory.WaitForCacheSync(ctx)); err != nil {
		log.Fatal(err)
	}

	green := pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "green"}})
	if err := cache.AwaitResourceVersion(ctx, green.ResourceVersion); err != nil {
		log.Fatal(err)
	}
	for pod := range cache.Store().Snapshot().All() {
		fmt.Println(object.KeyOf(pod))
	}
	if err := factory.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Unordered output:
	// shop/blue
	// shop/green
}

// A server that refuses the first two requests.
func ExampleServer_Inject() {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, podResource, "Pod")
	server.Inject(sourcetest.Fault{On: sourcetest.List, Times: 2, Do: sourcetest.Refuse(http.StatusForbidden)})

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	pods, err := source.New[*corev1.Pod](client, podResource, source.Options{Namespace: "shop"})
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		_, err := pods.List(context.Background(), source.ListOptions{Limit: 10}, func(*corev1.Pod) error { return nil })
		fmt.Println(apierrors.IsForbidden(err))
	}
	fmt.Println(server.Requests()[2])
	// Output:
	// true
	// true
	// false
	// list /api/v1/namespaces/shop/pods?limit=10
}
