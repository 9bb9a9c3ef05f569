// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard()) // failed reviews are logged
	goleak.VerifyTestMain(m)
}

// apiServer answers reviews: the tokens ann and bob have users, and ann may get /metrics.
type apiServer struct {
	mu    sync.Mutex // mu guards the fields below
	asked []string
	spec  authorizationv1.SubjectAccessReviewSpec // of the last review
	// answer, unless nil, replaces an answer unless its code is 0.
	answer func(path string) (code int, body string)
	delay  time.Duration
}

// RoundTrip implements http.RoundTripper.
func (s *apiServer) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		req.Body = http.NoBody
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	return w.Result(), req.Body.Close()
}

// ServeHTTP implements http.Handler.
func (s *apiServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mu.Lock()
	s.asked = append(s.asked, req.Method+" "+req.URL.Path)
	answer, delay := s.answer, s.delay
	s.mu.Unlock()
	time.Sleep(delay) // in a bubble
	if answer != nil {
		if code, body := answer(req.URL.Path); code != 0 {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
			return
		}
	}
	w.WriteHeader(http.StatusCreated)
	if req.URL.Path == tokenReviews {
		var review authenticationv1.TokenReview
		_ = json.NewDecoder(req.Body).Decode(&review)
		if token := review.Spec.Token; token == "ann" || token == "bob" {
			review.Status.Authenticated = true
			review.Status.User = authenticationv1.UserInfo{
				Username: token, UID: "1", Groups: []string{"ops"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
			}
		} else {
			review.Status.Error = "invalid bearer token"
		}
		_ = json.NewEncoder(w).Encode(review)
		return
	}
	var review authorizationv1.SubjectAccessReview
	_ = json.NewDecoder(req.Body).Decode(&review)
	review.Status.Allowed = review.Spec.User == "ann" && *review.Spec.NonResourceAttributes == authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"}
	_ = json.NewEncoder(w).Encode(review)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spec = review.Spec
}

// take returns the number of reviews since the last call.
func (s *apiServer) take() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.asked)
	s.asked = nil
	return n
}

func (s *apiServer) reviews(t *testing.T) *Reviews {
	t.Helper()
	r, err := New(&rest.Config{Host: "http://api", Transport: s})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func request(authorization, method, path string) *http.Request {
	req := httptest.NewRequest(method, path, nil)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	return req
}

// codeOf returns the status code of an error of Authorize, or 200.
func codeOf(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return http.StatusOK
	}
	status, ok := err.(apierrors.APIStatus)
	if !ok {
		t.Fatalf("%v is no error of an API server", err)
	}
	return int(status.Status().Code)
}

func TestAuthorize(t *testing.T) {
	failing := func(path string, code int, body string) func(string) (int, string) {
		return func(asked string) (int, string) {
			if asked != path {
				return 0, ""
			}
			return code, body
		}
	}
	for name, test := range map[string]struct {
		authorization, method, path string
		answer                      func(string) (int, string)
		code                        int
		text                        string
	}{
		"allowed":                {"Bearer ann", "GET", "/metrics", nil, 200, ""},
		"scheme in lower case":   {"bearer ann", "GET", "/metrics", nil, 200, ""},
		"no header":              {"", "GET", "/metrics", nil, 401, "no bearer token"},
		"another scheme":         {"Basic ann", "GET", "/metrics", nil, 401, "no bearer token"},
		"empty token":            {"Bearer  ", "GET", "/metrics", nil, 401, "no bearer token"},
		"unknown token":          {"Bearer eve", "GET", "/metrics", nil, 401, "doesn't know the bearer token"},
		"no right":               {"Bearer bob", "GET", "/metrics", nil, 403, `user "bob" cannot get path "/metrics"`},
		"another path":           {"Bearer ann", "GET", "/debug/pprof/", nil, 403, `user "ann" cannot get path "/debug/pprof/"`},
		"another verb":           {"Bearer ann", "POST", "/metrics", nil, 403, `user "ann" cannot post path "/metrics"`},
		"token review fails":     {"Bearer ann", "GET", "/metrics", failing(tokenReviews, 403, "secret"), 500, "the TokenReview failed"},
		"token review is HTML":   {"Bearer ann", "GET", "/metrics", failing(tokenReviews, 200, "<html>"), 500, "the TokenReview failed"},
		"access review fails":    {"Bearer ann", "GET", "/metrics", failing(accessReviews, 429, "secret"), 500, "the SubjectAccessReview failed"},
		"access review is cut":   {"Bearer ann", "GET", "/metrics", failing(accessReviews, 201, "{"), 500, "the SubjectAccessReview failed"},
		"undecided":              {"Bearer ann", "GET", "/metrics", failing(accessReviews, 201, `{"status":{"evaluationError":"x"}}`), 500, "the SubjectAccessReview failed"},
		"denied and allowed":     {"Bearer ann", "GET", "/metrics", failing(accessReviews, 201, `{"status":{"allowed":true,"denied":true}}`), 403, "cannot get"},
		"token review says null": {"Bearer ann", "GET", "/metrics", failing(tokenReviews, 200, "null"), 401, "doesn't know"},
	} {
		t.Run(name, func(t *testing.T) {
			s := &apiServer{answer: test.answer}
			err := s.reviews(t).Authorize(request(test.authorization, test.method, test.path))
			if code := codeOf(t, err); code != test.code || err != nil && (!strings.Contains(err.Error(), test.text) || strings.Contains(err.Error(), "secret")) {
				t.Errorf("got %d (%v), want %d and %q", code, err, test.code, test.text)
			}
		})
	}
}

// TestReviewHasAllOfTheUser: rights may depend on groups and extra values.
func TestReviewHasAllOfTheUser(t *testing.T) {
	s := &apiServer{}
	if err := s.reviews(t).Authorize(request("Bearer ann", "GET", "/metrics?name=x")); err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(s.spec)
	const want = `{"nonResourceAttributes":{"path":"/metrics","verb":"get"},"user":"ann","groups":["ops"],"extra":{"k":["v"]},"uid":"1"}`
	if string(got) != want {
		t.Errorf("the review has\n%s\nwant\n%s", got, want)
	}
}

// TestAnswersAreKept: see the package's documentation for the times. Failures are not kept.
func TestAnswersAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{}
		r := s.reviews(t)
		reviewsFor := func(token string) int {
			_ = r.Authorize(request("Bearer "+token, "GET", "/metrics"))
			return s.take()
		}
		check := func(after time.Duration, ann, bob, eve int) {
			t.Helper()
			time.Sleep(after)
			if a, b, e := reviewsFor("ann"), reviewsFor("bob"), reviewsFor("eve"); a != ann || b != bob || e != eve {
				t.Errorf("after %v, there are %d, %d and %d reviews, want %d, %d and %d", after, a, b, e, ann, bob, eve)
			}
		}
		check(0, 2, 2, 1)
		check(29*time.Second, 0, 0, 0)
		check(time.Second, 0, 1, 0)
		check(30*time.Second, 1, 2, 1)
		check(4*time.Minute, 2, 2, 1) // ann's right is 5 minutes old
		s.answer = func(string) (int, string) { return 500, "" }
		check(time.Hour, 1, 1, 1)
		s.answer = nil
		check(0, 2, 2, 1)
	})
}

// TestConcurrentRequestsShareReviews sends one review of each kind for 100 requests, the first of
// which ends early.
func TestConcurrentRequestsShareReviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &apiServer{delay: time.Second}
		r := s.reviews(t)
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := r.Authorize(request("Bearer ann", "GET", "/metrics").WithContext(ctx)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		cancel()
		all.Wait()
		if n := s.take(); n != 2 {
			t.Errorf("there were %d reviews, want 2", n)
		}
	})
}

// TestWrongAuthority: an API server whose certificate isn't of the config's authority is not
// believed.
func TestWrongAuthority(t *testing.T) {
	server := httptest.NewUnstartedServer(&apiServer{})
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	r, err := New(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if code := codeOf(t, r.Authorize(request("Bearer ann", "GET", "/metrics"))); code != 500 {
		t.Errorf("got %d, want 500", code)
	}
}

func TestNewRefusesWrongConfigs(t *testing.T) {
	for want, config := range map[string]*rest.Config{
		"access.New: config is nil; get one from clientcmd or rest.InClusterConfig": nil,
		`access.New: host "https://:port"`:                                          {Host: "https://:port"},
		"access.New: transport to https://api":                                      {Host: "https://api", TLSClientConfig: rest.TLSClientConfig{CAFile: "/none"}},
	} {
		if _, err := New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
