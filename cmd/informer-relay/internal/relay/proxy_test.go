// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestForwardedRequests shows which requests are passed on with strict and passWrites, after a
// review of the caller's right.
func TestForwardedRequests(t *testing.T) {
	s := newAPIServer(t, "ann list pods in shop", "ann get pods in shop web", "ann delete pods in shop web", "ann watch pods in shop",
		"ann list nodes in", "ann delete nodes in  one")
	s.pods.Create(pod("shop", "web"))
	config := configOf(t, `
	listen: {address: 127.0.0.1:0}
	access: {mode: TokenReview}
	resources:
	- {version: v1, resource: pods, strict: true}
	- {version: v1, resource: nodes, passWrites: true}
	shutdown: {delay: 0s, period: 0s}`)
	config.Access.AllowedFor = time.Hour // so that no review is needed when there is no API server
	r := s.start(t, config)
	r.await(t)
	c, shop := client(t), r.url+"/api/v1/namespaces/shop/pods"
	for _, test := range []struct {
		method, url, token string
		code               int
		passed             int64
	}{
		{http.MethodGet, shop, "ann", 200, 1},
		{http.MethodGet, shop + "?limit=1", "ann", 200, 1},
		{http.MethodGet, shop + "/web", "ann", 200, 1},
		{http.MethodGet, shop + "?resourceVersion=0", "ann", 200, 0},
		{http.MethodGet, shop + "?watch=true&timeoutSeconds=1", "ann", 200, 0},
		{http.MethodGet, r.url + "/api/v1/nodes", "ann", 200, 0},
		{http.MethodDelete, shop + "/web", "bob", 403, 0},
		{http.MethodDelete, shop + "/web", "", 401, 0},
		{http.MethodDelete, shop + "/web", "ann", 200, 1},
		{http.MethodDelete, r.url + "/api/v1/nodes/one", "ann", 404, 1},
	} {
		s.forwarded.Store(0)
		resp := send(t, c, test.method, test.url, test.token)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != test.code || s.forwarded.Load() != test.passed {
			t.Errorf("%s %s with the token %q: got %s %s, %v, %d passed on; want %d, %d", test.method, test.url, test.token, resp.Status, body, err, s.forwarded.Load(), test.code, test.passed)
		}
	}
	s.CloseClientConnections()
	s.Listener.Close()
	if code, body := get(t, c, shop, "ann"); code != 503 || !strings.Contains(body, "the API server can't be reached") {
		t.Errorf("without an API server: got %d %s, want 503", code, body)
	}
}
