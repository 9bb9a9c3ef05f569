// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/informer-gen/informer-gen/runtime/metrics/prometheus"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestRequestsAreInTheRegistry: controller-runtime's registry counts the requests of informers.
func TestRequestsAreInTheRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := requests(t)
		server := sourcetest.New()
		sourcetest.Serve[*corev1.Pod](server, corev1.SchemeGroupVersion.WithResource("pods"), "Pod")
		c := newOf(t, server, cache.Options{})
		start(t.Context(), t, c)
		if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
		if !c.WaitForCacheSync(t.Context()) {
			t.Fatal("the cache has not synced")
		}
		if got, want := requests(t)-before, len(server.Requests()); want == 0 || got != float64(want) {
			t.Errorf("the registry has %v more requests, the server %d", got, want)
		}
	})
}

// requests returns the successful requests to the host of newOf.
func requests(t *testing.T) (count float64) {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "rest_client_requests_total" {
			continue
		}
		for _, m := range family.GetMetric() {
			labels := map[string]string{}
			for _, pair := range m.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			if labels["host"] == "none.invalid" && labels["code"] == "200" && labels["method"] == "GET" {
				count += m.GetCounter().GetValue()
			}
		}
	}
	return count
}

// TestInformerMetricsInTheRegistry: controller-runtime's registry takes the metrics of informers,
// and New names the function for that.
func TestInformerMetricsInTheRegistry(t *testing.T) {
	if _, err := prometheus.New(ctrlmetrics.Registry); err == nil || !strings.Contains(err.Error(), "NewInformers is for a registry that has controller-runtime's metrics") {
		t.Errorf("New: %v", err)
	}
	informers, err := prometheus.NewInformers(ctrlmetrics.Registry)
	if err != nil {
		t.Fatal(err)
	}
	ctrlmetrics.Registry.Unregister(informers)
}
