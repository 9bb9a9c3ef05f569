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

// heapAfter is the live heap after f, above what it was before. It waits until that is no more than
// most, or for a minute: streams that f has left waiting need a moment to let go of what they held.
func heapAfter(most int64, f func()) (grown int64) {
	live := func() int64 {
		var m runtime.MemStats
		for range 3 { // what pools keep is gone then
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := live()
	f()
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if grown = live() - before; grown <= most {
			break
		}
	}
	return grown
}

// open is a watch that goes on until the body is closed.
type open struct {
	io.Reader
	closed chan struct{}
	once   sync.Once
}

func (b *open) Read(p []byte) (int, error) {
	if n, err := b.Reader.Read(p); err == nil {
		return n, nil
	}
	<-b.closed
	return 0, io.EOF
}

func (b *open) Close() error {
	b.once.Do(func() { close(b.closed) })
	return nil
}

// watchOpen serves watches that stay open after body, and lists.
func watchOpen(t testing.TB, body, list string) *Client {
	return newTestClient(t, func(req *http.Request) (*http.Response, error) {
		if req.URL.Query().Get("watch") == "" {
			return answer(200, list), nil
		}
		resp := answer(200, "")
		b := &open{Reader: strings.NewReader(body), closed: make(chan struct{})}
		context.AfterFunc(req.Context(), func() { b.Close() })
		resp.Body = b
		return resp, nil
	})
}

// hold opens a watch of each source, and returns when n events of each were handed over. They end
// with the test.
func hold(t testing.TB, sources []*HTTP[*corev1.Pod], n int) {
	ctx, cancel := context.WithCancel(t.Context())
	var came, ended sync.WaitGroup
	t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
	for _, s := range sources {
		came.Add(n)
		ended.Go(func() {
			s.Watch(ctx, WatchOptions{ReadOnly: true}, nil, func(Event[*corev1.Pod]) error { came.Done(); return nil })
		})
	}
	came.Wait()
}

// TestSourceWithoutObjectsIsSmall: what it takes to decode a type is compiled once, and only by
// those that have objects to decode.
func TestSourceWithoutObjectsIsSmall(t *testing.T) {
	const n = 100
	const most = n * 8 << 10
	c := watchOpen(t, podtest.Bookmark, "")
	// package json learns what a bookmark is
	hold(t, []*HTTP[*corev1.Pod]{sourceOf[*corev1.Pod](t, c, pods, Options{})}, 1)
	grown := heapAfter(most, func() {
		sources := make([]*HTTP[*corev1.Pod], n)
		for i := range sources {
			sources[i] = sourceOf[*corev1.Pod](t, c, pods, Options{})
		}
		hold(t, sources, 1)
	})
	if grown > most {
		t.Errorf("an open watch that brought a bookmark takes %d bytes", grown/n)
	}
}

// TestIdleStreamHoldsNoDecoder: a stream that waits for its next event holds neither a decoder nor
// the buffer of those before the last bookmark.
func TestIdleStreamHoldsNoDecoder(t *testing.T) {
	const n = 100
	const most = n * 6 << 10
	all := sourceOf[*corev1.Pod](t, watchOpen(t, strings.Repeat(podtest.Event("ADDED", podtest.WithKind(podtest.Large(1))), 10)+podtest.Bookmark, ""), pods, Options{})
	hold(t, []*HTTP[*corev1.Pod]{all}, 11)
	grown := heapAfter(most, func() {
		sources := make([]*HTTP[*corev1.Pod], n)
		for i := range sources {
			var err error
			if sources[i], err = all.In(fmt.Sprintf("ns-%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		hold(t, sources, 11)
	})
	if grown > most {
		t.Errorf("an idle watch of a namespace takes %d bytes", grown/n)
	}
}

// TestNamespacesShareParts: equal parts of objects of several namespaces are in memory once, and
// the address of each is its own.
func TestNamespacesShareParts(t *testing.T) {
	var asked []string
	c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
		asked = append(asked, req.URL.Path)
		return answer(200, podtest.LargeList(20)), nil
	})
	all := sourceOf[*corev1.Pod](t, c, pods, Options{})
	var last *corev1.Pod
	for _, namespace := range []string{"one", "two", ""} {
		s, err := all.In(namespace)
		noError(t, err)
		if namespace != "" && !strings.Contains(s.String(), namespace) {
			t.Errorf("the source of namespace %s is called %s", namespace, s)
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
	if fmt.Sprint(asked) != "[/api/v1/namespaces/one/pods /api/v1/namespaces/two/pods /api/v1/pods]" {
		t.Errorf("asked for %v", asked)
	}
	if _, err := all.In("a/b"); err == nil || !strings.Contains(err.Error(), `namespace "a/b"`) {
		t.Errorf("a namespace that can't be part of a path: got %v", err)
	}
}
