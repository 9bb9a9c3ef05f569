// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

var (
	podResource  = corev1.SchemeGroupVersion.WithResource("pods")
	nodeResource = corev1.SchemeGroupVersion.WithResource("nodes")
)

func podsOf(f informer.SharedInformerFactory, opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	return informer.For[*corev1.Pod](f, podResource, opts...)
}

func TestFactoryLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld(pod("shop", "blue", ""))
		f := informer.NewFactory(server.client(t))
		want(t, f.WaitForCacheSync(t.Context()), "informer factory: WaitForCacheSync: the factory was not started")
		ctx, cancel := context.WithCancelCause(t.Context())
		if err := f.Start(ctx); err != nil {
			t.Error(err)
		}
		pods := podsOf(f)
		if podsOf(f) != pods {
			t.Error("another informer for the same resource and type")
		}
		synctest.Wait()
		if pods.Status().Running {
			t.Error("For has started something")
		}
		for range 2 {
			if err := errors.Join(f.Start(ctx), f.WaitForCacheSync(t.Context())); err != nil {
				t.Error(err)
			}
		}
		if err := pods.Run(t.Context()); !errors.Is(err, informer.ErrRunning) {
			t.Errorf("Run of an informer that the factory runs: %v", err)
		}
		if _, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"}); !ok {
			t.Error("no blue")
		}

		why := errors.New("why")
		cancel(why)
		synctest.Wait()
		if pods.Status().Running {
			t.Error("runs on after its context is done")
		}
		if err := f.Start(ctx); !errors.Is(err, why) {
			t.Errorf("Start with a context that is done: %v", err)
		}
		if err := f.Start(t.Context()); err != nil || !pods.Status().Running {
			t.Errorf("started anew: %v", err)
		}
		for range 2 {
			if err := f.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if err := f.Start(t.Context()); !errors.Is(err, informer.ErrShutdown) {
			t.Errorf("Start after Shutdown: %v", err)
		}
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Errorf("what has synced stays synced: %v", err)
		}
	})
}

// TestStartWhileTheLastRunEnds starts an informer anew whose Run still waits for a callback.
func TestStartWhileTheLastRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld(pod("shop", "blue", ""))
		f := informer.NewFactory(server.client(t))
		pods := podsOf(f)
		let := make(chan struct{})
		add(t, pods, &notes{before: func() { <-let }})
		first, cancel := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		if err := f.Start(first); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		if err := f.Start(second); err != nil {
			t.Errorf("while the last Run ends: %v", err)
		}
		cancelSecond()
		if err := errors.Join(f.Start(t.Context()), f.Start(t.Context())); err != nil {
			t.Errorf("while two Runs end: %v", err)
		}
		close(let)
		rv := server.put(pod("shop", "red", ""))
		synctest.Wait()
		if s := pods.Status(); !s.Running || s.ResourceVersion != rv {
			t.Errorf("not started again: %+v", s)
		}
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if pods.Status().Running {
			t.Error("runs on after Shutdown")
		}
	})
}

func TestShutdownBeforeStart(t *testing.T) {
	f := informer.NewFactory(newWorld().client(t))
	podsOf(f)
	if err := f.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if err := f.Start(t.Context()); !errors.Is(err, informer.ErrShutdown) {
		t.Errorf("got %v", err)
	}
}

func TestShutdownNamesTheStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld(pod("shop", "blue", ""))
		f := informer.NewFactory(server.client(t))
		let := make(chan struct{})
		add(t, podsOf(f), &notes{before: func() { <-let }}, informer.WithHandlerName("billing"))
		if err := errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := f.Shutdown(ctx)
		want(t, err, `informer factory: Shutdown: context deadline exceeded: pods/v1: handler "billing" has not returned from OnAdd of shop/blue for 1m5s`)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the error does not wrap the cause")
		}
		close(let)
		if err := f.Shutdown(t.Context()); err != nil {
			t.Errorf("once it has returned: %v", err)
		}
	})
}

func TestShutdownWhileWaitingForSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld()
		server.fail(errOutage)
		f := informer.NewFactory(server.client(t))
		podsOf(f)
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Minute, func() { _ = f.Shutdown(context.Background()) })
		err := f.WaitForCacheSync(t.Context())
		if !errors.Is(err, informer.ErrShutdown) || !strings.HasPrefix(err.Error(), "informer factory: WaitForCacheSync: the factory was shut down: 1 of 1 informers not synced after 1m0s: pods/v1 is not running: ") {
			t.Errorf("got %v", err)
		}
	})
}

func TestFactoryOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld()
		f := informer.NewFactory(server.client(t), informer.WithNamespace("shop"), informer.WithWatchList(false), informer.WithPageSize(7))
		podsOf(f)
		podsOf(f, informer.WithNamespace("shop")) // as it was made
		informer.For[*corev1.Node](f, nodeResource, informer.WithClusterScope())
		services := informer.For[*corev1.Service](f, corev1.SchemeGroupVersion.WithResource("services"), informer.WithNamespace("other"),
			informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"})), informer.WithName("web"))
		if err := f.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if name := services.Status().Name; name != "web" {
			t.Errorf("the name is %q", name)
		}
		for _, part := range []string{"/api/v1/namespaces/shop/pods?limit=7", "/api/v1/nodes?limit=7", "/api/v1/namespaces/other/services?labelSelector=app%3Dweb&limit=7"} {
			found := false
			for _, asked := range server.asked {
				found = found || strings.HasPrefix(asked, part)
			}
			if !found {
				t.Errorf("nobody asked for %s: %q", part, server.asked)
			}
		}
	})
}

// TestFactoryRemembersErrors has everything that NewFactory and For can be given wrong; Start returns all of it.
func TestFactoryRemembersErrors(t *testing.T) {
	server := newWorld()
	client := server.client(t)
	other := store.NewIndex("ByNode", func(_ *corev1.Pod, keys []int) []int { return keys })
	for _, test := range []struct {
		name string
		make func() *informer.Factory
		want string
	}{
		{"no client", func() *informer.Factory { return informer.NewFactory(nil) }, "informer.NewFactory: the client is nil"},
		{"no option", func() *informer.Factory { return informer.NewFactory(client, nil) }, "informer.NewFactory: option 1 is nil"},
		{"indexes", func() *informer.Factory { return informer.NewFactory(client, informer.WithIndexes(PodByNode)) },
			"informer.NewFactory: WithIndexes: not an option of NewFactory; use it with For or New"},
		{"no selector", func() *informer.Factory { return informer.NewFactory(client, informer.WithLabelSelector(nil)) },
			"informer.NewFactory: WithLabelSelector: the selector is nil; use labels.Everything"},
		{"no resource", func() *informer.Factory {
			f := informer.NewFactory(client)
			informer.For[*corev1.Pod](f, schema.GroupVersionResource{Version: "v1"})
			return f
		}, `informer.For /v1: "/v1, Resource=" lacks a resource or a version`},
		{"not a pointer", func() *informer.Factory {
			f := informer.NewFactory(client)
			informer.For[object.Object](f, podResource)
			informer.For[object.Object](f, podResource) // says it once
			return f
		}, "informer.For pods/v1: objects of type object.Object can not be made; want a pointer to a struct"},
		{"other options", func() *informer.Factory {
			f := informer.NewFactory(client, informer.WithPageSize(7))
			podsOf(f)
			podsOf(f, informer.WithPageSize(7), informer.WithPageSize(8), informer.WithIndexes(PodByNode))
			return f
		}, "informer.For pods/v1: WithPageSize: the informer was made with another value; give it to the first For, or to none, or make another informer by WithName"},
		{"other indexes", func() *informer.Factory {
			f := informer.NewFactory(client)
			podsOf(f, informer.WithIndexes(PodByNode))
			podsOf(f, informer.WithIndexes(PodByNode))
			podsOf(f, informer.WithIndexes(other))
			return f
		}, `informer.For pods/v1: two indexes have the name "ByNode"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := test.make()
			want(t, f.Start(t.Context()), "informer factory: Start: "+test.want)
			if err := f.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	f := informer.NewFactory(client)
	for call, f := range map[string]func(context.Context) error{"Start": f.Start, "Shutdown": f.Shutdown, "WaitForCacheSync": func(ctx context.Context) error { return f.WaitForCacheSync(ctx) }} {
		want(t, f(noContext), "informer factory: "+call+": the context is nil")
	}
}

// TestBrokenInformers shows that what For returns for wrong arguments can be used, and says what is wrong.
func TestBrokenInformers(t *testing.T) {
	for name, pods := range map[string]*informer.SharedIndexInformer[*corev1.Pod]{
		"informer.For pods/v1: the factory is nil":                       podsOf(nil),
		"informer.For pods/v1: the factory has no client":                podsOf(informer.NewFactory(nil)),
		"informer.For pods/v1: WithPageSize: -1 objects; want 0 or more": podsOf(informer.NewFactory(newWorld().client(t)), informer.WithPageSize(-1)),
	} {
		for range 2 {
			want(t, pods.Run(t.Context()), name)
			want(t, pods.WaitForCacheSync(t.Context()), name)
			_, err := pods.AddEventHandler(&notes{})
			want(t, err, "informer pods/v1: AddEventHandler: "+name)
		}
		if s := pods.Status(); s.Reflector.LastError == nil || pods.HasSynced() || pods.Store().Snapshot().Len() != 0 {
			t.Errorf("status %+v", s)
		}
	}
	want(t, podsOf((*informer.Factory)(nil)).Run(t.Context()), "informer.For pods/v1: the factory is nil")
}

func TestForAddsIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := informer.NewFactory(newWorld(pod("shop", "blue", "node-1")).client(t))
		pods := podsOf(f)
		if err := errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())); err != nil {
			t.Fatal(err)
		}
		if podsOf(f, informer.WithIndexes(PodByNode)) != pods {
			t.Error("another informer")
		}
		var keys []string
		for key := range PodByNode.Keys(pods.Store().Snapshot()) {
			keys = append(keys, key)
		}
		if diff := cmp.Diff([]string{"node-1"}, keys); diff != "" {
			t.Error(diff)
		}
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
