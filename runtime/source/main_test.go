// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/informer-gen/informer-gen/runtime/object"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// roundTrip is a server without a socket.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func answer(status int, body string, header ...string) *http.Response {
	resp := &http.Response{
		StatusCode: status,
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(strings.NewReader(body)),
	}
	for i := 0; i+1 < len(header); i += 2 {
		resp.Header.Set(header[i], header[i+1])
	}
	return resp
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func clientOf(t testing.TB, config *rest.Config) *Client {
	t.Helper()
	c, err := NewClient(config)
	noError(t, err)
	return c
}

func newTestClient(t testing.TB, f roundTrip) *Client {
	return clientOf(t, &rest.Config{Host: "http://api.test", Transport: f})
}

func sourceOf[T object.Object](t testing.TB, c *Client, gvr schema.GroupVersionResource, opts Options) *HTTP[T] {
	t.Helper()
	s, err := New[T](c, gvr, opts)
	noError(t, err)
	return s
}

// serveIn returns a source of Pods of a server that answers every request with body in format f.
// opts.Formats defaults to f.
func serveIn[T object.Object](t testing.TB, f Format, body []byte, opts Options) *HTTP[T] {
	t.Helper()
	if opts.Formats == nil {
		opts.Formats = []Format{f}
	}
	return sourceOf[T](t, newTestClient(t, func(*http.Request) (*http.Response, error) {
		return answer(200, string(body), "Content-Type", f.mediaType()), nil
	}), pods, opts)
}

// serve returns a source of Pods of a server that answers every request with body as JSON.
func serve(t testing.TB, body string) *HTTP[*corev1.Pod] {
	t.Helper()
	return serveIn[*corev1.Pod](t, JSON, []byte(body), Options{})
}

func newPod() object.Object     { return &corev1.Pod{} }
func newUntyped() object.Object { return &unstructured.Unstructured{} }

// listAll reads one page, and returns the objects handed over, even with an error.
func listAll[T object.Object](s Source[T]) ([]T, ListResult, error) {
	var got []T
	result, err := s.List(context.Background(), ListOptions{}, func(obj T) error {
		got = append(got, obj)
		return nil
	})
	return got, result, err
}

// watchAll reads a watch to its end, and returns the events handed over, even with an error.
func watchAll[T object.Object](s Source[T]) ([]Event[T], error) {
	var got []Event[T]
	err := s.Watch(context.Background(), WatchOptions{ResourceVersion: "1"}, nil, func(e Event[T]) error {
		got = append(got, e)
		return nil
	})
	return got, err
}
