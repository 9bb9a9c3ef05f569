// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/cmd/informer-relay/internal/configfile"
	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// patience is how long tests wait for something that should happen soon.
const patience = 2 * time.Minute

// relayToken is the relay's own token.
const relayToken = "the-relay"

// apiServer is an API server with Pods, Nodes and reviews. A token is its user's name.
type apiServer struct {
	*httptest.Server
	api  *sourcetest.Server
	pods *sourcetest.Collection[*corev1.Pod]
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	watches   atomic.Int64 // open ones
	forwarded atomic.Int64 // requests of callers
	broken    atomic.Bool  // reviews fail
	reviews   atomic.Int64 // of callers

	reviewDuration time.Duration // of a review; set before the first

	mu     sync.Mutex
	rights map[string]bool // mu guards it: "ann list pods in shop", "ann get /metrics"
}

func newAPIServer(t testing.TB, rights ...string) *apiServer {
	t.Helper()
	return newAPIServerAt(t, nil, rights...)
}

// newAPIServerAt starts an API server at an in-memory listener, or at a local port if pipes is nil.
func newAPIServerAt(t testing.TB, pipes *informertest.Pipes, rights ...string) *apiServer {
	t.Helper()
	s := &apiServer{api: sourcetest.New(), rights: map[string]bool{}, dial: (&net.Dialer{}).DialContext}
	s.pods = sourcetest.Serve[*corev1.Pod](s.api, corev1.SchemeGroupVersion.WithResource("pods"), "Pod", "spec.nodeName")
	sourcetest.Serve[*corev1.Node](s.api, corev1.SchemeGroupVersion.WithResource("nodes"), "Node")
	for _, right := range rights {
		s.rights[right] = true
	}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if pipes != nil {
		s.Listener.Close()
		s.Listener, s.dial = pipes, pipes.Dial
	}
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// setRight gives or takes a right.
func (s *apiServer) setRight(right string, allowed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rights[right] = allowed
}

func (s *apiServer) has(right string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rights[right]
}

func (s *apiServer) serve(w http.ResponseWriter, req *http.Request) {
	token := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	isRelay := token == relayToken
	var answer any
	if req.Method == http.MethodPost {
		s.reviews.Add(1)
		time.Sleep(s.reviewDuration)
	}
	switch {
	case req.Method == http.MethodPost && s.broken.Load():
		http.Error(w, "broken", http.StatusInternalServerError)
		return
	case strings.HasSuffix(req.URL.Path, "/tokenreviews") && isRelay:
		review := read[authenticationv1.TokenReview](req)
		review.Status.Authenticated = !strings.HasPrefix(review.Spec.Token, "stranger")
		review.Status.User.Username = review.Spec.Token
		answer = review
	case strings.HasSuffix(req.URL.Path, "/subjectaccessreviews") && isRelay:
		review := read[authorizationv1.SubjectAccessReview](req)
		review.Status.Allowed = s.has(rightOf(review.Spec.User, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes))
		answer = review
	case strings.HasSuffix(req.URL.Path, "/selfsubjectaccessreviews") && !isRelay:
		review := read[authorizationv1.SelfSubjectAccessReview](req)
		review.Status.Allowed = s.has(rightOf(token, review.Spec.ResourceAttributes, review.Spec.NonResourceAttributes))
		answer = review
	case strings.HasSuffix(req.URL.Path, "/selfsubjectreviews") && !isRelay:
		answer = authenticationv1.SelfSubjectReview{Status: authenticationv1.SelfSubjectReviewStatus{UserInfo: authenticationv1.UserInfo{Username: token}}}
	case req.URL.Path == "/api/v1":
		verbs := metav1.Verbs{"list", "watch"}
		answer = metav1.APIResourceList{APIResources: []metav1.APIResource{
			{Name: "pods", SingularName: "pod", Kind: "Pod", Namespaced: true, Verbs: verbs, ShortNames: []string{"po"}},
			{Name: "nodes", Kind: "Node", Verbs: verbs},
			{Name: "namespaces", Kind: "Namespace", Verbs: verbs},
			{Name: "bindings", Kind: "Binding", Namespaced: true, Verbs: metav1.Verbs{"create"}},
		}}
	case token == "":
		http.Error(w, "no token", http.StatusUnauthorized)
		return
	default:
		if !isRelay {
			s.forwarded.Add(1)
		}
		if req.URL.Query().Has("watch") {
			s.watches.Add(1)
			defer s.watches.Add(-1)
		}
		s.api.ServeHTTP(w, req)
		return
	}
	_ = json.NewEncoder(w).Encode(answer) // the client sees an error
}

func read[T any](req *http.Request) (review T) {
	_ = json.NewDecoder(req.Body).Decode(&review) // the answer shows an error
	return review
}

func rightOf(user string, resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes) string {
	if path != nil {
		return fmt.Sprintf("%s %s %s", user, path.Verb, path.Path)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s in %s %s", user, resource.Verb, resource.Resource, resource.Namespace, resource.Name))
}

// configOf parses an indented configuration.
func configOf(t testing.TB, text string) *configfile.Config {
	t.Helper()
	c, err := configfile.Parse("relay.yaml", []byte(strings.ReplaceAll(text, "\n\t", "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runningRelay is a serving relay.
type runningRelay struct {
	*Relay
	url string
	// stop shuts the relay down, and returns Serve's error
	stop  func() error
	ended chan struct{} // closed when Serve has returned
}

// start starts a relay in front of s. It ends with the test.
func (s *apiServer) start(t testing.TB, c *configfile.Config) *runningRelay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return s.startAt(t, c, l)
}

// startAt starts a relay that serves at l.
func (s *apiServer) startAt(t testing.TB, c *configfile.Config, l net.Listener) *runningRelay {
	t.Helper()
	r, err := New(c, &rest.Config{Host: s.URL, BearerToken: relayToken, Dial: s.dial})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	var failed error
	go func() {
		defer close(ended)
		failed = r.Serve(ctx, l)
	}()
	stop := func() error {
		cancel()
		<-ended
		return failed
	}
	t.Cleanup(func() { _ = stop() })
	scheme := "http://"
	if c.Listen.CertFile != "" {
		scheme = "https://"
	}
	return &runningRelay{r, scheme + l.Addr().String(), stop, ended}
}

// await waits until the relay is ready.
func (r *runningRelay) await(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := r.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
}

// client returns a client whose connections are closed at the end of the test.
func client(t *testing.T) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience}
}

// get returns the answer to a caller's GET; the token "" means none.
func get(t *testing.T, c *http.Client, url, token string) (code int, body string) {
	t.Helper()
	resp := open(t, c, url, token)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(data)
}

func open(t *testing.T, c *http.Client, url, token string) *http.Response {
	t.Helper()
	return send(t, c, http.MethodGet, url, token)
}

func send(t *testing.T, c *http.Client, method, url, token string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func pod(namespace, name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}
