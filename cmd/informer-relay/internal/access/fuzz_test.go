// SPDX-License-Identifier: Apache-2.0

package access

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

// FuzzRequest shows that, for any headers, path, query and certificate, only ann's tokens and
// certificates are let through, and that each review names its caller.
func FuzzRequest(f *testing.F) {
	for _, authorization := range []string{"", "Bearer ann", "bearer  ann ", "Bearer eve", "Bearer", "Basic ann", "Bearer ann, Bearer bob", "Bearer \x00", "Bearer " + strings.Repeat("x", 1000)} {
		f.Add(authorization, "", "", "", "/api/v1/namespaces/shop/pods", "", "192.0.2.1:1", "localhost")
	}
	f.Add("", "Impersonate-User", "ann", "", "/apis", "", "[::1%eth0]:1", "evil.example")
	f.Add("Bearer ann", "authorization", "Bearer bob", "", "/api/v1/namespaces/shop/pods/../../x", "watch=true&fieldSelector=metadata.name=a,b!=c&labelSelector=a+in+(", "", "[::1]:80:80")
	f.Add("Bearer ann", "", "", "ann", "/api/v1/watch/namespaces/shop/pods/web", "fieldSelector=%zz", "@", "127.0.0.1")
	f.Fuzz(func(t *testing.T, authorization, header, value, name, path, query, remote, host string) {
		r := newReviewer()
		a := newAccess(t, configfile.Access{Mode: configfile.TokenReview}, r)
		req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		req.URL.Path, req.URL.RawQuery, req.RemoteAddr, req.Host = path, query, remote, host
		req.Header = http.Header{http.CanonicalHeaderKey(header): {value}}
		if authorization != "" {
			req.Header.Set("Authorization", authorization)
		}
		if name != "" {
			req.TLS = tlsOf(&x509.Certificate{Subject: pkix.Name{CommonName: name}, URIs: []*url.URL{{Scheme: "spiffe", Host: host}}})
		}
		answer := httptest.NewRecorder()
		a.Handler(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			err := a.Authorize(req.Context(), serve.AttributesOf(req))
			token := strings.TrimSpace(strings.TrimPrefix(strings.ToLower(req.Header.Get("Authorization")), "bearer"))
			if err == nil && name != "ann" && (name != "" || token != "ann" && token != "for-relay") {
				t.Errorf("%v with the certificate %q was let through", req.Header, name)
			}
			if err == nil && name != "" && r.lastSpec.User != name || err != nil && statusOf(err).Code < 400 {
				t.Errorf("got %v; the review names %q, want %q from the certificate", err, r.lastSpec.User, name)
			}
		})).ServeHTTP(answer, req)
		if strings.HasPrefix(http.CanonicalHeaderKey(header), "Impersonate-") && answer.Code != http.StatusForbidden {
			t.Errorf("%q was let through", header)
		}
		network := networkOf(addressOf(req))
		if bits := network.Bits(); network != (netip.Prefix{}) && bits != 32 && bits != 64 {
			t.Errorf("the network of %q is %v, want a /32 or a /64", remote, network)
		}
		if isLocal(host) != isLocal(strings.ToUpper(host)) {
			t.Errorf("isLocal(%q) depends on the case", host)
		}
	})
}

// FuzzAnswer shows that, for any answer of the API server, a caller is let through only by a yes,
// and otherwise gets 401, 403 or 503.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{
		"", "{", "null", "[]", `{"status":{"authenticated":true,"allowed":true}}`, `{"status":{"authenticated":true,"user":{"username":"ann","extra":{"a":["b"],"":null}}}}`,
		`{"status":{"allowed":false,"evaluationError":"x"}}`, `{"kind":"Status","code":99999,"message":"x"}`, `{"status":{"allowed":"yes"}}`, `{"status":{"user":{"extra":{"a":1}}}}`,
	} {
		for _, code := range []int{200, 201, 401, 429, 500} {
			f.Add(code, body, true)
			f.Add(code, body, false)
		}
	}
	f.Fuzz(func(t *testing.T, code int, body string, self bool) {
		if code < 100 || code > 999 {
			return
		}
		r := newReviewer()
		r.fail = func(string) (int, string) { return code, body }
		mode := configfile.TokenReview
		if self {
			mode = configfile.SelfSubjectAccessReview
		}
		a := newAccess(t, configfile.Access{Mode: mode}, r)
		err := a.Authorize(contextOf(t, a, bearer("ann"), nil), listShop)
		if err == nil && (code < 200 || code > 299 || !strings.Contains(strings.ToLower(body), "allowed")) {
			t.Errorf("the answer %d %s lets a caller through", code, body)
		}
		if got := statusOf(err).Code; err != nil && got != 401 && got != 403 && got != 503 {
			t.Errorf("after the answer %d %s, the caller got %v", code, body, err)
		}
	})
}
