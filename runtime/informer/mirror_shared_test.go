// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// The tests in the mirror files have the scenarios, and the names, of client-go's tests of
// informers. docs/client-go.md lists them, and where the behaviour differs on purpose.

// ByLabel is an index by the names of labels.
var ByLabel = byLabel("labels")

func byLabel(name string) *store.Index[*corev1.Pod, string] {
	return store.NewIndex(name, func(pod *corev1.Pod, keys []string) []string {
		for key := range pod.Labels {
			keys = append(keys, key)
		}
		return keys
	})
}

func TestIndexer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(
			labelled("", "pod1", map[string]string{"a": "a-val", "b": "b-val1"}),
			labelled("", "pod2", map[string]string{"b": "b-val2"}))
		pods := newPods(t, server.Source(t), informer.WithIndexes(ByLabel))
		defer start(t, pods)()
		with := func(index *store.Index[*corev1.Pod, string], key string) []string {
			found := []string{}
			for pod := range index.Lookup(pods.Store().Snapshot(), key) {
				found = append(found, pod.Name)
			}
			slices.Sort(found)
			return found
		}
		same(t, "at first", with(ByLabel, "a"), []string{"pod1"})
		server.Pods.Create(labelled("", "pod3", map[string]string{"a": "a-val2"}))
		synctest.Wait()
		same(t, "with an object more", with(ByLabel, "a"), []string{"pod1", "pod3"})
		again := byLabel("labels-again")
		if err := pods.AddIndexers(again); err != nil {
			t.Fatal(err)
		}
		same(t, "in an index that was added", with(again, "a"), []string{"pod1", "pod3"})
		for _, index := range []*store.Index[*corev1.Pod, string]{ByLabel, again} {
			same(t, "keys", slices.Sorted(index.Keys(pods.Store().Snapshot())), []string{"a", "b"})
		}
	})
}

func TestListenerResyncPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", ""), pod("", "pod2", "")).Source(t), informer.WithResyncPeriod(time.Second))
		var never, two, three journal[*corev1.Pod]
		informertest.Add(t, pods, &never, informer.WithResyncPeriod(0))
		informertest.Add(t, pods, &two, informer.WithResyncPeriod(2*time.Second))
		informertest.Add(t, pods, &three, informer.WithResyncPeriod(3*time.Second))
		defer start(t, pods)()
		for _, j := range []*journal[*corev1.Pod]{&never, &two, &three} {
			j.SawAll(t, "+pod1@2 initial", "+pod2@3 initial")
		}
		// after 1, 2, 3 and 4 seconds
		for second, want := range [][2]int{{0, 0}, {2, 0}, {0, 2}, {2, 0}} {
			pass(time.Second)
			if n, m := len(two.Take()), len(three.Take()); n != want[0] || m != want[1] {
				t.Errorf("second %d: %d and %d events, want %v", second+1, n, m, want)
			}
		}
		never.Saw(t)
	})
}

func TestResyncCheckPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Each handler has a period of its own, whatever that of the informer and of the others is.
		pods := newPods(t, newShop(pod("", "pod1", "")).Source(t), informer.WithResyncPeriod(12*time.Hour))
		var never, day, minute, fast journal[*corev1.Pod]
		informertest.Add(t, pods, &never, informer.WithResyncPeriod(0))
		informertest.Add(t, pods, &day)
		informertest.Add(t, pods, &minute, informer.WithResyncPeriod(time.Minute))
		// Raised to a second.
		informertest.Add(t, pods, &fast, informer.WithResyncPeriod(55*time.Millisecond))
		defer start(t, pods)()
		pass(12*time.Hour + time.Second)
		for want, j := range map[int]*journal[*corev1.Pod]{1: &never, 2: &day, 1 + 12*60: &minute, 1 + 12*3600 + 1: &fast} {
			if n := len(j.Take()); n != want {
				t.Errorf("%d events, want %d", n, want)
			}
		}
	})
}

func TestSharedInformerInitializationRace(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop(pod("", "pod1", "")).Source(t), informer.WithResyncPeriod(time.Second))
			var j journal[*corev1.Pod]
			ctx, cancel := context.WithCancel(t.Context())
			var both sync.WaitGroup
			both.Go(func() { informertest.Add(t, pods, &j, informer.WithResyncPeriod(0)) })
			both.Go(func() { _ = pods.Run(ctx) })
			j.Saw(t, "+pod1@2 initial")
			cancel()
			both.Wait()
		})
	}
}

func TestSharedInformerWatchDisruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""), pod("shop", "pod2", ""))
		pods := newPods(t, server.Source(t))
		var quiet, resyncing journal[*corev1.Pod]
		informertest.Add(t, pods, &quiet)
		informertest.Add(t, pods, &resyncing, informer.WithResyncPeriod(time.Hour))
		defer start(t, pods)()
		quiet.SawAll(t, "+pod1@2 initial", "+pod2@3 initial")
		resyncing.SawAll(t, "+pod1@2 initial", "+pod2@3 initial")
		server.Relist(func() {
			server.Pods.Create(pod("shop", "pod3", ""))
			server.Move("pod2", "node")
			quiet.Saw(t)
		})
		pass(time.Minute)
		quiet.SawAll(t, "+pod3@4", "~pod2@3>5")
		resyncing.SawAll(t, "+pod3@4", "~pod2@3>5")
		pass(time.Hour)
		quiet.Saw(t)
		resyncing.SawAll(t, "~pod1@2>2", "~pod2@5>5", "~pod3@4>4")
	})
}

func TestSharedInformerErrorHandling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("", "pod1", ""))
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		heard := make(chan error, 100)
		pods := newPods(t, server.Source(t), informer.WithName("pods"), informer.WithErrorHandler(func(name string, err error) {
			if name != "pods" {
				t.Errorf("an error of %q", name)
			}
			heard <- err
		}))
		defer start(t, pods)()
		if err := <-heard; !apierrors.IsForbidden(err) {
			t.Errorf("heard %v", err)
		}
	})
}

// TestSharedInformerStartRace calls all methods of an informer while it starts.
func TestSharedInformerStartRace(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop(pod("", "pod1", "")).Source(t),
				informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }),
				informer.WithErrorHandler(func(string, error) {}))
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() { _ = pods.Run(ctx) })
			for _, do := range []func(){
				func() { informertest.Add(t, pods, &journal[*corev1.Pod]{}).Remove() },
				func() { _ = pods.AddIndexers(ByLabel) },
				func() { _ = pods.SetTransform(identity) },
				func() { _ = pods.SetErrorHandler(func(string, error) {}) },
				func() { _ = pods.Status().String() },
				func() { _ = pods.Run(ctx) },
				func() { _ = pods.WaitForCacheSync(ctx) },
				func() { pods.Store().Snapshot().Len() },
			} {
				all.Go(do)
			}
			synctest.Wait()
			cancel()
			all.Wait()
		})
	}
}

func TestSharedInformerTransformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("", "pod1", ""), pod("", "pod2", ""))
		pods := newPods(t, server.Source(t), informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
			pod.Spec.NodeName = "node of " + pod.Name
			return pod, nil
		}))
		var nodes []string
		informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(pod *corev1.Pod, _ bool) { nodes = append(nodes, pod.Spec.NodeName) }})
		defer start(t, pods)()
		slices.Sort(nodes)
		same(t, "nodes", nodes, []string{"node of pod1", "node of pod2"})
	})
}

func TestStateSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).Source(t))
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		if s := pods.Status(); s.Running || s.Synced {
			t.Errorf("before the start: %v", s)
		}
		stop := start(t, pods)
		j.Saw(t, "+pod1@2 initial")
		if s := pods.Status(); !s.Running || !s.Synced {
			t.Errorf("running: %v", s)
		}
		stop()
		if s := pods.Status(); s.Running || !s.Synced {
			t.Errorf("stopped: %v", s)
		}
	})
}

// TestShutdown fails by the bubbles, or by goleak, if a goroutine is left.
func TestShutdown(t *testing.T) {
	t.Run("handler before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop().Source(t), informer.WithResyncPeriod(time.Second))
			r := informertest.Add(t, pods, &journal[*corev1.Pod]{})
			start(t, pods)()
			r.Remove()
		})
	})
	t.Run("handler later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop().Source(t), informer.WithResyncPeriod(time.Second))
			defer start(t, pods)()
			informertest.Add(t, pods, &journal[*corev1.Pod]{}).Remove()
		})
	})
	t.Run("no run", func(t *testing.T) {
		// No goroutine is left of it.
		informertest.Add(t, newPods(t, newShop().Source(t)), &journal[*corev1.Pod]{})
	})
}
