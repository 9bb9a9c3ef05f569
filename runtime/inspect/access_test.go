// SPDX-License-Identifier: Apache-2.0

package inspect_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/runtime/inspect"
)

// TestOnlyLocalRequestsAreAnswered refuses other requests, even through a proxy or by an internet
// name of the loopback.
func TestOnlyLocalRequestsAreAnswered(t *testing.T) {
	for name, tc := range map[string]struct {
		from, host string
		header     string
		want       int
		why        string
	}{
		"loopback":              {from: "127.0.0.1:5000", host: "localhost:8080", want: 200},
		"another loopback":      {from: "127.8.0.1:5000", host: "127.0.0.1", want: 200},
		"IPv6":                  {from: "[::1]:5000", host: "[::1]:8080", want: 200},
		"IPv4 in IPv6":          {from: "[::ffff:127.0.0.1]:5000", host: "[::1]", want: 200},
		"with a final dot":      {from: "127.0.0.1:5000", host: "LOCALHOST.:8080", want: 200},
		"a Pod":                 {from: "10.0.0.7:5000", host: "localhost:8080", want: 403, why: "an address other than"},
		"the internet":          {from: "[2001:db8::1]:5000", host: "localhost:8080", want: 403, why: "an address other than"},
		"no address":            {from: "@", host: "localhost:8080", want: 403, why: "an address other than"},
		"DNS rebinding":         {from: "127.0.0.1:5000", host: "evil.example:8080", want: 403, why: "Host header"},
		"a name with localhost": {from: "127.0.0.1:5000", host: "localhost.evil.example", want: 403, why: "Host header"},
		"the Pod's own address": {from: "127.0.0.1:5000", host: "10.0.0.7:8080", want: 403, why: "Host header"},
		"no Host":               {from: "127.0.0.1:5000", host: "", want: 403, why: "Host header"},
		"a proxy":               {from: "127.0.0.1:5000", host: "localhost", header: "X-Forwarded-For", want: 403, why: "X-Forwarded-For"},
		"a proxy by RFC 7239":   {from: "127.0.0.1:5000", host: "localhost", header: "Forwarded", want: 403, why: "Forwarded"},
		"a proxy with Via":      {from: "127.0.0.1:5000", host: "localhost", header: "Via", want: 403, why: "Via"},
		"another header":        {from: "127.0.0.1:5000", host: "localhost", header: "X-Other", want: 200},
	} {
		t.Run(name, func(t *testing.T) {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				req := httptest.NewRequest(method, "/debug/informers", nil)
				req.RemoteAddr, req.Host = tc.from, tc.host
				if tc.header != "" {
					req.Header.Set(tc.header, "for=10.0.0.7")
				}
				w := httptest.NewRecorder()
				inspect.Handler(nil).ServeHTTP(w, req)
				want := tc.want
				if want == 200 && method == http.MethodPost {
					want = http.StatusMethodNotAllowed
				}
				if w.Code != want || !strings.Contains(w.Body.String(), tc.why) {
					t.Errorf("%s: status %d, want %d: %s", method, w.Code, want, w.Body)
				}
				if want == 403 {
					contains(t, w.Body.String(), "kubectl port-forward", "inspect.WithAuthorizer")
				}
			}
		})
	}
}

// TestWithAuthorizer answers a remote request with a token, and refuses a local one without.
func TestWithAuthorizer(t *testing.T) {
	h := inspect.Handler(nil, inspect.WithAuthorizer(func(req *http.Request) error {
		if req.Header.Get("Authorization") != "Bearer token" {
			return errors.New("there is no such token")
		}
		return nil
	}))
	remote := httptest.NewRequest(http.MethodGet, "http://controller.shop/debug/informers", nil)
	remote.RemoteAddr = "10.0.0.7:5000"
	remote.Header.Set("Authorization", "Bearer token")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, remote)
	same(t, "with the token", w.Code, http.StatusOK)
	w = get(h, "/", browser)
	same(t, "without", w.Code, http.StatusForbidden)
	same(t, "the answer", w.Body.String(), "inspect: refused: there is no such token\n")
	same(t, "without an authorizer", get(inspect.Handler(nil, inspect.WithAuthorizer(nil)), "/", browser).Code, http.StatusForbidden)
}
