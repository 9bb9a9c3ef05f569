// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http/httptest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/server/memory"
	"github.com/informer-gen/informer-gen/server/serve"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// Widgets in memory, for clients of an API server.
func Example() {
	storage := memory.New("spec.node")
	widget := `{"apiVersion":"samples.dev/v1","kind":"Widget","metadata":{"name":"one","namespace":"a","uid":"1"},"spec":{"node":"n1"}}`
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := storage.Create(ctx, []byte(widget)); err != nil {
		log.Fatal(err)
	}
	cache, err := watchcache.New(watchcache.Config{Storage: storage})
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- cache.Run(ctx) }()
	if err := cache.WaitReady(ctx); err != nil {
		log.Fatal(err)
	}

	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"},
		Kind:                 "Widget", Namespaced: true, Fields: []string{"spec.node"}, Cache: cache,
	}}})
	if err != nil {
		log.Fatal(err)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/apis/samples.dev/v1/widgets?fieldSelector=spec.node=n2", nil))
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Code, string(body))

	cancel()
	<-done
	// Output: 200 {"kind":"WidgetList","apiVersion":"samples.dev/v1","metadata":{"resourceVersion":"2"},"items":[]}
}

// An API without an API server behind it. Clients may write, but only in namespace a.
func ExampleConfig() {
	storage := memory.New()
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
	resource := schema.GroupVersionResource{Group: "samples.dev", Version: "v1", Resource: "widgets"}
	handler, err := serve.New(serve.Config{
		Resources: []serve.Resource{{
			GroupVersionResource: resource, Kind: "Widget", Namespaced: true, Cache: cache, Writer: storage,
		}},
		Authorize: func(_ context.Context, a serve.Attributes) error {
			if a.Namespace != "a" {
				return apierrors.NewForbidden(a.Resource.GroupResource(), a.Name, errors.New("not your namespace"))
			}
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(handler) // in a program, serve.NewServer(handler) and a listener

	client, err := dynamic.NewForConfigAndClient(&rest.Config{Host: server.URL}, server.Client())
	if err != nil {
		log.Fatal(err)
	}
	for _, namespace := range []string{"a", "b"} {
		widget := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "samples.dev/v1", "kind": "Widget", "metadata": map[string]any{"name": "one"},
		}}
		created, err := client.Resource(resource).Namespace(namespace).Create(ctx, widget, metav1.CreateOptions{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(created.GetName(), "is at version", created.GetResourceVersion())
	}

	server.Close()
	cancel()
	<-done
	// Output:
	// one is at version 2
	// widgets.samples.dev is forbidden: not your namespace
}
