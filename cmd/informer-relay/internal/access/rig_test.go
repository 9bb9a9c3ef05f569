// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeReviewer is an API server that answers reviews: a transport without a network, so tests can
// run in bubbles.
type fakeReviewer struct {
	users map[string]authenticationv1.UserInfo // by token
	// allow reports whether a user has a right, and the reason
	allow func(user string, spec authorizationv1.SelfSubjectAccessReviewSpec) (bool, string)
	// fail, unless it returns 0, returns the code and body of the answer
	fail func(path string) (code int, body string)
	// delay is how long an answer takes
	delay time.Duration

	mu       sync.Mutex
	paths    []string // mu guards it: the paths
	lastSpec authorizationv1.SubjectAccessReviewSpec
}

// relayToken is the token of the relay itself.
const relayToken = "relay"

func (r *fakeReviewer) config() *rest.Config {
	return &rest.Config{Host: "https://api.example:6443/prefix", BearerToken: relayToken}
}

func (r *fakeReviewer) RoundTrip(req *http.Request) (*http.Response, error) {
	path, ok := strings.CutPrefix(req.URL.Path, "/prefix")
	if !ok {
		return httpResponse(http.StatusNotFound, req.URL.Path), nil
	}
	time.Sleep(r.delay)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paths = append(r.paths, path)
	if r.fail != nil {
		if code, body := r.fail(path); code != 0 {
			return httpResponse(code, body), nil
		}
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	answer := r.answer(path, token, body)
	if answer == nil {
		return httpResponse(http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`), nil
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return httpResponse(http.StatusCreated, string(data)), nil
}

func (r *fakeReviewer) answer(path, token string, body []byte) any {
	caller, known := r.users[token]
	switch {
	case token != relayToken && !known:
		return nil
	case path == selfSubjectReviews:
		return authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{UserInfo: caller}}
	case path == selfAccessReviews:
		var review authorizationv1.SelfSubjectAccessReview
		if err := json.Unmarshal(body, &review); err != nil || review.Kind != "SelfSubjectAccessReview" {
			return nil
		}
		review.Status.Allowed, review.Status.Reason = r.allow(caller.Username, review.Spec)
		return review
	case token != relayToken:
		return nil
	case path == tokenReviews:
		var review authenticationv1.TokenReview
		if err := json.Unmarshal(body, &review); err != nil || review.Kind != "TokenReview" {
			return nil
		}
		review.Status.User, review.Status.Authenticated = r.users[review.Spec.Token]
		review.Status.Audiences = []string{"https://kubernetes.default.svc"}
		if aud, ok := strings.CutPrefix(review.Spec.Token, "for-"); ok {
			review.Status.Audiences = []string{aud}
		}
		return review
	case path == accessReviews:
		var review authorizationv1.SubjectAccessReview
		if err := json.Unmarshal(body, &review); err != nil || review.Kind != "SubjectAccessReview" {
			return nil
		}
		r.lastSpec = review.Spec
		review.Status.Allowed, review.Status.Reason = r.allow(review.Spec.User, authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: review.Spec.ResourceAttributes, NonResourceAttributes: review.Spec.NonResourceAttributes,
		})
		return review
	}
	return nil
}

// requests returns the number of requests for a path; "" means all paths.
func (r *fakeReviewer) requests(path string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, seen := range r.paths {
		if path == "" || seen == path {
			n++
		}
	}
	return n
}

func httpResponse(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// newReviewer returns a reviewer that knows ann, who may read everything in shop, and bob, who may
// read nothing.
func newReviewer() *fakeReviewer {
	return &fakeReviewer{
		users: map[string]authenticationv1.UserInfo{
			"ann":       {Username: "ann", UID: "1", Groups: []string{"system:authenticated"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}}},
			"bob":       {Username: "bob"},
			"for-relay": {Username: "ann"},
		},
		allow: func(user string, spec authorizationv1.SelfSubjectAccessReviewSpec) (bool, string) {
			if a := spec.ResourceAttributes; a != nil && a.Namespace == "shop" && user == "ann" {
				return true, ""
			}
			if a := spec.NonResourceAttributes; a != nil && user == "ann" {
				return true, ""
			}
			if user == "bob" {
				return false, "bob is banned"
			}
			return false, ""
		},
	}
}

func newAccess(t *testing.T, c configfile.Access, r *fakeReviewer) *Access {
	t.Helper()
	if c.AllowedFor == 0 {
		c.AllowedFor, c.DeniedFor = 10*time.Second, 2*time.Second
	}
	a, err := New(c, r.config())
	if err != nil {
		t.Fatal(err)
	}
	if c.Mode == configfile.TokenReview || c.Mode == configfile.SelfSubjectAccessReview {
		a.decide = deciderWith(t, c, a.counters, r)
	}
	return a
}

// deciderWith returns the decider of a mode, with r as its transport.
func deciderWith(t *testing.T, c configfile.Access, counters counters, r *fakeReviewer) decider {
	t.Helper()
	reviews, err := newReviews(r.config(), c, counters)
	if err != nil {
		t.Fatal(err)
	}
	if c.Mode == configfile.SelfSubjectAccessReview {
		reviews.http = &http.Client{Transport: r}
		return reviews.decideBySelf
	}
	reviews.http = &http.Client{Transport: transport.NewBearerAuthRoundTripper(relayToken, r)}
	return reviews.decideByToken
}

// contextOf returns the context behind the handler, of a request with these headers and, unless
// nil, a verified certificate.
func contextOf(t *testing.T, a *Access, header http.Header, cert *x509.Certificate) (ctx context.Context) {
	t.Helper()
	req := newRequest(t, header)
	if cert != nil {
		req.TLS = tlsOf(cert)
	}
	return contextOfRequest(t, a, req)
}

// tlsOf returns the state of a connection with a verified client certificate.
func tlsOf(cert *x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}, VerifiedChains: [][]*x509.Certificate{{cert}}}
}

func newRequest(t *testing.T, header http.Header) *http.Request {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/pods", nil)
	req.Header = header
	return req
}

// contextOfRequest returns a request's context behind the handler.
func contextOfRequest(t *testing.T, a *Access, req *http.Request) (ctx context.Context) {
	t.Helper()
	a.Handler(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { ctx = req.Context() })).ServeHTTP(httptest.NewRecorder(), req)
	if ctx == nil {
		t.Fatal("the request was refused")
	}
	return ctx
}

func bearer(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }

func statusOf(err error) metav1.Status {
	if s, ok := err.(interface{ Status() metav1.Status }); ok {
		return s.Status()
	}
	return metav1.Status{}
}
