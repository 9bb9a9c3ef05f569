// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestPanicInMatchLocksNothing recovers from the panic, as controllers do.
func TestPanicInMatchLocksNothing(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	server.Inject(sourcetest.Fault{Match: func(sourcetest.Request) bool { panic("a mistake") }, Do: sourcetest.Refuse(503)})
	func() {
		defer func() {
			if r := recover(); r != "a mistake" {
				t.Errorf("recovered %v", r)
			}
		}()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://server"+inShop, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp, err := server.RoundTrip(req); err == nil {
			resp.Body.Close()
		}
	}()
	done := make(chan struct{})
	go func() { defer close(done); pods.All() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the server is still locked")
	}
}
