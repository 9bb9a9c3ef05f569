// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/server/serve"
)

var (
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	deploys    = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
	listShop   = serve.Attributes{Verb: "list", Resource: pods, Namespace: "shop"}
	listAll    = serve.Attributes{Verb: "list", Resource: deploys}
)

// TestAuthorize checks the answers to callers in all modes that ask the API server. The refusals
// have an API server's words.
func TestAuthorize(t *testing.T) {
	tokens, selves := configfile.Access{Mode: configfile.TokenReview}, configfile.Access{Mode: configfile.SelfSubjectAccessReview}
	forRelay := configfile.Access{Mode: configfile.TokenReview, Audiences: []string{"other", "relay"}}
	failing := func(path string, code int, body string) func(string) (int, string) {
		return func(p string) (int, string) {
			if p == path {
				return code, body
			}
			return 0, ""
		}
	}
	// One of the API server's authorizers could not decide; the request is allowed if another one
	// allows it.
	const undecided = `{"status":{"allowed":false,"evaluationError":"webhook: connection refused"}}`
	const decided = `{"status":{"allowed":true,"evaluationError":"webhook: connection refused"}}`
	const unavailable = "the API server can't review the caller's rights; try again"
	for name, test := range map[string]struct {
		access  configfile.Access
		header  http.Header
		what    serve.Attributes
		fail    func(string) (int, string)
		code    int32 // 0: allowed
		message string
	}{
		"token allowed":           {tokens, bearer("ann"), listShop, nil, 0, ""},
		"token denied":            {tokens, bearer("ann"), listAll, nil, 403, `deployments.apps is forbidden: User "ann" cannot list resource "deployments" in API group "apps" at the cluster scope`},
		"token denied with words": {tokens, bearer("bob"), listShop, nil, 403, `pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "shop": bob is banned`},
		"token denied an object": {tokens, bearer("bob"), serve.Attributes{Verb: "get", Resource: pods, Namespace: "shop", Name: "web", Subresource: "log"}, nil, 403,
			`pods "web" is forbidden: User "bob" cannot get resource "pods/log" in API group "" in the namespace "shop": bob is banned`},
		"token allowed its namespace":           {tokens, bearer("ann"), serve.Attributes{Verb: "get", Resource: namespaces, Name: "shop"}, nil, 0, ""},
		"token allowed to delete its namespace": {tokens, bearer("ann"), serve.Attributes{Verb: "delete", Resource: namespaces, Name: "shop"}, nil, 0, ""},
		"token denied all namespaces": {tokens, bearer("ann"), serve.Attributes{Verb: "list", Resource: namespaces, Name: "shop"}, nil, 403,
			`namespaces "shop" is forbidden: User "ann" cannot list resource "namespaces" in API group "" at the cluster scope`},
		"token denied a path":        {tokens, bearer("bob"), serve.Attributes{Verb: "get", Path: "/apis"}, nil, 403, `forbidden: User "bob" cannot get path "/apis": bob is banned`},
		"token allowed a path":       {tokens, bearer("ann"), serve.Attributes{Verb: "get", Path: "/apis"}, nil, 0, ""},
		"token of no one":            {tokens, bearer("eve"), listShop, nil, 401, "Unauthorized"},
		"no token":                   {tokens, nil, listShop, nil, 401, "Unauthorized"},
		"another scheme":             {tokens, http.Header{"Authorization": {"Basic ann"}}, listShop, nil, 401, "Unauthorized"},
		"scheme in lower case":       {tokens, http.Header{"Authorization": {"bearer ann"}}, listShop, nil, 0, ""},
		"token for another audience": {forRelay, bearer("ann"), listShop, nil, 401, "Unauthorized"},
		"token for this audience":    {forRelay, bearer("for-relay"), listShop, nil, 0, ""},

		"token review fails":       {tokens, bearer("ann"), listShop, failing(tokenReviews, 500, "no"), 503, unavailable},
		"token review refused":     {tokens, bearer("ann"), listShop, failing(tokenReviews, 401, ""), 503, unavailable},
		"token review is no JSON":  {tokens, bearer("ann"), listShop, failing(tokenReviews, 200, "<html>"), 503, unavailable},
		"access review fails":      {tokens, bearer("ann"), listShop, failing(accessReviews, 429, ""), 503, unavailable},
		"access review refused":    {tokens, bearer("ann"), listShop, failing(accessReviews, 403, `{"kind":"Status","message":"relay may not"}`), 503, unavailable},
		"access review is no JSON": {tokens, bearer("ann"), listShop, failing(accessReviews, 201, "{"), 503, unavailable},
		"access review undecided":  {tokens, bearer("ann"), listShop, failing(accessReviews, 201, undecided), 503, unavailable},
		"access review decided":    {tokens, bearer("ann"), listShop, failing(accessReviews, 201, decided), 0, ""},

		"own token allowed":       {selves, bearer("ann"), listShop, nil, 0, ""},
		"own token denied":        {selves, bearer("bob"), listShop, nil, 403, `pods is forbidden: User "bob" cannot list resource "pods" in API group "" in the namespace "shop": bob is banned`},
		"own token of no one":     {selves, bearer("eve"), listShop, nil, 401, "Unauthorized"},
		"no own token":            {selves, nil, listShop, nil, 401, "Unauthorized"},
		"own review fails":        {selves, bearer("ann"), listShop, failing(selfAccessReviews, 500, ""), 503, unavailable},
		"own review undecided":    {selves, bearer("ann"), listShop, failing(selfAccessReviews, 201, undecided), 503, unavailable},
		"own review not allowed":  {selves, bearer("ann"), listShop, failing(selfAccessReviews, 403, ""), 503, unavailable},
		"own name can't be asked": {selves, bearer("bob"), listShop, failing(selfSubjectReviews, 500, ""), 503, unavailable},

		"everyone": {configfile.Access{Mode: configfile.None}, nil, listAll, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReviewer()
			r.fail = test.fail
			a := newAccess(t, test.access, r)
			err := a.Authorize(contextOf(t, a, test.header, nil), test.what)
			status := statusOf(err)
			if (err == nil) != (test.code == 0) || status.Code != test.code || status.Message != test.message {
				t.Fatalf("got %d %q (%v)\nwant %d %q", status.Code, status.Message, err, test.code, test.message)
			}
			if test.code == 503 && (status.Details == nil || status.Details.RetryAfterSeconds != 1) {
				t.Errorf("the answer has no RetryAfterSeconds: %+v", status)
			}
		})
	}
}

// TestReviewDescribesTheCaller checks that a review has all attributes of the caller and the
// request.
func TestReviewDescribesTheCaller(t *testing.T) {
	r := newReviewer()
	a := newAccess(t, configfile.Access{Mode: configfile.TokenReview}, r)
	what := serve.Attributes{Verb: "watch", Resource: deploys, Namespace: "shop", Name: "web", LabelSelector: "app=x", FieldSelector: "metadata.name=web"}
	if err := a.Authorize(contextOf(t, a, bearer("ann"), nil), what); err != nil {
		t.Fatal(err)
	}
	attributes := &authorizationv1.ResourceAttributes{
		Verb: "watch", Group: "apps", Version: "v1", Resource: "deployments", Namespace: "shop", Name: "web",
		LabelSelector: &authorizationv1.LabelSelectorAttributes{RawSelector: "app=x"},
		FieldSelector: &authorizationv1.FieldSelectorAttributes{RawSelector: "metadata.name=web"},
	}
	want := authorizationv1.SubjectAccessReviewSpec{
		ResourceAttributes: attributes, User: "ann", UID: "1", Groups: []string{"system:authenticated"},
		Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
	}
	if diff := cmp.Diff(want, r.lastSpec); diff != "" {
		t.Error(diff)
	}

	cert := &x509.Certificate{Subject: pkix.Name{CommonName: "ann", Organization: []string{"ops"}}}
	if err := a.Authorize(contextOf(t, a, bearer("eve"), cert), what); err != nil {
		t.Fatal(err)
	}
	want.UID, want.Groups, want.Extra = "", []string{"ops", "system:authenticated"}, nil
	if diff := cmp.Diff(want, r.lastSpec); diff != "" {
		t.Error("with a certificate and a token:", diff)
	}

	uri := &url.URL{Scheme: "spiffe", Host: "agent"} // ignored by API servers
	if err := a.Authorize(contextOf(t, a, bearer("bob"), &x509.Certificate{URIs: []*url.URL{uri}}), what); statusOf(err).Code != 403 || r.lastSpec.User != "bob" {
		t.Errorf("with a token and a certificate without a name: got %v in a review of %q, want 403 for bob", err, r.lastSpec.User)
	}

	// A selector that can't be parsed restricts nothing; the request is refused later.
	what.LabelSelector, what.FieldSelector = "a b", "a"
	if err := a.Authorize(contextOf(t, a, bearer("ann"), nil), what); err != nil || r.lastSpec.ResourceAttributes.LabelSelector != nil || r.lastSpec.ResourceAttributes.FieldSelector != nil {
		t.Errorf("with malformed selectors: got %v, and a review with %+v; want no selectors", err, r.lastSpec.ResourceAttributes)
	}
}

func TestCertificates(t *testing.T) {
	a := newAccess(t, configfile.Access{Mode: configfile.Certificates, Callers: []configfile.Caller{
		{Names: []string{"agent", "spiffe://agent"}, Resources: []string{"pods"}, Namespaces: []string{"shop"}, Verbs: []string{"get", "watch"}},
		{Names: []string{"agent"}, Resources: []string{"pods"}, ResourceNames: []string{"web"}},
		{Names: []string{"admin"}, Resources: []string{"*"}},
		{Names: []string{"prometheus"}, Metrics: true},
	}}, newReviewer())
	get := func(ns, name string) serve.Attributes {
		return serve.Attributes{Verb: "get", Resource: pods, Namespace: ns, Name: name}
	}
	metrics, discovery := serve.Attributes{Verb: "get", Path: MetricsPath}, serve.Attributes{Verb: "get", Path: "/apis"}
	for _, test := range []struct {
		name, uri string
		what      serve.Attributes
		code      int32
	}{
		{"agent", "", get("shop", "x"), 0},
		{"", "spiffe://agent", get("shop", "x"), 0},
		{"other", "spiffe://agent", get("shop", "x"), 0},
		{"agent", "", listShop, 403},
		{"agent", "", get("", "x"), 403},
		{"agent", "", get("billing", "x"), 403},
		{"agent", "", get("billing", "web"), 0},
		{"agent", "", serve.Attributes{Verb: "list", Resource: pods, Name: "web"}, 0},
		{"", "spiffe://agent", get("billing", "web"), 403},
		{"agent", "", listAll, 403},
		{"admin", "", listAll, 0},
		{"admin", "", serve.Attributes{Verb: "delete", Resource: pods, Namespace: "shop", Name: "x"}, 403},
		{"admin", "", serve.Attributes{Verb: "get", Resource: pods, Namespace: "shop", Name: "x", Subresource: "log"}, 403},
		{"admin", "", metrics, 403},
		{"prometheus", "", metrics, 0},
		{"prometheus", "", discovery, 0},
		{"prometheus", "", listAll, 403},
		{"stranger", "", discovery, 403},
		{"", "", discovery, 401},
	} {
		cert := &x509.Certificate{Subject: pkix.Name{CommonName: test.name}}
		if test.uri != "" {
			uri, err := url.Parse(test.uri)
			if err != nil {
				t.Fatal(err)
			}
			cert.URIs = []*url.URL{uri}
		}
		err := a.Authorize(contextOf(t, a, nil, cert), test.what)
		if got := statusOf(err).Code; got != test.code {
			t.Errorf("%s %s, %+v: got %d (%v), want %d", test.name, test.uri, test.what, got, err, test.code)
		}
	}

	// A watch must not outlive its caller's certificate.
	expired := &x509.Certificate{Subject: pkix.Name{CommonName: "admin"}, NotAfter: time.Now().Add(-time.Second)}
	if err := a.Authorize(contextOf(t, a, nil, expired), listAll); statusOf(err).Code != 401 {
		t.Errorf("an expired certificate: got %v, want 401", err)
	}
	// A context that didn't pass the handler has no caller.
	if err := a.Authorize(context.Background(), listAll); statusOf(err).Code != 401 {
		t.Errorf("without a caller: got %v, want 401", err)
	}
}

// TestLocalOnly shows that, without authentication, only local names are accepted as Host. A web
// page could point a name of its own at this machine.
func TestLocalOnly(t *testing.T) {
	none := newAccess(t, configfile.Access{Mode: configfile.None}, newReviewer())
	certificates := newAccess(t, configfile.Access{Mode: configfile.Certificates}, newReviewer())
	for host, want := range map[string]int{
		"localhost": 200, "localhost:8080": 200, "LocalHost.:8080": 200, "127.0.0.1:8080": 200, "127.9.9.9": 200, "[::1]:8080": 200, "[::1]": 200,
		"[::ffff:127.0.0.1]:1": 200, "": 403, "evil.example": 403, "evil.example:8080": 403, "localhost.evil.example": 403, "127.0.0.1.evil.example:8080": 403,
		"10.0.0.1:8080": 403, "0.0.0.0:8080": 403, "[::]": 403, "localhost:8080:1": 403, "localhost/": 403,
	} {
		for a, want := range map[*Access]int{none: want, certificates: 200} {
			req := httptest.NewRequest(http.MethodGet, "/api", nil)
			req.Host = host
			answer := httptest.NewRecorder()
			a.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(answer, req)
			if answer.Code != want {
				t.Errorf("Host %q: got %d %s, want %d", host, answer.Code, answer.Body, want)
			}
		}
	}
}

func TestImpersonationIsRefused(t *testing.T) {
	a := newAccess(t, configfile.Access{Mode: configfile.None}, newReviewer())
	for _, name := range []string{"Impersonate-User", "Impersonate-Group", "impersonate-extra-x"} {
		req := httptest.NewRequest(http.MethodGet, "/api", nil)
		req.Header.Set(name, "root")
		answer := httptest.NewRecorder()
		a.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the request was passed on") })).ServeHTTP(answer, req)
		if answer.Code != 403 || !strings.Contains(answer.Body.String(), "does not impersonate") {
			t.Errorf("%s: got %d %s, want 403", name, answer.Code, answer.Body)
		}
	}
}

func TestNewRejectsInvalidUpstream(t *testing.T) {
	r := newReviewer().config()
	r.Host = "https://:port"
	if _, err := New(configfile.Access{Mode: configfile.TokenReview}, r); err == nil || !strings.Contains(err.Error(), "reviewing callers") {
		t.Errorf("New() returned %v, want an error about reviewing callers", err)
	}
}
