// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/podtest"
)

// heapGrowth returns the growth of the live heap by f. It waits until this is at most limit, or for
// a minute: streams that f has opened free their buffers a little later.
func heapGrowth(limit int64, f func()) (grown int64) {
	live := func() int64 {
		var m runtime.MemStats
		for range 3 { // frees the content of pools
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	f()
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(time.Millisecond) {
		if grown = live() - before; grown <= limit {
			break
		}
	}
	return grown
}

// openBody is the body of a watch that stays open until it is closed.
type openBody struct {
	io.Reader
	closed chan struct{}
	once   sync.Once
}

func (b *openBody) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	<-b.closed
	return 0, io.EOF
}

func (b *openBody) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// watchOpen returns a client of a server whose watches stay open after body, and that serves list.
func watchOpen(t testing.TB, body, list string) *Client {
	return newTestClient(t, func(req *http.Request) (*http.Response, error) {
		if req.URL.Query().Get("watch") == "" {
			return answer(200, list), nil
		}
		resp := answer(200, "")
		b := &openBody{Reader: strings.NewReader(body), closed: make(chan struct{})}
		context.AfterFunc(req.Context(), func() { b.Close() })
		resp.Body = b
		return resp, nil
	})
}

// openWatches opens a watch of each source, and returns after n events of each. The watches end
// with the test.
func openWatches(t testing.TB, sources []*HTTP[*corev1.Pod], n int) {
	ctx, cancel := context.WithCancel(t.Context())
	var events, ended sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	for _, s := range sources {
		events.Add(n)
		ended.Go(func() {
			s.Watch(ctx, WatchOptions{ReadOnly: true}, nil, func(Event[*corev1.Pod]) error { events.Done(); return nil })
		})
	}
	events.Wait()
}

// TestSourceWithoutObjectsIsSmall: the decoder of a type is compiled once, and only for objects.
func TestSourceWithoutObjectsIsSmall(t *testing.T) {
	const n = 100
	const limit = n * 8 << 10
	c := watchOpen(t, podtest.Bookmark, "")
	// package json compiles its decoder of a bookmark
	openWatches(t, []*HTTP[*corev1.Pod]{sourceOf[*corev1.Pod](t, c, pods, Options{})}, 1)
	grown := heapGrowth(limit, func() {
		sources := make([]*HTTP[*corev1.Pod], n)
		for i := range sources {
			sources[i] = sourceOf[*corev1.Pod](t, c, pods, Options{})
		}
		openWatches(t, sources, 1)
	})
	if grown > limit {
		t.Errorf("an open watch that brought a bookmark takes %d bytes", grown/n)
	}
}

// TestIdleStreamHoldsNoDecoder: a stream that waits for its next event holds neither a decoder nor
// the buffer of earlier events.
func TestIdleStreamHoldsNoDecoder(t *testing.T) {
	const n = 100
	const limit = n * 6 << 10
	all := sourceOf[*corev1.Pod](t, watchOpen(t, strings.Repeat(podtest.Event("ADDED", podtest.WithKind(podtest.Large(1))), 10)+podtest.Bookmark, ""), pods, Options{})
	openWatches(t, []*HTTP[*corev1.Pod]{all}, 11)
	grown := heapGrowth(limit, func() {
		sources := make([]*HTTP[*corev1.Pod], n)
		for i := range sources {
			var err error
			if sources[i], err = all.In(fmt.Sprintf("ns-%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		openWatches(t, sources, 11)
	})
	if grown > limit {
		t.Errorf("an idle watch of a namespace takes %d bytes", grown/n)
	}
}

// TestNamespacesShareParts: equal parts of objects of several namespaces are in memory once.
func TestNamespacesShareParts(t *testing.T) {
	var paths []string
	c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
		paths = append(paths, req.URL.Path)
		return answer(200, podtest.LargeList(20)), nil
	})
	all := sourceOf[*corev1.Pod](t, c, pods, Options{})
	var last *corev1.Pod
	for _, namespace := range []string{"one", "two", ""} {
		s, err := all.In(namespace)
		noError(t, err)
		if namespace != "" && !strings.Contains(s.String(), namespace) {
			t.Errorf("String() of the source of namespace %s = %s", namespace, s)
		}
		var got *corev1.Pod
		if _, err := s.List(t.Context(), ListOptions{ReadOnly: true}, func(p *corev1.Pod) error { got = p; return nil }); err != nil {
			t.Fatal(err)
		}
		if last != nil && reflect.ValueOf(got.Spec.Containers).Pointer() != reflect.ValueOf(last.Spec.Containers).Pointer() {
			t.Error("the containers of equal Pods in two namespaces are in memory twice")
		}
		last = got
	}
	if fmt.Sprint(paths) != "[/api/v1/namespaces/one/pods /api/v1/namespaces/two/pods /api/v1/pods]" {
		t.Errorf("paths %v", paths)
	}
	if _, err := all.In("a/b"); err == nil || !strings.Contains(err.Error(), `namespace "a/b"`) {
		t.Errorf("In(\"a/b\") = %v", err)
	}
}
