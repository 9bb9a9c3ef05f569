// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// bothEngines runs a scenario with either cache, which must have the same end.
func bothEngines(t *testing.T, scenario func(t *testing.T, newCache cache.NewCacheFunc)) {
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			scenario(t, engine.newCache)
		})
	}
}

func TestUnstartedCache(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := newUnstarted(t, newCache, cache.Options{})
		var notStarted *cache.ErrCacheNotStarted
		if err := c.Get(t.Context(), key("one", "web-1"), &corev1.Pod{}); !errors.As(err, &notStarted) {
			t.Errorf("Get: error %v, want ErrCacheNotStarted", err)
		}
		if err := c.List(t.Context(), &corev1.PodList{}); !errors.As(err, &notStarted) {
			t.Errorf("List: error %v, want ErrCacheNotStarted", err)
		}
		if c.WaitForCacheSync(within(t, time.Millisecond)) {
			t.Error("WaitForCacheSync() = true before the start")
		}
		i, err := c.GetInformer(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		if i.HasSynced() || i.IsStopped() {
			t.Errorf("before the start: HasSynced() = %t, IsStopped() = %t", i.HasSynced(), i.IsStopped())
		}
		run(t, c)
		if !i.HasSynced() {
			t.Error("HasSynced() = false after the start")
		}
	})
}

func TestStartTwice(t *testing.T) {
	for _, opts := range []cache.Options{{}, {DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}}} {
		bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
			if err := start(t, newCache, opts).Start(t.Context()); err == nil {
				t.Error("a second Start returned no error")
			}
		})
	}
}

// TestStoppedCache: a stopped cache still returns its objects, and doesn't wait for new kinds.
func TestStoppedCache(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := newUnstarted(t, newCache, cache.Options{})
		i, err := c.GetInformer(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		run(t, c)()
		if !i.IsStopped() {
			t.Error("IsStopped() = false after the end")
		}
		if _, err := i.AddEventHandler(&recorder{}); err == nil {
			t.Error("AddEventHandler on a stopped informer returned no error")
		}
		if err := c.Get(t.Context(), key("one", "web-1"), &corev1.Pod{}); err != nil {
			t.Errorf("Get: %v", err)
		}
		if err := c.Get(within(t, time.Second), key("", "node-1"), &corev1.Node{}); !apierrors.IsTimeout(err) {
			t.Errorf("Get of an uncached kind: error %v, want a timeout", err)
		}
	})
}

func TestUnknownKinds(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := start(t, newCache, cache.Options{})
		err := c.Get(t.Context(), key("one", "a"), &unregistered{})
		if !runtime.IsNotRegisteredError(err) {
			t.Errorf("Get of a type outside of the scheme: error %v, want NotRegistered", err)
		}
		u := untyped.object("Nonsense")
		if err := c.Get(t.Context(), key("one", "a"), u); !meta.IsNoMatchError(err) {
			t.Errorf("Get of a kind unknown to the server: error %v, want NoMatch", err)
		}
		if err := c.Get(t.Context(), key("one", "a"), &metav1.PartialObjectMetadata{}); !runtime.IsMissingKind(err) {
			t.Errorf("Get without a kind: error %v, want MissingKind", err)
		}
		if _, err := c.GetInformerForKind(t.Context(), corev1.SchemeGroupVersion.WithKind("Nonsense")); !runtime.IsNotRegisteredError(err) {
			t.Errorf("GetInformerForKind of an unknown kind: error %v, want NotRegistered", err)
		}
		if err := c.IndexField(t.Context(), &unregistered{}, "f", apps); err == nil {
			t.Error("IndexField of an unknown type returned no error")
		}
		if err := c.RemoveInformer(t.Context(), &unregistered{}); err == nil {
			t.Error("RemoveInformer of an unknown type returned no error")
		}
		if err := c.RemoveInformer(t.Context(), &corev1.Secret{}); err != nil {
			t.Errorf("RemoveInformer of a kind without an informer: %v", err)
		}
	})
}

type unregistered struct{ corev1.Pod }

// TestNilObject: methods return an error for a nil object.
func TestNilObject(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := start(t, newCache, cache.Options{})
		if err := c.Get(t.Context(), key("one", "web-1"), &corev1.Pod{}); err != nil {
			t.Fatal(err)
		}
		for name, obj := range map[string]client.Object{"nil": nil, "a nil Pod": (*corev1.Pod)(nil)} {
			_, informerErr := c.GetInformer(t.Context(), obj)
			for call, err := range map[string]error{
				"Get":            c.Get(t.Context(), key("one", "web-1"), obj),
				"GetInformer":    informerErr,
				"IndexField":     c.IndexField(t.Context(), obj, "f", apps),
				"RemoveInformer": c.RemoveInformer(t.Context(), obj),
			} {
				if err == nil {
					t.Errorf("%s(%s) returned no error", call, name)
				}
			}
		}
		for name, list := range map[string]client.ObjectList{"nil": nil, "a nil PodList": (*corev1.PodList)(nil)} {
			if c.List(t.Context(), list) == nil {
				t.Errorf("List(%s) returned no error", name)
			}
		}
	})
}

func TestWrongOptions(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		config := server.Config()
		for name, opts := range map[string]cache.Options{
			"namespaces of a kind without any": {ByObject: map[client.Object]cache.ByObject{&corev1.Node{}: {Namespaces: map[string]cache.Config{}}}},
			"unknown kind":                     {ByObject: map[client.Object]cache.ByObject{untyped.object("Nonsense"): {}}},
			"unknown type":                     {ByObject: map[client.Object]cache.ByObject{&unregistered{}: {}}},
		} {
			opts.HTTPClient = httpClient(t, config)
			if c, err := newCache(config, opts); err == nil || c != nil && fmt.Sprint(c) != "<nil>" {
				t.Errorf("options with %s: cache %v, error %v; want only an error", name, c, err)
			}
		}
	})
}

// TestNegativeSyncPeriod: a negative period means no resync.
func TestNegativeSyncPeriod(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		never := -time.Hour
		c := start(t, newCache, cache.Options{SyncPeriod: &never})
		if _, err := c.GetInformer(t.Context(), &corev1.Pod{}); err != nil {
			t.Error(err)
		}
	})
}

func TestReaderFailOnMissingInformer(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := start(t, newCache, cache.Options{ReaderFailOnMissingInformer: true})
		for _, v := range views {
			var notCached *cache.ErrResourceNotCached
			gvk := corev1.SchemeGroupVersion.WithKind("Pod")
			if err := c.Get(t.Context(), key("one", "web-1"), v.object("Pod")); !errors.As(err, &notCached) || notCached.GVK != gvk {
				t.Errorf("%s: Get: error %v, want ErrResourceNotCached", v, err)
			}
			if err := c.List(t.Context(), v.list("Pod")); !errors.As(err, &notCached) {
				t.Errorf("%s: List: error %v, want ErrResourceNotCached", v, err)
			}
			if _, err := c.GetInformer(t.Context(), v.object("Pod")); err != nil {
				t.Error(err)
			}
			if err := c.Get(t.Context(), key("one", "web-1"), v.object("Pod")); err != nil {
				t.Errorf("%s: Get with an informer: %v", v, err)
			}
			if err := c.RemoveInformer(t.Context(), v.object("Pod")); err != nil {
				t.Error(err)
			}
			if err := c.Get(t.Context(), key("one", "web-1"), v.object("Pod")); !errors.As(err, &notCached) {
				t.Errorf("%s: Get after RemoveInformer: error %v, want ErrResourceNotCached", v, err)
			}
		}
	})
}

// TestHangingServer: no method waits longer than its context for a server that does not answer.
func TestHangingServer(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := newUnstarted(t, newCache, cache.Options{}, instead(of("pods"), hang))
		run(t, c)
		if i, err := c.GetInformer(t.Context(), &corev1.Pod{}, cache.BlockUntilSynced(false)); err != nil || i.HasSynced() {
			t.Errorf("GetInformer with BlockUntilSynced(false): error %v; want an unsynced informer", err)
		}
		if err := c.IndexField(t.Context(), &corev1.Pod{}, "app", apps); err != nil {
			t.Error(err)
		}
		soon := within(t, 100*time.Millisecond)
		if _, err := c.GetInformer(soon, &corev1.Pod{}); !apierrors.IsTimeout(err) {
			t.Errorf("GetInformer: %v", err)
		}
		if _, err := c.GetInformerForKind(soon, corev1.SchemeGroupVersion.WithKind("Pod")); !apierrors.IsTimeout(err) {
			t.Errorf("GetInformerForKind: %v", err)
		}
		if err := c.Get(soon, key("one", "web-1"), &corev1.Pod{}); !apierrors.IsTimeout(err) {
			t.Errorf("Get: %v", err)
		}
		if err := c.List(soon, &corev1.PodList{}); !apierrors.IsTimeout(err) {
			t.Errorf("List: %v", err)
		}
		if c.WaitForCacheSync(soon) {
			t.Error("WaitForCacheSync() = true")
		}
		if err := c.Get(t.Context(), key("", "node-1"), &corev1.Node{}); err != nil {
			t.Errorf("Get of another kind: %v", err)
		}
	})
}

func TestWatchErrorHandler(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		var forbidden atomic.Bool
		c := newUnstarted(t, newCache, cache.Options{
			DefaultWatchErrorHandler: func(ctx context.Context, r *clientcache.Reflector, err error) {
				if ctx != nil && r != nil && apierrors.IsForbidden(err) {
					forbidden.Store(true)
				}
			},
		}, forbid("nodes"))
		run(t, c)
		if _, err := c.GetInformer(t.Context(), &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
			t.Fatal(err)
		}
		poll.Until(t, func() error {
			if !forbidden.Load() {
				return errors.New("the handler was not called")
			}
			return nil
		})
	})
}

func TestIndexes(t *testing.T) {
	for _, opts := range []cache.Options{{}, {DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}}} {
		bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
			c := start(t, newCache, opts)
			// after the start, with objects in the cache
			if err := c.List(t.Context(), &corev1.PodList{}); err != nil {
				t.Fatal(err)
			}
			if err := c.IndexField(t.Context(), &corev1.Pod{}, "app", apps); err != nil {
				t.Fatal(err)
			}
			if err := c.IndexField(t.Context(), &corev1.Pod{}, "app", apps); err == nil {
				t.Error("a second IndexField of the same field returned no error")
			}
			var list corev1.PodList
			if err := c.List(t.Context(), &list, client.MatchingFields{"app": "web"}, client.InNamespace("two")); err != nil || len(list.Items) != 1 {
				t.Errorf("%d Pods, %v", len(list.Items), err)
			}
		})
	}
}

// TestMissingIndex: theirs notices a missing index only if earlier indexes have found objects.
func TestMissingIndex(t *testing.T) {
	c := start(t, controllerruntime.NewCache, cache.Options{}, indexes)
	for _, selector := range []string{"app=web,spec.nodeName=n", "app=none,spec.nodeName=n", "spec.nodeName=n"} {
		err := c.List(t.Context(), &corev1.PodList{}, fieldSelector(selector))
		if err == nil || !strings.Contains(err.Error(), "spec.nodeName") {
			t.Errorf("%s: %v", selector, err)
		}
	}
}

func TestInformersOfViews(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := start(t, newCache, cache.Options{})
		seen := map[cache.Informer]view{}
		for _, v := range views {
			i, err := c.GetInformer(t.Context(), v.object("Pod"))
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[i]; ok {
				t.Errorf("the views %s and %s have the same informer", v, other)
			}
			seen[i] = v
			if again, err := c.GetInformer(t.Context(), v.object("Pod")); err != nil || again != i {
				t.Errorf("%s: a second GetInformer returned another informer, error %v", v, err)
			}
		}
		i, err := c.GetInformerForKind(t.Context(), corev1.SchemeGroupVersion.WithKind("Pod"))
		if err != nil || seen[i] != typed {
			t.Errorf("GetInformerForKind returned the informer of the view %q, error %v", seen[i], err)
		}
	})
}

func TestRemoveInformer(t *testing.T) {
	for _, opts := range []cache.Options{{}, {DefaultNamespaces: map[string]cache.Config{"one": {}, "two": {}}}} {
		bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
			c := start(t, newCache, opts)
			i, err := c.GetInformer(t.Context(), &corev1.Pod{})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.RemoveInformer(t.Context(), &corev1.Pod{}); err != nil {
				t.Fatal(err)
			}
			poll.Until(t, func() error {
				if !i.IsStopped() {
					return errors.New("the informer has not stopped")
				}
				return nil
			})
			again, err := c.GetInformer(t.Context(), &corev1.Pod{})
			if err != nil || again == i || again.IsStopped() || !again.HasSynced() {
				t.Errorf("GetInformer after RemoveInformer: %v", err)
			}
			if err := c.Get(t.Context(), key("one", "web-1"), &corev1.Pod{}); err != nil {
				t.Errorf("Get after RemoveInformer: %v", err)
			}
		})
	}
}

// TestReady: our readiness check names unsynced kinds, with the reasons.
func TestReady(t *testing.T) {
	c := newUnstarted(t, controllerruntime.NewCache, cache.Options{}, forbid("nodes")).(*controllerruntime.Cache)
	if err := c.Ready(nil); err == nil {
		t.Error("Ready() = nil before the start")
	}
	run(t, c)
	if err := c.Get(t.Context(), key("one", "web-1"), &corev1.Pod{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Ready(nil); err != nil {
		t.Error(err)
	}
	if _, err := c.GetInformer(t.Context(), &corev1.Node{}, cache.BlockUntilSynced(false)); err != nil {
		t.Fatal(err)
	}
	if !c.WaitForCacheSync(within(t, poll.Patience)) {
		t.Error("WaitForCacheSync waits for a forbidden kind")
	}
	err := c.Ready(&http.Request{})
	for _, part := range []string{"1 of 2", "nodes", "forbidden"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("Ready() lacks %q: %v", part, err)
		}
	}
	err = c.Get(within(t, 100*time.Millisecond), key("", "node-1"), &corev1.Node{})
	if !apierrors.IsTimeout(err) || !strings.Contains(err.Error(), "no RBAC rule allows it") {
		t.Errorf("Get of a forbidden kind: error %v, want a timeout with the reason", err)
	}
}
