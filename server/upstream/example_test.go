// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/server/upstream"
	"github.com/informer-gen/informer-gen/server/watchcache"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// A cache of the Pods of an API server, here in memory.
func Example() {
	server := sourcetest.New()
	sourcetest.Serve[*corev1.Pod](server, resource, "Pod").Create(pod("shop", "one", "n1"))

	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	storage, err := upstream.New(client, resource, upstream.Options{Kind: "Pod", Fields: []string{"spec.nodeName"}})
	if err != nil {
		log.Fatal(err)
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- cache.Run(ctx) }()
	if err := cache.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}
	list, err := cache.List(ctx, watchcache.ListOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range list.Objects {
		fmt.Println(o.Key, "on", o.Fields.Get("spec.nodeName"))
	}
	cancel()
	<-done
	// Output: shop/one on n1
}

// A storage of the running Pods of one namespace, without their managedFields.
func ExampleNew() {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, resource, "Pod", "status.phase")
	for name, phase := range map[string]corev1.PodPhase{"one": corev1.PodRunning, "two": corev1.PodSucceeded} {
		p := pod("shop", name, "n1")
		p.Status.Phase = phase
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", Operation: metav1.ManagedFieldsOperationUpdate}}
		pods.Create(p)
	}
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}
	storage, err := upstream.New(client, resource, upstream.Options{
		Kind:          "Pod",
		Namespace:     "shop",
		FieldSelector: "status.phase=Running",
		Drop:          []string{".metadata.managedFields"},
	})
	if err != nil {
		log.Fatal(err)
	}
	objects, _, err := storage.List(context.Background()) // usually called by a cache
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range objects {
		fmt.Println(o.Key, bytes.Contains(o.Bytes, []byte("kubelet")))
	}
	// Output: shop/one false
}
