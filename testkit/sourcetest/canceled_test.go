// SPDX-License-Identifier: Apache-2.0

package sourcetest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestCanceledContextSendsNothing has a controller write after its stop.
func TestCanceledContextSendsNothing(t *testing.T) {
	server := sourcetest.New()
	pods := sourcetest.Serve[*corev1.Pod](server, podResource, "")
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	body := strings.NewReader(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server"+inShop, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.RoundTrip(req)
	if err == nil {
		resp.Body.Close()
	}
	if !errors.Is(err, stopped) {
		t.Errorf("Create: error %v, want the context's cause", err)
	}
	if n, sent := len(pods.All()), server.Requests(); n > 0 || len(sent) > 0 {
		t.Errorf("%d objects created by the requests %v, want none", n, sent)
	}
}
