// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newUnanswered returns a cache of Pods and ConfigMaps on a server that does not answer.
func newUnanswered(t *testing.T, opts cache.Options) *Cache {
	t.Helper()
	return newOf(t, unanswered{}, opts)
}

// newOf returns a cache of Pods and ConfigMaps.
func newOf(t *testing.T, server http.RoundTripper, opts cache.Options) *Cache {
	t.Helper()
	mapper := meta.NewDefaultRESTMapper(nil)
	opts.Scheme = runtime.NewScheme()
	if err := corev1.AddToScheme(opts.Scheme); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"Pod", "ConfigMap"} {
		mapper.Add(corev1.SchemeGroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	opts.Mapper, opts.HTTPClient = mapper, &http.Client{Transport: server}
	c, err := New(&rest.Config{Host: "http://none.invalid"}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNewInformer: NewCache refuses options with a NewInformer; IgnoreNewInformer drops it.
func TestNewInformer(t *testing.T) {
	called := false
	opts := cache.Options{
		Scheme: runtime.NewScheme(), Mapper: meta.NewDefaultRESTMapper(nil),
		NewInformer: func(clientcache.ListerWatcher, runtime.Object, time.Duration, clientcache.Indexers) clientcache.SharedIndexInformer {
			called = true
			return nil
		},
	}
	if err := corev1.AddToScheme(opts.Scheme); err != nil {
		t.Fatal(err)
	}
	opts.Mapper.(*meta.DefaultRESTMapper).Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	config := &rest.Config{Host: "http://none.invalid"}
	if _, err := NewCache(config, opts); err == nil || !strings.Contains(err.Error(), "IgnoreNewInformer(NewCache)") {
		t.Errorf("NewCache: error %v, want one that names IgnoreNewInformer", err)
	}
	c, err := IgnoreNewInformer(Until(t.Context()))(config, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil || called {
		t.Errorf("GetInformer: error %v; NewInformer was called: %v, want false", err, called)
	}
	if c.(*Cache).until == nil {
		t.Error("the cache was not made by Until")
	}
}

// start starts a cache. It ends with ctx, which must end with the test or earlier.
func start(ctx context.Context, t *testing.T, c *Cache) {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	<-c.started
}

// TestNilObject reads into nil, also for a kind found by its type.
func TestNilObject(t *testing.T) {
	c := newUnanswered(t, cache.Options{})
	start(t.Context(), t, c)
	if _, err := c.readableFor(&corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	for name, obj := range map[string]client.Object{"nil": nil, "a nil Pod": (*corev1.Pod)(nil)} {
		if _, err := c.readableFor(obj); err == nil {
			t.Errorf("Get into %s returned no error", name)
		}
	}
}

// TestWaitForCacheSyncOfStoppedCache: the informers have not synced, so the result is false. They
// end with the context of Start, maybe before Start goes on.
func TestWaitForCacheSyncOfStoppedCache(t *testing.T) {
	c := newUnanswered(t, cache.Options{})
	if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if !c.begin(ctx) {
		t.Fatal("begin() = false")
	}
	cancel()
	if c.WaitForCacheSync(t.Context()) {
		t.Error("WaitForCacheSync() = true")
	}
	// The text is controller-runtime's.
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "informer already started") {
		t.Errorf("a second Start: error %v", err)
	}
	c.end()
	c.running.Wait()
}

// TestRemoveInformerDuringRead: the read returns, and the next read makes a new informer.
func TestRemoveInformerDuringRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newUnanswered(t, cache.Options{})
		start(t.Context(), t, c)
		got := make(chan error, 1)
		go func() { got <- c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "b"}, &corev1.Pod{}) }()
		synctest.Wait() // the read waits for the sync
		first, err := c.readableFor(&corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.RemoveInformer(t.Context(), &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), errEnded.Error()) {
			t.Errorf("Get: error %v, want a timeout: %v", err, errEnded)
		}
		if again, err := c.readableFor(&corev1.Pod{}); err != nil || again == first {
			t.Errorf("GetInformer after RemoveInformer returned the removed informer, error %v", err)
		}
	})
}

// TestRemoveInformerForgets adds and removes informers. The context of Start must not keep removed
// ones.
func TestRemoveInformerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := &countingContext{Context: t.Context()}
		c := newUnanswered(t, cache.Options{})
		start(ctx, t, c)
		for range 10 {
			if _, err := c.readableFor(&corev1.Pod{}); err != nil {
				t.Fatal(err)
			}
			if err := c.RemoveInformer(ctx, &corev1.Pod{}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		if n := ctx.waiting.Load(); n != 0 {
			t.Errorf("%d functions of removed informers wait for the end of the context", n)
		}
	})
}

// countingContext counts the functions that wait for its end.
type countingContext struct {
	context.Context
	waiting atomic.Int64
}

// Value hides the inner context. Package context would otherwise wait for that one.
func (c *countingContext) Value(any) any { return nil }

// AfterFunc is called by package context.
func (c *countingContext) AfterFunc(f func()) func() bool {
	c.waiting.Add(1)
	stop := context.AfterFunc(c.Context, f)
	return func() bool {
		stopped := stop()
		if stopped {
			c.waiting.Add(-1)
		}
		return stopped
	}
}

// TestKindWithoutNamespaces reads a kind after the removal of the last namespace. It has no
// objects, until a namespace is added.
func TestKindWithoutNamespaces(t *testing.T) {
	c := newUnanswered(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}})
	start(t.Context(), t, c)
	if err := c.RemoveNamespace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil || len(pods.Items) != 0 {
		t.Errorf("List: %d Pods, error %v", len(pods.Items), err)
	}
	if !c.WaitForCacheSync(t.Context()) {
		t.Error("WaitForCacheSync() = false")
	}
	key := client.ObjectKey{Namespace: "two", Name: "a"}
	if err := c.Get(t.Context(), key, &corev1.Pod{}); err == nil || !strings.Contains(err.Error(), "unknown namespace") {
		t.Errorf("Get without namespaces: error %v, want unknown namespace", err)
	}
	if err := c.AddNamespace("two"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Get(ctx, key, &corev1.Pod{}); !apierrors.IsTimeout(err) {
		t.Errorf("Get in an added namespace: %v", err)
	}
}
