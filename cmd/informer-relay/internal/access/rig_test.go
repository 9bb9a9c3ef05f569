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

// reviewer is an API server that answers reviews. It is a transport without a network, so that
// tests have virtual time.
type reviewer struct {
	users map[string]authenticationv1.UserInfo // by token
	// allow returns whether a user may, and why not
	allow func(user string, spec authorizationv1.SelfSubjectAccessReviewSpec) (bool, string)
	// fail, if it returns a code, answers a request with that and a body
	fail func(path string) (code int, body string)
	// took is how long an answer takes
	took time.Duration

	mu   sync.Mutex
	seen []string // mu guards it: the paths
	last authorizationv1.SubjectAccessReviewSpec
}

// relaysOwn is the token of the relay itself.
const relaysOwn = "relay"

func (r *reviewer) config() *rest.Config {
	return &rest.Config{Host: "https://api.example:6443/prefix", BearerToken: relaysOwn}
}

func (r *reviewer) RoundTrip(req *http.Request) (*http.Response, error) {
	path, ok := strings.CutPrefix(req.URL.Path, "/prefix")
	if !ok {
		return answerOf(http.StatusNotFound, req.URL.Path), nil
	}
	time.Sleep(r.took)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = append(r.seen, path)
	if r.fail != nil {
		if code, body := r.fail(path); code != 0 {
			return answerOf(code, body), nil
		}
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	answer := r.answer(path, token, body)
	if answer == nil {
		return answerOf(http.StatusUnauthorized, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`), nil
	}
	data, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	return answerOf(http.StatusCreated, string(data)), nil
}

func (r *reviewer) answer(path, token string, body []byte) any {
	caller, known := r.users[token]
	switch {
	case token != relaysOwn && !known:
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
	case token != relaysOwn:
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
		r.last = review.Spec
		review.Status.Allowed, review.Status.Reason = r.allow(review.Spec.User, authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: review.Spec.ResourceAttributes, NonResourceAttributes: review.Spec.NonResourceAttributes,
		})
		return review
	}
	return nil
}

// requests returns how many requests came for a path, or for all if it is empty.
func (r *reviewer) requests(path string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, seen := range r.seen {
		if path == "" || seen == path {
			n++
		}
	}
	return n
}

func answerOf(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// newReviewer knows ann, who may read all in shop, and bob, who may read nothing.
func newReviewer() *reviewer {
	return &reviewer{
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

func newAccess(t *testing.T, c configfile.Access, r *reviewer) *Access {
	t.Helper()
	if c.AllowedFor == 0 {
		c.AllowedFor, c.DeniedFor = 10*time.Second, 2*time.Second
	}
	a, err := New(c, r.config())
	if err != nil {
		t.Fatal(err)
	}
	if c.Mode == configfile.TokenReview || c.Mode == configfile.SelfSubjectAccessReview {
		a.decide = overNoNetwork(t, c, a.counters, r)
	}
	return a
}

// overNoNetwork returns the decider of a mode, whose requests go to r.
func overNoNetwork(t *testing.T, c configfile.Access, counted counters, r *reviewer) decider {
	t.Helper()
	reviews, err := newReviews(r.config(), c, counted)
	if err != nil {
		t.Fatal(err)
	}
	if c.Mode == configfile.SelfSubjectAccessReview {
		reviews.http = &http.Client{Transport: r}
		return reviews.ofSelf
	}
	reviews.http = &http.Client{Transport: transport.NewBearerAuthRoundTripper(relaysOwn, r)}
	return reviews.ofToken
}

// contextOf returns the context that a request with these headers, and maybe with a verified
// certificate, has behind the handler.
func contextOf(t *testing.T, a *Access, header http.Header, cert *x509.Certificate) (ctx context.Context) {
	t.Helper()
	req := newRequest(t, header)
	if cert != nil {
		req.TLS = tlsOf(cert)
	}
	return contextOfRequest(t, a, req)
}

// tlsOf returns the state of a connection whose client has a certificate that was verified.
func tlsOf(cert *x509.Certificate) *tls.ConnectionState {
	return &tls.ConnectionState{PeerCertificates: []*x509.Certificate{cert}, VerifiedChains: [][]*x509.Certificate{{cert}}}
}

func newRequest(t *testing.T, header http.Header) *http.Request {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/api/v1/pods", nil)
	req.Header = header
	return req
}

// contextOfRequest returns the context that a request has behind the handler.
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
