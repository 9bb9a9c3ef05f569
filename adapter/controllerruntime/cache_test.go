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

// newUnanswered returns a cache that knows Pods and ConfigMaps, of a server that answers nothing.
func newUnanswered(t *testing.T, opts cache.Options) *Cache {
	t.Helper()
	return newOf(t, unanswered{}, opts)
}

// newOf returns a cache that knows Pods and ConfigMaps.
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

// TestNewInformer: options that have one are refused, unless the program says that it may be
// dropped.
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
		t.Errorf("error %v, want one that names IgnoreNewInformer", err)
	}
	c, err := IgnoreNewInformer(Until(t.Context()))(config, opts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil || called {
		t.Errorf("GetInformer: error %v, NewInformer called: %v", err, called)
	}
	if c.(*Cache).until == nil {
		t.Error("the cache is not that of Until")
	}
}

// start starts a cache, which ends with ctx: the test's, or one of it.
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

// TestNoObject reads into nil, also of a kind that is found by the type.
func TestNoObject(t *testing.T) {
	c := newUnanswered(t, cache.Options{})
	start(t.Context(), t, c)
	if _, err := c.readableFor(&corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	for name, obj := range map[string]client.Object{"nil": nil, "a nil Pod": (*corev1.Pod)(nil)} {
		if _, err := c.readableFor(obj); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestWaitForCacheSyncOfAnEndedCache: nothing has synced, so the result is false. The informers end
// by themselves when the context of Start is done, maybe before Start goes on.
func TestWaitForCacheSyncOfAnEndedCache(t *testing.T) {
	c := newUnanswered(t, cache.Options{})
	if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if !c.begin(ctx) {
		t.Fatal("not begun")
	}
	cancel()
	if c.WaitForCacheSync(t.Context()) {
		t.Error("synced")
	}
	// The text is controller-runtime's.
	if err := c.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "informer already started") {
		t.Errorf("a second Start: %v", err)
	}
	c.end()
	c.running.Wait()
}

// TestRemoveInformerDuringARead: the read returns, and the next one has a new informer.
func TestRemoveInformerDuringARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newUnanswered(t, cache.Options{})
		start(t.Context(), t, c)
		got := make(chan error, 1)
		go func() { got <- c.Get(t.Context(), client.ObjectKey{Namespace: "a", Name: "b"}, &corev1.Pod{}) }()
		synctest.Wait() // it waits for the sync
		first, err := c.readableFor(&corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.RemoveInformer(t.Context(), &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), errEnded.Error()) {
			t.Errorf("Get: %v", err)
		}
		if again, err := c.readableFor(&corev1.Pod{}); err != nil || again == first {
			t.Errorf("the same informer after RemoveInformer, error %v", err)
		}
	})
}

// TestRemoveInformerForgets has informers come and go. The context of Start must not keep what has
// gone.
func TestRemoveInformerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := &counting{Context: t.Context()}
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
			t.Errorf("%d functions of informers that have gone wait for the end", n)
		}
	})
}

// counting is a context that counts the functions which wait for its end.
type counting struct {
	context.Context
	waiting atomic.Int64
}

// Value hides the context inside, whose end package context would wait for instead.
func (c *counting) Value(any) any { return nil }

// AfterFunc is what package context looks for.
func (c *counting) AfterFunc(f func()) func() bool {
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

// TestKindWithoutNamespaces is asked for when the last namespace was removed. It has no objects
// then, and gets those of a namespace that is added.
func TestKindWithoutNamespaces(t *testing.T) {
	c := newUnanswered(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}})
	start(t.Context(), t, c)
	if err := c.RemoveNamespace(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	var pods corev1.PodList
	if err := c.List(t.Context(), &pods); err != nil || len(pods.Items) != 0 {
		t.Errorf("List: %d Pods, %v", len(pods.Items), err)
	}
	if !c.WaitForCacheSync(t.Context()) {
		t.Error("not synced")
	}
	key := client.ObjectKey{Namespace: "two", Name: "a"}
	if err := c.Get(t.Context(), key, &corev1.Pod{}); err == nil || !strings.Contains(err.Error(), "unknown namespace") {
		t.Errorf("Get: %v", err)
	}
	if err := c.AddNamespace("two"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Get(ctx, key, &corev1.Pod{}); !apierrors.IsTimeout(err) {
		t.Errorf("Get in a namespace that was added: %v", err)
	}
}
