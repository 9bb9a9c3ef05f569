// SPDX-License-Identifier: Apache-2.0

package prometheus_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	informermetrics "github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// One Provider, given to the factory, shows all of its informers.
func Example() {
	server := sourcetest.New()
	resource := corev1.SchemeGroupVersion.WithResource("pods")
	pods := sourcetest.Serve[*corev1.Pod](server, resource, "Pod")
	for _, name := range []string{"blue", "green"} {
		pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}})
	}
	client, err := source.NewClient(server.Config())
	if err != nil {
		log.Fatal(err)
	}

	registry := prometheus.NewRegistry()
	provider, err := informermetrics.New(registry)
	if err != nil {
		log.Fatal(err)
	}
	factory := factories.New(client, informer.WithMetrics(provider))
	factories.For[*corev1.Pod](factory, resource)
	ctx := context.Background()
	if err := errors.Join(factory.Start(ctx), factory.WaitForCacheSync(ctx)); err != nil {
		log.Fatal(err)
	}

	// A program does this: http.Handle("/metrics", promhttp.HandlerFor(registry,
	// promhttp.HandlerOpts{}))
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		for _, name := range []string{"informer_objects", "informer_synced", "informer_failures_total"} {
			if strings.HasPrefix(lines.Text(), name) {
				fmt.Println(lines.Text())
			}
		}
	}
	if err := factory.Shutdown(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// informer_objects{informer="pods/v1"} 2
	// informer_synced{informer="pods/v1"} 1
}
