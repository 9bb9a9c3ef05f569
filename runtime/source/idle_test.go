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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	k8sruntime "k8s.io/apimachinery/pkg/runtime"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// heapAfter is the live heap after f, above what it was before.
func heapAfter(f func()) int64 {
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
	return live() - before
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

func podSource(t testing.TB, c *Client, opts Options) *HTTP[*corev1.Pod] {
	t.Helper()
	s, err := New[*corev1.Pod](c, pods, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSourceWithoutObjectsIsSmall: what it takes to decode a type is compiled once, and only by
// those that have objects to decode.
func TestSourceWithoutObjectsIsSmall(t *testing.T) {
	const n = 100
	c := watchOpen(t, bookmark, "")
	// package json learns what a bookmark is
	hold(t, []*HTTP[*corev1.Pod]{podSource(t, c, Options{})}, 1)
	grown := heapAfter(func() {
		sources := make([]*HTTP[*corev1.Pod], n)
		for i := range sources {
			sources[i] = podSource(t, c, Options{})
		}
		hold(t, sources, 1)
	})
	if grown > n*8<<10 {
		t.Errorf("an open watch that brought a bookmark takes %d bytes", grown/n)
	}
}

// TestIdleStreamHoldsNoDecoder: a stream that waits for its next event holds neither a decoder nor
// the buffer of those before the last bookmark.
func TestIdleStreamHoldsNoDecoder(t *testing.T) {
	const n = 100
	all := podSource(t, watchOpen(t, strings.Repeat(event("ADDED", kindPodOf(benchPod(1))), 10)+bookmark, ""), Options{})
	hold(t, []*HTTP[*corev1.Pod]{all}, 11)
	grown := heapAfter(func() {
		sources := make([]*HTTP[*corev1.Pod], n)
		for i := range sources {
			var err error
			if sources[i], err = all.In(fmt.Sprintf("ns-%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		hold(t, sources, 11)
	})
	if grown > n*6<<10 {
		t.Errorf("an idle watch of a namespace takes %d bytes", grown/n)
	}
}

// TestProgramIsCompiledOnce: the second source of a type decodes its first object with what the
// first source has compiled.
func TestProgramIsCompiledOnce(t *testing.T) {
	for _, opts := range []Options{{}, {DropManagedFields: true, DropAnnotations: []string{"a", "b"}}, {DropManagedFields: true, DropAnnotations: []string{"b", "a"}}} {
		for _, f := range []Format{JSON, Protobuf} {
			var decoders []any
			for range 2 {
				c := mustCodec(t, opts, newPod)
				if f == JSON {
					decoders = append(decoders, reflect.ValueOf(c.fastJSON(true)).Elem().FieldByName("program").Pointer())
				} else {
					decoders = append(decoders, reflect.ValueOf(c.fastProto(true)).Elem().FieldByName("program").Pointer())
				}
			}
			if decoders[0] != decoders[1] {
				t.Errorf("%v with %+v: two sources of Pods have two programs", f, opts)
			}
		}
	}
}

// TestNamespacesShareParts: equal parts of objects of several namespaces are in memory once, and
// the address of each is its own.
func TestNamespacesShareParts(t *testing.T) {
	var asked []string
	c := newTestClient(t, func(req *http.Request) (*http.Response, error) {
		asked = append(asked, req.URL.Path)
		return answer(200, benchList(20)), nil
	})
	all := podSource(t, c, Options{})
	var last *corev1.Pod
	for _, namespace := range []string{"one", "two", ""} {
		s, err := all.In(namespace)
		if err != nil {
			t.Fatal(err)
		}
		if namespace != "" && !strings.Contains(s.String(), namespace) {
			t.Errorf("the source of namespace %s is called %s", namespace, s)
		}
		got := listPods(t, s, ListOptions{ReadOnly: true})[19]
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

// fused has parts that a method of their own decodes.
type fused struct {
	metav1.TypeMeta
	metav1.ObjectMeta `json:"metadata"`
	Parts             []fusedPart `json:"parts"`
}

type fusedPart struct {
	Text   string            `json:"text"`
	Labels map[string]string `json:"labels"`
	Fuse   fuse              `json:"fuse"`
}

func (f *fused) DeepCopyObject() k8sruntime.Object { panic("not needed") }

type fuse struct{}

func (*fuse) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `"panic"`:
		panic("on purpose")
	case `"exit"`:
		runtime.Goexit()
	}
	return nil
}

// TestDecoderAfterPanic: what a type's own method, or newObject, has left behind in a decoder,
// which serves the next stream, does no harm.
func TestDecoderAfterPanic(t *testing.T) {
	list := func(fuses string) string {
		var items []string
		for i := range 40 {
			fuse := "later"
			if i == 30 {
				fuse = fuses
			}
			items = append(items, fmt.Sprintf(`{"metadata":{"name":"a-%d","resourceVersion":"1","labels":{"app":"web"}},"parts":[`+
				`{"text":"%[1]d","labels":{"a":"b"}},{"labels":{"a":"b"},"text":"two","fuse":%q}]}`, i, fuse))
		}
		return `{"kind":"FusedList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[` + strings.Join(items, ",") + `]}`
	}
	body, panics := list("later"), false
	c := newTestClient(t, func(*http.Request) (*http.Response, error) { return answer(200, body), nil })
	for name, how := range map[string]tuning{"alone": {procs: 1, sizes: defaultTuning.sizes}, "ahead": tiny} {
		s, err := NewFunc(c, pods, func() object.Object {
			if panics {
				panic("on purpose")
			}
			return &fused{}
		}, Options{Kind: "Fused"})
		if err != nil {
			t.Fatal(err)
		}
		s.c.codec.tuning = how
		read := func() (got []object.Object, reason any) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				defer func() {
					if r := recover(); r != nil {
						reason = r
					}
				}()
				_, err := s.List(t.Context(), ListOptions{ReadOnly: true}, func(o object.Object) error { got = append(got, o); return nil })
				if err != nil {
					reason = err
				}
			}()
			<-done
			return got, reason
		}
		body, panics = list("later"), false
		want, _ := read()
		if len(want) != 40 {
			t.Fatalf("%s: %d objects", name, len(want))
		}
		for _, what := range []string{"panic", "exit", "new"} {
			body, panics = list(what), what == "new"
			if got, reason := read(); reason == nil && what != "exit" || len(got) > 30 {
				t.Errorf("%s: %s: %d objects, ended with %v", name, what, len(got), reason)
			}
			body, panics = list("later"), false
			if got, reason := read(); reason != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: after a %s there are %d objects, which differ, or %v", name, what, len(got), reason)
			}
		}
	}
}
