// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/inspect"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// A program serves the page and a readiness check.
func Example() {
	client, err := source.NewClient(newShop(pod("shop", "blue")).Config())
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client)
	factories.For[*corev1.Pod](factory, corev1.SchemeGroupVersion.WithResource("pods"))
	mux := http.NewServeMux()
	mux.Handle("/debug/informers", inspect.Handler(factory))
	mux.Handle("/readyz", inspect.Ready(factory))

	ready := func() {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	ready()
	ctx := context.Background()
	if err := errors.Join(factory.Start(ctx), factory.WaitForCacheSync(ctx)); err != nil {
		log.Fatal(err)
	}
	ready()
	if err := factory.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 503 not ready: 1 of 1 informers have not synced: pods/v1 is not running; a factory's Start runs only informers made before it
	// 200 ok
}
