// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"fmt"
	"iter"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/controller"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestForQueuesChangedObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		r.maps.Create(configMap("a"))
		calls := &calls{}
		r.run(calls, controller.Options{}, controller.For(r.mapInformer))
		same(t, "at the start", calls.take(), []string{"shop/a"})
		r.maps.Create(configMap("b"))
		same(t, "created", calls.take(), []string{"shop/b"})
		r.maps.Update(configMap("a"))
		same(t, "updated", calls.take(), []string{"shop/a"})
		r.maps.Delete("shop", "b")
		same(t, "deleted", calls.take(), []string{"shop/b"})
	})
}

func ownedBy(apiVersion, kind string, names ...string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.OwnerReferences = nil
		for _, name := range names {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: "1"})
		}
	}
}

func TestOwnsQueuesOldAndNewOwners(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := &calls{}
		r.run(calls, controller.Options{},
			controller.For(r.mapInformer, none).OfKind(schema.GroupKind{Group: "samples.io", Kind: "Widget"}, true), controller.Owns(r.podInformer))
		r.pods.Create(pod("none"))
		r.pods.Create(pod("other", ownedBy("apps/v1", "Widget", "x")))
		same(t, "owners of another kind", calls.take(), []string{})
		r.pods.Create(pod("p", ownedBy("samples.io/v1", "Widget", "a", "b")))
		same(t, "created", calls.sorted(), []string{"shop/a", "shop/b"})
		r.pods.Update(pod("p", ownedBy("samples.io/v2", "Widget", "b", "c")))
		same(t, "owners changed", calls.sorted(), []string{"shop/a", "shop/b", "shop/c"})
		r.pods.Delete("shop", "p")
		same(t, "deleted", calls.sorted(), []string{"shop/b", "shop/c"})
	})
}

func TestWatchesQueuesOldAndNewKeys(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var seen []int // capacities of dst
		refs := func(p *corev1.Pod, dst []object.Key) []object.Key {
			seen = append(seen, cap(dst))
			for name := range strings.FieldsSeq(p.Annotations["refs"]) {
				dst = append(dst, object.Key{Namespace: "refs", Name: name})
			}
			return dst
		}
		to := func(names string) func(*corev1.Pod) {
			return func(p *corev1.Pod) { p.Annotations = map[string]string{"refs": names} }
		}
		calls := &calls{}
		r.run(calls, controller.Options{}, controller.Watches(r.podInformer, refs))
		r.pods.Create(pod("p", to("a b b")))
		same(t, "created", calls.sorted(), []string{"refs/a", "refs/b"})
		r.pods.Update(pod("p", to("b c")))
		same(t, "updated", calls.sorted(), []string{"refs/a", "refs/b", "refs/c"})
		r.pods.Delete("shop", "p")
		same(t, "deleted", calls.sorted(), []string{"refs/b", "refs/c"})
		if slices.Max(seen) == 0 {
			t.Error("dst has no capacity")
		}
	})
}

// TestWatchesMayReturnASliceOfTheObject: the slice is neither kept nor written to.
func TestWatchesMayReturnASliceOfTheObject(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		own := [][]object.Key{{{Name: "a"}, {Name: "b"}}, {{Name: "c"}}}
		n := 0
		calls := &calls{}
		r.run(calls, controller.Options{}, controller.Watches(r.podInformer, func(*corev1.Pod, []object.Key) []object.Key {
			n++
			return own[(n-1)%2]
		}))
		r.pods.Create(pod("p"))
		r.pods.Update(pod("p"))
		r.pods.Update(pod("p"))
		same(t, "queued", slices.Compact(calls.sorted()), []string{"a", "b", "c"})
		same(t, "the object's own", own, "[[a b] [c]]")
	})
}

func TestIndexedQueuesReferringObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		podsByMap := store.NewIndex("ByMap", func(p *corev1.Pod, dst []string) []string { return append(dst, p.Spec.NodeName) })
		using := func(name string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = name } }
		for _, name := range []string{"p1", "p2"} {
			r.pods.Create(pod(name, using("a")))
		}
		r.pods.Create(pod("p3", using("b")))
		calls := &calls{}
		r.run(calls, controller.Options{},
			controller.For(r.podInformer, none), controller.Indexed(podsByMap, r.mapInformer, func(m *corev1.ConfigMap) string { return m.Data["name"] }))
		if status := r.podInformer.Status(); !status.Synced {
			t.Fatalf("Status() of the informer with the index = %v, want synced", status)
		}
		called := func(name string) func(*corev1.ConfigMap) {
			return func(m *corev1.ConfigMap) { m.Data = map[string]string{"name": name} }
		}
		r.maps.Create(configMap("m", called("a")))
		same(t, "created", calls.sorted(), []string{"shop/p1", "shop/p2"})
		r.maps.Update(configMap("m", called("b")))
		same(t, "updated", calls.sorted(), []string{"shop/p1", "shop/p2", "shop/p3"})
		r.maps.Update(configMap("m", called("b")))
		same(t, "updated to the same", calls.sorted(), []string{"shop/p3"})
		if got := podsByMap.Len(r.podInformer.Store().Snapshot(), "a"); got != 2 {
			t.Errorf("the index has %d Pods of a, want 2", got)
		}
	})
}

// TestIndexedWaitsForTheIndexedInformer: nothing is looked up in an informer that has not synced.
// Its initial objects are queued by For.
func TestIndexedWaitsForTheIndexedInformer(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		podsByMap := store.NewIndex("ByMap", func(p *corev1.Pod, dst []string) []string { return append(dst, p.Spec.NodeName) })
		r.pods.Create(pod("p", func(p *corev1.Pod) { p.Spec.NodeName = "m" }))
		r.maps.Create(configMap("m"))
		end := r.server.Inject(sourcetest.Fault{Resource: podsResource, Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusServiceUnavailable)})
		var log strings.Builder
		pods := factories.For[*corev1.Pod](factories.New(r.client, informer.WithLogger(informertest.LogTo(&log, 0))), podsResource)
		calls := &calls{}
		_, stop := r.run(calls, controller.Options{}, controller.For(pods), controller.Indexed(podsByMap, r.mapInformer, (*corev1.ConfigMap).GetName))
		time.Sleep(time.Minute)
		same(t, "before the Pods have synced", calls.take(), []string{})
		end()
		time.Sleep(10 * time.Minute)
		same(t, "afterwards", calls.take(), []string{"shop/p"})
		_ = stop()
		if strings.Contains(log.String(), "before its first sync") {
			t.Errorf("the log has an error about an early read:\n%s", &log)
		}
	})
}

func TestEveryQueuesInPeriods(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls := &calls{}
		keys := func() iter.Seq[object.Key] { return slices.Values([]object.Key{{Name: "a"}, {Name: "b"}}) }
		start := time.Now()
		_, stop := r.run(calls, controller.Options{}, controller.Every(time.Minute, 0.5, keys))
		same(t, "at the start", calls.take(), []string{})
		time.Sleep(10 * time.Minute)
		gaps := calls.gaps(start)
		if n := len(gaps); n < 2*6 || n > 2*10 {
			t.Errorf("%d reconciles in 10 minutes, want 12 to 20", n)
		}
		jittered := false
		for n, gap := range gaps {
			switch {
			case n%2 == 1 && gap != 0:
				t.Errorf("the second key comes %v after the first, want 0", gap)
			case n%2 == 0 && (gap < time.Minute || gap > 90*time.Second):
				t.Errorf("an interval of %v, want 1m to 1m30s", gap)
			case n%2 == 0:
				jittered = jittered || gap != gaps[0]
			}
		}
		if !jittered {
			t.Error("all intervals are equal, want jitter")
		}
		_ = stop()
		time.Sleep(10 * time.Minute)
		same(t, "after the end", calls.take(), []string{})
	})
}

func TestEveryDoesNotOverflow(t *testing.T) {
	for _, watch := range []struct {
		period time.Duration
		jitter float64
	}{{math.MaxInt64, 0.5}, {time.Hour, math.Inf(1)}, {time.Hour, 1e300}} {
		inBubble(t, func(t *testing.T, r *rig) {
			calls := &calls{}
			keys := func() iter.Seq[object.Key] { return slices.Values([]object.Key{{Name: "a"}}) }
			_, stop := r.run(calls, controller.Options{}, controller.Every(watch.period, watch.jitter, keys))
			time.Sleep(time.Minute)
			_ = stop()
			same(t, "reconciles in the first minute", calls.take(), []string{})
		})
	}
}

func TestEveryGoesOnAfterAPanic(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		calls, n := &calls{}, 0
		r.run(calls, controller.Options{}, controller.Every(time.Minute, 0, func() iter.Seq[object.Key] {
			if n++; n == 1 {
				panic("listing")
			}
			return slices.Values([]object.Key{{Name: "a"}})
		}))
		time.Sleep(time.Minute)
		same(t, "first", calls.take(), []string{})
		time.Sleep(time.Minute)
		same(t, "second", calls.take(), []string{"a"})
	})
}

// TestChangesPrecedeInitialObjects: a new object is reconciled while initial objects wait.
func TestChangesPrecedeInitialObjects(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		for n := range 100 {
			r.maps.Create(configMap(string(rune('a'+n/26)) + string(rune('a'+n%26))))
		}
		calls := &calls{}
		calls.do = sleep(time.Second)
		r.run(calls, controller.Options{}, controller.For(r.mapInformer))
		r.maps.Create(configMap("new"))
		time.Sleep(3 * time.Second)
		if got := calls.take(); !slices.Contains(got, "shop/new") {
			t.Errorf("%d reconciles, and none of the new object", len(got))
		}
	})
}

// TestAfterCollectsEvents: events of Pods are collected for a second, events of ConfigMaps are not.
func TestAfterCollectsEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		var c calls
		one := controller.Watches(r.podInformer, func(_ *corev1.Pod, dst []object.Key) []object.Key {
			return append(dst, object.Key{Namespace: "shop", Name: "one"})
		})
		r.run(&c, controller.Options{}, controller.For(r.mapInformer), one.After(time.Second))
		burst := func() {
			for n := range 5 {
				r.pods.Create(pod(fmt.Sprint("pod-", n, "-", time.Now().UnixNano())))
				time.Sleep(100 * time.Millisecond)
			}
		}
		start := time.Now()
		burst()
		time.Sleep(time.Minute)
		same(t, "reconciles after a burst", fmt.Sprint(c.gaps(start)), "[1s]")

		burst()
		r.maps.Create(configMap("one"))
		same(t, "an event of the other watch", c.take(), []string{"shop/one"})
		time.Sleep(time.Minute)
		same(t, "reconciles after that", c.take(), []string(nil))
	})
}
