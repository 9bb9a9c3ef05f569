// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestClientsAreNotSlowedDown makes more requests at once than client-go's default allows.
func TestClientsAreNotSlowedDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		sourcetest.Serve[*corev1.Pod](server, podResource, "").Create(pod("shop", "a"))
		client, err := dynamic.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for range 50 {
			if _, err := client.Resource(podResource).Namespace("shop").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("50 requests took %s, want 0s", took)
		}
	})
}

// TestClientsComeBackAfter429: client-go repeats requests, as with an overloaded API server.
func TestClientsComeBackAfter429(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		sourcetest.Serve[*corev1.Pod](server, podResource, "").Create(pod("shop", "a"))
		server.Inject(sourcetest.Fault{Times: 2, Do: sourcetest.Refuse(429)})
		client, err := dynamic.NewForConfig(server.Config())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := client.Resource(podResource).Namespace("shop").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 2*time.Second || len(server.Requests()) != 3 {
			t.Errorf("%d requests in %s, want 3, with a second between them", len(server.Requests()), took)
		}
	})
}
