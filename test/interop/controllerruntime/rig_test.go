// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/devserver"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// start makes a cache of the shared server, prepares it, and runs it until the test ends.
func start(t *testing.T, newCache cache.NewCacheFunc, opts cache.Options, prepare ...func(*testing.T, cache.Cache)) cache.Cache {
	t.Helper()
	c := newUnstarted(t, newCache, opts)
	for _, f := range prepare {
		f(t, c)
	}
	run(t, c)
	return c
}

// newUnstarted makes a cache of the shared server, with connections of its own. Its requests go
// through the given round trippers.
func newUnstarted(t *testing.T, newCache cache.NewCacheFunc, opts cache.Options, through ...func(http.RoundTripper) http.RoundTripper) cache.Cache {
	t.Helper()
	config := server.Config()
	opts.HTTPClient = httpClient(t, config, through...)
	c, err := newCache(config, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// run starts a cache, and waits until it accepts reads and its present informers have synced. The
// cache stops when the test ends or end is called.
func run(t *testing.T, c cache.Cache) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Start: %v", err)
		}
	})
	t.Cleanup(end)
	if !c.WaitForCacheSync(within(t, poll.Patience)) {
		t.Fatal("the cache has not synced")
	}
	return end
}

// httpClient returns a client. Its connections are closed when the test ends.
func httpClient(t *testing.T, config *rest.Config, through ...func(http.RoundTripper) http.RoundTripper) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	var rt http.RoundTripper = transport
	for _, f := range through {
		rt = f(rt)
	}
	config = rest.CopyConfig(config)
	config.Transport = rt
	c, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newClientOf returns a client of a server, without a cache.
func newClientOf(t *testing.T, s *devserver.Server) client.Client {
	t.Helper()
	c, err := client.New(s.Config(), client.Options{HTTPClient: httpClient(t, s.Config())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// instead returns a round tripper that answers the requests for matching paths itself.
func instead(hit func(path string) bool, answer roundTripper) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if hit(r.URL.Path) {
				return answer(r)
			}
			return next.RoundTrip(r)
		})
	}
}

// hang is an answer that never comes: the client gives up.
func hang(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func of(resource string) func(url string) bool {
	return func(url string) bool { return path.Base(url) == resource }
}

func in(namespace string) func(url string) bool {
	return func(url string) bool { return strings.Contains(url, "/namespaces/"+namespace+"/") }
}

// forbid answers requests for a resource as a server does if RBAC forbids them.
func forbid(resource string) func(http.RoundTripper) http.RoundTripper {
	return instead(of(resource), func(r *http.Request) (*http.Response, error) {
		status := apierrors.NewForbidden(schema.GroupResource{Resource: resource}, "", errors.New("no RBAC rule allows it")).Status()
		body, err := json.Marshal(status)
		return &http.Response{
			StatusCode: http.StatusForbidden,
			Header:     http.Header{"Content-Type": {"application/json"}},
			Body:       io.NopCloser(bytes.NewReader(body)),
			Request:    r,
		}, err
	})
}

// itemsOf returns the items of a list.
func itemsOf(t *testing.T, list client.ObjectList) []runtime.Object {
	t.Helper()
	items, err := meta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	return items
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// within returns a context that is done after a while, or with the test.
func within(t *testing.T, wait time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	t.Cleanup(cancel)
	return ctx
}

// recorder is a handler that records its calls.
type recorder struct {
	mu    sync.Mutex
	calls []string // guarded by mu
}

func (r *recorder) add(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
}

func (r *recorder) OnAdd(obj any, initial bool) {
	r.add("add %T %s initial %t", obj, obj.(client.Object).GetName(), initial)
}

func (r *recorder) OnUpdate(old, obj any) {
	r.add("update %s %v to %v", obj.(client.Object).GetName(), old.(client.Object).GetLabels(), obj.(client.Object).GetLabels())
}

func (r *recorder) OnDelete(obj any) {
	last := obj
	if unknown, ok := obj.(clientcache.DeletedFinalStateUnknown); ok {
		last = unknown.Obj
	}
	r.add("delete %T %s", obj, last.(client.Object).GetName())
}

// sorted returns the calls so far, in the order of their texts.
func (r *recorder) sorted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.calls))
}

// has waits for exactly the wanted calls, in any order.
func (r *recorder) has(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	poll.Until(t, func() error {
		if got := r.sorted(); !slices.Equal(got, want) {
			return fmt.Errorf("calls:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		return nil
	})
}
