// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/watchcache"
	"github.com/informer-gen/informer-gen/runtime/watchcache/memory"
	"github.com/informer-gen/informer-gen/runtime/watchcache/serve"
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
