// SPDX-License-Identifier: Apache-2.0

package serve_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/server/serve"
)

// TestAttributes shows the attributes of requests, also of requests for unserved resources.
func TestAttributes(t *testing.T) {
	var got serve.Attributes
	r := newRig(t, serve.Config{Authorize: func(_ context.Context, a serve.Attributes) error {
		got = a
		return apierrors.NewForbidden(a.Resource.GroupResource(), a.Name, errors.New("it is a test"))
	}}, true)
	of := func(a serve.Attributes) serve.Attributes {
		a.Resource = widgetsResource
		return a
	}
	for request, want := range map[[2]string]serve.Attributes{
		{"GET", widgets}:                              of(serve.Attributes{Verb: "list"}),
		{"HEAD", widgetsInA}:                          of(serve.Attributes{Verb: "list", Namespace: "a"}),
		{"GET", widgetsInA + "/one?watch=1"}:          of(serve.Attributes{Verb: "get", Namespace: "a", Name: "one"}),
		{"GET", widgetsInA + "/one/status"}:           of(serve.Attributes{Verb: "get", Namespace: "a", Name: "one", Subresource: "status"}),
		{"GET", widgets + "?watch=true"}:              of(serve.Attributes{Verb: "watch"}),
		{"GET", widgets + "?watch=false"}:             of(serve.Attributes{Verb: "list"}),
		{"POST", widgetsInA}:                          of(serve.Attributes{Verb: "create", Namespace: "a"}),
		{"PUT", widgetsInA + "/one"}:                  of(serve.Attributes{Verb: "update", Namespace: "a", Name: "one"}),
		{"PATCH", widgetsInA + "/one"}:                of(serve.Attributes{Verb: "patch", Namespace: "a", Name: "one"}),
		{"DELETE", widgetsInA + "/one"}:               of(serve.Attributes{Verb: "delete", Namespace: "a", Name: "one"}),
		{"DELETE", widgetsInA}:                        of(serve.Attributes{Verb: "deletecollection", Namespace: "a"}),
		{"GET", widgetsInA + "?fieldSelector=a=b,c"}:  of(serve.Attributes{Verb: "list", Namespace: "a", FieldSelector: "a=b,c"}),
		{"GET", "/api/v1/secrets"}:                    {Verb: "list", Resource: schema.GroupVersionResource{Version: "v1", Resource: "secrets"}},
		{"GET", "/apis"}:                              {Verb: "get", Path: "/apis"},
		{"GET", widgets + "?labelSelector=x&watch=1"}: of(serve.Attributes{Verb: "watch", LabelSelector: "x"}),
		{"GET", widgetsInA + "?fieldSelector=metadata.name=one"}: of(serve.Attributes{
			Verb: "list", Namespace: "a", Name: "one", FieldSelector: "metadata.name=one",
		}),
	} {
		resp := r.send(t, request[0], request[1], "")
		if resp.StatusCode != http.StatusForbidden || got != want {
			t.Errorf("%v: %s, want 403\n got %+v\nwant %+v", request, resp.Status, got, want)
		}
	}
}

func TestAuthorizeErrorIsTheAnswer(t *testing.T) {
	var refusal error
	r := newRig(t, serve.Config{Authorize: func(context.Context, serve.Attributes) error { return refusal }}, true)
	for want, err := range map[string]error{
		`401 Unauthorized "who are you"`:      apierrors.NewUnauthorized("who are you"),
		`503 ServiceUnavailable "no reviews"`: apierrors.NewServiceUnavailable("no reviews"),
		`500 - "something else"`:              errors.New("something else"),
	} {
		refusal = err
		if got := describe(t, r.get(t, widgets)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestOpenWatchesAreReviewed shows that a watch ends when its right is revoked, but not when a
// review fails. Each review has the context's values.
func TestOpenWatchesAreReviewed(t *testing.T) { forEachProtocol(t, testReviews) }

func testReviews(t *testing.T, setProtocols func(*http.Protocols)) {
	type callerKey struct{}
	var reviews atomic.Int64
	var verdict atomic.Pointer[error]
	forbidden := error(apierrors.NewForbidden(widgetsResource.GroupResource(), "", errors.New("no longer")))
	unknown := error(apierrors.NewServiceUnavailable("no reviews"))
	storage, handler, run := newBubbleRig(t, func(c *serve.Config) {
		c.ReviewInterval = time.Minute
		c.Authorize = func(ctx context.Context, a serve.Attributes) error {
			if ctx.Value(callerKey{}) != "me" || a.Verb != "watch" || errors.Is(ctx.Err(), context.Canceled) {
				t.Errorf("Authorize got the caller %v, %+v, %v; want me, a watch, no error", ctx.Value(callerKey{}), a, ctx.Err())
			}
			reviews.Add(1)
			if err := verdict.Load(); err != nil {
				return *err
			}
			return nil
		}
	})
	run()
	front := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		handler.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), callerKey{}, "me")))
	})
	resp, err := connect(t, front, setProtocols).Get("http://api" + widgets + "?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	verdict.Store(&unknown)
	time.Sleep(4 * time.Minute) // in a bubble
	if n := reviews.Load(); n < 4 {
		t.Errorf("got %d reviews in four intervals, want at least 4", n)
	}
	createWidget(t, storage, "one", "")
	buffer := make([]byte, 10)
	if _, err := io.ReadFull(resp.Body, buffer); err != nil {
		t.Fatalf("the watch has ended after failed reviews: %v", err)
	}
	verdict.Store(&forbidden)
	began := time.Now()
	if rest, err := io.ReadAll(resp.Body); err != nil || time.Since(began) > 2*time.Minute {
		t.Errorf("after the right was revoked, the watch lasted %v and ended with %s, %v; want an end within 2m", time.Since(began), rest, err)
	}
}

// TestBusyWatchIsReviewed shows that, over HTTP/2, a watch that never waits for the
// next event is reviewed, too. The client stops reading until the review is due; by then its window
// is full, and the server has more to send.
func TestBusyWatchIsReviewed(t *testing.T) {
	const objects, size = 120, 64 << 10 // the window of a stream is 4 MB
	synctest.Test(t, func(t *testing.T) {
		var forbidden atomic.Bool
		storage, handler, run := newBubbleRig(t, func(c *serve.Config) {
			c.ReviewInterval = 10 * time.Second
			c.Authorize = func(context.Context, serve.Attributes) error {
				if forbidden.Load() {
					return apierrors.NewForbidden(widgetsResource.GroupResource(), "", errors.New("no longer"))
				}
				return nil
			}
		})
		run()
		for i := range objects {
			createWidget(t, storage, fmt.Sprint("w", i), `,"text":"`+strings.Repeat("x", size)+`"`)
		}
		client := connect(t, handler, func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) })
		resp, err := client.Get("http://api" + widgets + "?watch=true&resourceVersion=1")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.ReadFull(resp.Body, make([]byte, size)); err != nil {
			t.Fatal(err)
		}
		forbidden.Store(true)
		time.Sleep(20 * time.Second)
		rest, err := io.Copy(io.Discard, resp.Body)
		if err != nil || rest > (objects-1)*size*3/4 {
			t.Errorf("after the right was revoked, the client got %d of %d bytes, %v; want at most three quarters", rest, (objects-1)*size, err)
		}
	})
}

// TestSendingClientIsReviewed shows that data sent during a watch delays no review.
func TestSendingClientIsReviewed(t *testing.T) {
	var forbidden atomic.Bool
	r := newRig(t, serve.Config{ReviewInterval: 10 * time.Millisecond, Authorize: func(context.Context, serve.Attributes) error {
		if forbidden.Load() {
			return apierrors.NewForbidden(widgetsResource.GroupResource(), "", errors.New("no longer"))
		}
		return nil
	}}, true)
	conn := dial(t, r.server.Listener.Addr())
	fmt.Fprintf(conn, "GET %s?watch=true HTTP/1.1\r\nHost: x\r\n\r\n", widgets)
	var sending sync.WaitGroup
	defer sending.Wait()
	defer conn.Close()
	sending.Go(func() {
		for text := bytes.Repeat([]byte("x"), 4096); ; {
			if _, err := conn.Write(text); err != nil {
				return
			}
		}
	})
	answer := make([]byte, 15)
	if _, err := io.ReadFull(conn, answer); err != nil || string(answer) != "HTTP/1.1 200 OK" {
		t.Fatalf("got %q, %v; want HTTP/1.1 200 OK", answer, err)
	}
	forbidden.Store(true)
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // else the read fails
	if _, err := io.Copy(io.Discard, conn); isTimeout(err) {
		t.Error("the watch goes on after its right was revoked")
	}
}

// TestNamespaces serves a resource with one cache for each of a few namespaces.
func TestNamespaces(t *testing.T) {
	r := newRig(t, serve.Config{}, true)
	r.create(t, "a", "one", "")
	handler, err := serve.New(serve.Config{Resources: []serve.Resource{{
		GroupVersionResource: widgetsResource, Kind: "Widget", Namespaced: true, Namespaces: caches{"a": r.cache, "b": r.cache},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	addr := r.serveHandler(t, handler)
	for path, want := range map[string]string{
		widgetsInA + "/one":                             "200 Widget one@2 generation 0",
		"/apis/samples.dev/v1/namespaces/b/widgets/one": `404 NotFound "widgets.samples.dev \"one\" not found"`,
		widgets: `403 Forbidden "widgets.samples.dev is forbidden: only the namespaces a, b are served"`,
		"/apis/samples.dev/v1/namespaces/c/widgets?watch=1": `403 Forbidden "widgets.samples.dev is forbidden: only the namespaces a, b are served"`,
	} {
		resp, err := r.client.Get(addr + path)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if got := describe(t, resp); got != want {
			t.Errorf("%s\n got %s\nwant %s", path, got, want)
		}
	}
}
