// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestURLs(t *testing.T) {
	var got string
	c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
		got = req.URL.Path + "?" + req.URL.RawQuery
		if accept := req.Header.Get("Accept"); accept != "application/vnd.kubernetes.protobuf,application/json;q=0.9" {
			t.Errorf("Accept %q", accept)
		}
		if !strings.Contains(req.Header.Get("User-Agent"), "/") {
			t.Errorf("User-Agent %q", req.Header.Get("User-Agent"))
		}
		return nil, errors.New("end of the test")
	})
	list := func(opts ListOptions) func(Source[object.Object]) {
		return func(s Source[object.Object]) {
			s.List(context.Background(), opts, func(object.Object) error { return nil })
		}
	}
	watch := func(opts WatchOptions) func(Source[object.Object]) {
		return func(s Source[object.Object]) {
			s.Watch(context.Background(), opts, nil, func(Event[object.Object]) error { return nil })
		}
	}
	for _, tc := range []struct {
		gvr  schema.GroupVersionResource
		opts Options
		call func(Source[object.Object])
		want string
	}{
		{pods, Options{}, list(ListOptions{}), "/api/v1/pods?"},
		{pods, Options{Namespace: "shop"}, list(ListOptions{}), "/api/v1/namespaces/shop/pods?"},
		{deployments, Options{}, list(ListOptions{}), "/apis/apps/v1/deployments?"},
		{deployments, Options{Namespace: "shop"}, list(ListOptions{Limit: 7, Continue: "a/b=="}), "/apis/apps/v1/namespaces/shop/deployments?continue=a%2Fb%3D%3D&limit=7"},
		{pods, Options{LabelSelector: "a=b,c in (d,e)", FieldSelector: "spec.nodeName=n"}, list(ListOptions{ResourceVersion: "0"}), "/api/v1/pods?fieldSelector=spec.nodeName%3Dn&labelSelector=a%3Db%2Cc+in+%28d%2Ce%29&resourceVersion=0"},
		{pods, Options{}, list(ListOptions{ResourceVersion: "5", ResourceVersionMatch: "NotOlderThan"}), "/api/v1/pods?resourceVersion=5&resourceVersionMatch=NotOlderThan"},
		{pods, Options{}, watch(WatchOptions{ResourceVersion: "5"}), "/api/v1/pods?allowWatchBookmarks=true&resourceVersion=5&watch=true"},
		{pods, Options{LabelSelector: "a=b"}, watch(WatchOptions{SendInitialEvents: true, Timeout: 90*time.Second + 1}), "/api/v1/pods?allowWatchBookmarks=true&labelSelector=a%3Db&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&timeoutSeconds=91&watch=true"},
	} {
		tc.opts.NewObject = newPod
		s := sourceOf[object.Object](t, c, tc.gvr, tc.opts)
		tc.call(s)
		if got != tc.want {
			t.Errorf("URL %s\nwant %s", got, tc.want)
		}
	}
}

func TestBaseURL(t *testing.T) {
	for host, want := range map[string]string{
		"example.test":                 "http://example.test/api/v1/pods",
		"https://example.test:6443":    "https://example.test:6443/api/v1/pods",
		"https://example.test/k8s/c1/": "https://example.test/k8s/c1/api/v1/pods",
	} {
		c := clientOf(t, &rest.Config{Host: host})
		if got := c.collectionURL(pods, "").String(); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
}

func TestHTTPErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		resp  func() *http.Response
		is    func(error) bool
		after int
		text  string
	}{
		"status": {
			func() *http.Response {
				return answer(403, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"pods is forbidden","reason":"Forbidden","code":403}`)
			}, apierrors.IsForbidden, 0, "pods is forbidden",
		},
		"text":      {func() *http.Response { return answer(401, "  who are you?\n") }, apierrors.IsUnauthorized, 0, "credentials"},
		"html":      {func() *http.Response { return answer(502, "<html>bad gateway</html>") }, apierrors.IsInternalError, 0, "bad gateway"},
		"not found": {func() *http.Response { return answer(404, "404 page not found") }, apierrors.IsNotFound, 0, "(list pods)"},
		"no body":   {func() *http.Response { return answer(503, "") }, apierrors.IsServiceUnavailable, 0, ""},
		"redirect nowhere": {func() *http.Response { return answer(304, "") }, func(err error) bool {
			var s *apierrors.StatusError
			return errors.As(err, &s) && s.ErrStatus.Code == 304
		}, 0, ""},
		"retry after": {func() *http.Response { return answer(429, "slow down", "Retry-After", "13") }, apierrors.IsTooManyRequests, 13, ""},
		"retry after in a status": {
			func() *http.Response {
				return answer(429, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"TooManyRequests","code":429}`, "Retry-After", "5")
			}, apierrors.IsTooManyRequests, 5, "",
		},
		"status has its own": {
			func() *http.Response {
				return answer(500, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"ServerTimeout","details":{"retryAfterSeconds":2},"code":500}`, "Retry-After", "9")
			}, apierrors.IsServerTimeout, 2, "",
		},
		"status without a code": {
			func() *http.Response {
				return answer(410, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired"}`)
			}, func(err error) bool {
				var s *apierrors.StatusError
				return errors.As(err, &s) && s.ErrStatus.Code == 410 && apierrors.IsResourceExpired(err)
			}, 0, "",
		},
		"huge body": {func() *http.Response { return answer(500, strings.Repeat("x", 1<<20)) }, func(err error) bool { return len(err.Error()) < 5000 }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) { return tc.resp(), nil }), pods, Options{})
			_, _, err := listAll(s)
			var status *apierrors.StatusError
			if !errors.As(err, &status) || !tc.is(err) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("List() = %v", err)
			}
			if seconds, _ := apierrors.SuggestsClientDelay(err); seconds != tc.after {
				t.Errorf("SuggestsClientDelay() = %d, want %d", seconds, tc.after)
			}
			opened := false
			err = s.Watch(context.Background(), WatchOptions{}, func() { opened = true }, func(Event[*corev1.Pod]) error { return nil })
			if !errors.As(err, &status) || opened {
				t.Errorf("Watch() = %v, opened %v", err, opened)
			}
		})
	}
}

func TestRetryAfterInSecondsAndAsADate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 500e6, time.UTC)
	for header, want := range map[string]int32{
		"": 0, "1": 1, " 30 ": 30, "0": 0, "-1": 0, "1.2": 2, "soon": 0, "NaN": 0, "1e300": 1<<31 - 1, "99999999999": 1<<31 - 1,
		"Fri, 02 Jan 2026 03:04:10 GMT": 5, "Fri, 02 Jan 2026 03:04:00 GMT": 0,
	} {
		if got := retryAfterSeconds(header, now); got != want {
			t.Errorf("retryAfterSeconds(%q) = %d, want %d", header, got, want)
		}
	}
}

func TestRetryAfterDateUsesServerClock(t *testing.T) {
	for _, ahead := range []time.Duration{-24 * time.Hour, 0, 24 * time.Hour} {
		clock := time.Now().Add(ahead)
		date := func(at time.Time) string { return at.UTC().Format(http.TimeFormat) }
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
			return answer(429, "slow down", "Date", date(clock), "Retry-After", date(clock.Add(5*time.Second))), nil
		}), pods, Options{})
		_, _, err := listAll(s)
		if seconds, _ := apierrors.SuggestsClientDelay(err); seconds != 5 {
			t.Errorf("SuggestsClientDelay() of a server %v ahead = %d, want 5", ahead, seconds)
		}
	}
}

// TestRefusalWithEndlessBody: the error has the status code, after a second.
func TestRefusalWithEndlessBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
			resp := answer(403, "", "Content-Type", "text/plain")
			resp.Body = r
			return resp, nil
		}), pods, Options{})
		go w.Write([]byte("not for you, and "))
		start := time.Now()
		if _, _, err := listAll(s); !apierrors.IsForbidden(err) || time.Since(start) > 2*time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

func TestConnectionRefused(t *testing.T) {
	refused := errors.New("connection refused")
	s := sourceOf[*corev1.Pod](t, newTestClient(t, func(*http.Request) (*http.Response, error) { return nil, refused }), pods, Options{Namespace: "shop"})
	_, _, err := listAll(s)
	if !errors.Is(err, refused) || !strings.HasPrefix(err.Error(), `list pods/v1 in namespace "shop": `) {
		t.Errorf("got %v", err)
	}
}

func TestCallbackErrorsAreKept(t *testing.T) {
	stop := errors.New("stop")
	n := 0
	_, err := serve(t, podtest.List("7", podtest.Pod("a", "1"), podtest.Pod("b", "1"))).List(context.Background(), ListOptions{}, func(*corev1.Pod) error {
		n++
		return stop
	})
	if err != stop || n != 1 {
		t.Errorf("list: got %v after %d calls, want the callback's error after 1", err, n)
	}
	err = serve(t, podtest.Bookmark+podtest.Bookmark).Watch(context.Background(), WatchOptions{}, nil, func(Event[*corev1.Pod]) error {
		n++
		return stop
	})
	if err != stop || n != 2 {
		t.Errorf("watch: got %v after %d calls, want the callback's error after 1", err, n-1)
	}
}

func TestCanceled(t *testing.T) {
	s := serve(t, podtest.List("7"))
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(why)
	if _, err := s.List(ctx, ListOptions{}, func(*corev1.Pod) error { return nil }); err != why {
		t.Errorf("list: got %v, want the cause", err)
	}
	if err := s.Watch(ctx, WatchOptions{}, nil, func(Event[*corev1.Pod]) error { return nil }); err != why {
		t.Errorf("watch: got %v, want the cause", err)
	}
}

// TestRealTransport uses net/http: connections are reused, a token is sent, and a login page is an
// error.
func TestRealTransport(t *testing.T) {
	connections := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		connections[req.RemoteAddr] = true
		if req.Header.Get("Authorization") != "Bearer secret" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>please log in</html>")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, podtest.List("7", podtest.Pod("a", "1")))
	}))
	defer server.Close()
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()

	for token, ok := range map[string]bool{"secret": true, "": false} {
		c := clientOf(t, &rest.Config{Host: server.URL, BearerToken: token, Timeout: time.Hour, Transport: server.Client().Transport})
		s := sourceOf[*corev1.Pod](t, c, pods, Options{})
		for range 3 {
			got, _, err := listAll(s)
			if ok && (err != nil || len(got) != 1) {
				t.Errorf("got %v, %v", got, err)
			}
			if !ok && (err == nil || !strings.Contains(err.Error(), `"text/html"`)) {
				t.Errorf("List() of a login page = %v, want text/html in the error", err)
			}
		}
	}
	if len(connections) > 4 {
		t.Errorf("%d connections for 6 requests in a row: bodies are not read to their end", len(connections))
	}
}

func TestConstructors(t *testing.T) {
	c := newTestClient(t, nil)
	if _, err := NewClient(nil); err == nil {
		t.Error("NewClient(nil) succeeds")
	}
	if _, err := NewClient(&rest.Config{Host: "http://bad host"}); err == nil {
		t.Error("NewClient of a bad host succeeds")
	}
	for name, err := range map[string]error{
		"nil client":    second(New[*corev1.Pod](nil, pods, Options{})),
		"zero client":   second(New[*corev1.Pod](&Client{}, pods, Options{})),
		"no resource":   second(New[*corev1.Pod](c, schema.GroupVersionResource{Version: "v1"}, Options{})),
		"no version":    second(New[*corev1.Pod](c, schema.GroupVersionResource{Resource: "pods"}, Options{})),
		"namespace":     second(New[*corev1.Pod](c, pods, Options{Namespace: "a/b"})),
		"dots":          second(New[*corev1.Pod](c, pods, Options{Namespace: ".."})),
		"nil object":    second(New[*corev1.Pod](c, pods, Options{NewObject: func() object.Object { return (*corev1.Pod)(nil) }})),
		"nil interface": second(New[object.Object](c, pods, Options{NewObject: func() object.Object { return nil }})),
		"other object":  second(New[*corev1.Pod](c, pods, Options{NewObject: func() object.Object { return &appsv1.Deployment{} }})),
		"not a pointer": second(New[object.Object](c, pods, Options{NewObject: func() object.Object { return byValue{} }})),
		"interface":     second(New[object.Object](c, pods, Options{})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "source.New of ") {
			t.Errorf("%s: got %v, want an error that names the call", name, err)
		}
	}
	s := sourceOf[*appsv1.Deployment](t, c, deployments, Options{Namespace: "shop", LabelSelector: "a=b", FieldSelector: "c=d"})
	if got, want := s.String(), `deployments.apps/v1 in namespace "shop" with labels "a=b" with fields "c=d"`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if s.Resource() != deployments {
		t.Error(s.Resource())
	}
	if _, err := s.List(context.Background(), ListOptions{}, nil); err == nil {
		t.Error("List without a callback succeeds")
	}
	if err := s.Watch(context.Background(), WatchOptions{}, nil, nil); err == nil {
		t.Error("Watch without a callback succeeds")
	}
}

// byValue is an object that is not a pointer.
type byValue struct{ *corev1.Pod }

func second[T any](_ T, err error) error { return err }

// TestCanceledWithBufferedData: objects read ahead are not handed over after the cancellation.
func TestCanceledWithBufferedData(t *testing.T) {
	why := errors.New("enough")
	for _, at := range []int{1, 3} {
		ctx, cancel := context.WithCancelCause(context.Background())
		items := 0
		_, err := serve(t, podtest.List("7", podtest.Pod("a", "1"), podtest.Pod("b", "2"), podtest.Pod("c", "3"))).List(ctx, ListOptions{}, func(*corev1.Pod) error {
			if items++; items == at {
				cancel(why)
			}
			return nil
		})
		if err != why || items != at {
			t.Errorf("List() cancelled at item %d = %v after %d items", at, err, items)
		}
		ctx, cancel = context.WithCancelCause(context.Background())
		events := 0
		body := podtest.Event("ADDED", podtest.KindPod("a", "1")) + podtest.Event("ADDED", podtest.KindPod("b", "2")) + podtest.Bookmark
		err = serve(t, body).Watch(ctx, WatchOptions{}, nil, func(Event[*corev1.Pod]) error {
			if events++; events == at {
				cancel(why)
			}
			return nil
		})
		if err != why || events != at {
			t.Errorf("Watch() cancelled at event %d = %v after %d events", at, err, events)
		}
	}
}
