// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

func TestFactoryLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		f := server.Factory(t)
		want(t, f.WaitForCacheSync(t.Context()), "informer factory: WaitForCacheSync: the factory was not started")
		ctx, cancel := context.WithCancelCause(t.Context())
		noError(t, f.Start(ctx))
		pods := podsOf(f)
		if podsOf(f) != pods {
			t.Error("For with the same resource and type has returned another informer")
		}
		synctest.Wait()
		if pods.Status().Running {
			t.Error("For has started the informer")
		}
		for range 2 {
			noError(t, errors.Join(f.Start(ctx), f.WaitForCacheSync(t.Context())))
		}
		if err := pods.Run(t.Context()); !errors.Is(err, informer.ErrRunning) {
			t.Errorf("Run of an informer that the factory runs: %v", err)
		}
		if _, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"}); !ok {
			t.Error("the store lacks shop/blue")
		}

		why := errors.New("why")
		cancel(why)
		synctest.Wait()
		if pods.Status().Running {
			t.Error("the informer runs after its context is done")
		}
		if err := f.Start(ctx); !errors.Is(err, why) {
			t.Errorf("Start with a done context: %v", err)
		}
		if err := f.Start(t.Context()); err != nil || !pods.Status().Running {
			t.Errorf("Start again = %v, running: %v", err, pods.Status().Running)
		}
		for range 2 {
			noError(t, f.Shutdown(t.Context()))
		}
		if err := f.Start(t.Context()); !errors.Is(err, factories.ErrShutdown) {
			t.Errorf("Start after Shutdown: %v", err)
		}
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Errorf("WaitForCacheSync after Shutdown: %v", err)
		}
	})
}

// TestStartWhileTheLastRunEnds starts an informer again while its last run still waits for a
// callback.
func TestStartWhileTheLastRunEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		f := server.Factory(t)
		pods := podsOf(f)
		release := make(chan struct{})
		informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { <-release }})
		first, cancel := context.WithCancel(t.Context())
		second, cancelSecond := context.WithCancel(t.Context())
		noError(t, f.Start(first))
		synctest.Wait()
		cancel()
		synctest.Wait()
		if err := f.Start(second); err != nil {
			t.Errorf("Start while the last run ends: %v", err)
		}
		cancelSecond()
		if err := errors.Join(f.Start(t.Context()), f.Start(t.Context())); err != nil {
			t.Errorf("Start while two runs end: %v", err)
		}
		close(release)
		rv := server.Pods.Create(pod("shop", "red", "")).ResourceVersion
		synctest.Wait()
		if s := pods.Status(); !s.Running || s.ResourceVersion != rv {
			t.Errorf("Status() = %+v, want running at version %s", s, rv)
		}
		noError(t, f.Shutdown(t.Context()))
		if pods.Status().Running {
			t.Error("the informer runs after Shutdown")
		}
	})
}

// TestStartAfterAFailedRun shows that Start runs an informer again after a failed run, although the
// context of the first Start is not done.
func TestStartAfterAFailedRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue", "")).Factory(t)
		fails := true
		pods := podsOf(f, informer.WithTransform(func(obj *corev1.Pod) (*corev1.Pod, error) {
			if fails {
				runtime.Goexit()
			}
			return obj, nil
		}))
		noError(t, f.Start(t.Context()))
		synctest.Wait()
		if pods.Status().Running {
			t.Error("the informer runs after runtime.Goexit")
		}
		fails = false
		noError(t, f.Start(t.Context()))
		synctest.Wait()
		if !pods.Status().Running || !pods.HasSynced() {
			t.Errorf("after the second Start: running %v, synced %v", pods.Status().Running, pods.HasSynced())
		}
		shutdown(t, f)
	})
}

func TestShutdownBeforeStart(t *testing.T) {
	f := newShop().Factory(t)
	podsOf(f)
	noError(t, f.Shutdown(t.Context()))
	if err := f.Start(t.Context()); !errors.Is(err, factories.ErrShutdown) {
		t.Errorf("Start() = %v, want ErrShutdown", err)
	}
}

func TestShutdownNamesTheStuckHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		f := server.Factory(t)
		release := make(chan struct{})
		informertest.Add(t, podsOf(f), &journal[*corev1.Pod]{Before: func(string, object.Key) { <-release }}, informer.WithHandlerName("billing"))
		noError(t, errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())))
		synctest.Wait()
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := f.Shutdown(ctx)
		want(t, err, `informer factory: Shutdown: context deadline exceeded: pods/v1: handler "billing" has not returned from OnAdd of shop/blue for 1m5s`)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the error does not wrap the cause")
		}
		close(release)
		if err := f.Shutdown(t.Context()); err != nil {
			t.Errorf("Shutdown after the callback: %v", err)
		}
	})
}

func TestShutdownWhileWaitingForSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		server.Outage()
		f := server.Factory(t)
		podsOf(f)
		noError(t, f.Start(t.Context()))
		time.AfterFunc(time.Minute, func() { _ = f.Shutdown(context.Background()) })
		err := f.WaitForCacheSync(t.Context())
		if !errors.Is(err, factories.ErrShutdown) || !strings.HasPrefix(err.Error(), "informer factory: WaitForCacheSync: the factory was shut down: 1 of 1 informers not synced after 1m0s: pods/v1 is not running: ") {
			t.Errorf("WaitForCacheSync() = %v, want ErrShutdown", err)
		}
	})
}

func TestFactoryOptions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		f := server.Factory(t, informer.WithNamespace("shop"), informer.WithTuning(reflector.Tuning{DisableWatchList: true, PageSize: 7}))
		podsOf(f)
		podsOf(f, informer.WithNamespace("shop")) // the same informer
		factories.For[*corev1.Node](f, nodeResource, factories.WithClusterScope())
		services := factories.For[*corev1.Service](f, corev1.SchemeGroupVersion.WithResource("services"), informer.WithNamespace("other"),
			informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"})), informer.WithName("web"))
		noError(t, f.Start(t.Context()))
		synctest.Wait()
		noError(t, f.Shutdown(t.Context()))
		if name := services.Status().Name; name != "web" {
			t.Errorf("the name is %q, want web", name)
		}
		requested := map[string]bool{}
		for _, request := range server.Requests() {
			requested[fmt.Sprintf("%s?labelSelector=%s&limit=%s", request.Path, request.Query.Get("labelSelector"), request.Query.Get("limit"))] = true
		}
		for _, want := range []string{"/api/v1/namespaces/shop/pods?labelSelector=&limit=7", "/api/v1/nodes?labelSelector=&limit=7", "/api/v1/namespaces/other/services?labelSelector=app=web&limit=7"} {
			if !requested[want] {
				t.Errorf("no request %s in %v", want, server.Requests())
			}
		}
	})
}

func TestForAddsIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue", "node-1")).Factory(t)
		pods := podsOf(f)
		noError(t, errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())))
		if podsOf(f, informer.WithIndexes(PodByNode)) != pods {
			t.Error("For has returned another informer")
		}
		var keys []string
		for key := range PodByNode.Keys(pods.Store().Snapshot()) {
			keys = append(keys, key)
		}
		if diff := cmp.Diff([]string{"node-1"}, keys); diff != "" {
			t.Error(diff)
		}
		noError(t, f.Shutdown(t.Context()))
	})
}
