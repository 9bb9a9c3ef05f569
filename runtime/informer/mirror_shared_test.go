// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// Tests in the mirror files have the scenarios and names of client-go's tests of informers.
// docs/client-go.md lists them, with intended differences.

// ByLabel is an index by label names.
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
		start(t, pods)
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
		same(t, "with a second object", with(ByLabel, "a"), []string{"pod1", "pod3"})
		type podName struct{ Namespace, Name string } // a key may have any comparable type
		byName := store.NewIndex("ByName", func(pod *corev1.Pod, keys []podName) []podName {
			return append(keys, podName{pod.Namespace, pod.Name})
		})
		again := byLabel("labels-again")
		noError(t, pods.AddIndexers(again, byName))
		same(t, "in an added index", with(again, "a"), []string{"pod1", "pod3"})
		same(t, "in an index with struct keys", byName.List(pods.Store().Snapshot(), podName{"", "pod3"})[0].Labels, map[string]string{"a": "a-val2"})
		for _, index := range []*store.Index[*corev1.Pod, string]{ByLabel, again} {
			same(t, "keys", slices.Sorted(index.Keys(pods.Store().Snapshot())), []string{"a", "b"})
		}
	})
}

func TestSharedInformerWatchDisruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""), pod("shop", "pod2", ""))
		pods := newPods(t, server.Source(t))
		var quiet, resyncing journal[*corev1.Pod]
		informertest.Add(t, pods, &quiet)
		informertest.Add(t, pods, &resyncing, informer.WithResyncPeriod(time.Hour))
		start(t, pods)
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

// TestSharedInformerStartRace calls all methods of an informer while it starts.
func TestSharedInformerStartRace(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			var kept journal[*corev1.Pod]
			pods := newPods(t, newShop(pod("", "pod1", "")).Source(t),
				informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }),
				informer.WithErrorHandler(func(string, error) {}))
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() { _ = pods.Run(ctx) })
			for _, do := range []func(){
				func() { informertest.Add(t, pods, &journal[*corev1.Pod]{}).Remove() },
				func() { informertest.Add(t, pods, &kept, informer.WithResyncPeriod(0)) },
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
			kept.Saw(t, "+pod1@2 initial")
			cancel()
			all.Wait()
		})
	}
}

// TestResyncPeriods shows that each handler has its own period, independent of the informer's and
// of other handlers', of at least a second.
func TestResyncPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).Source(t), informer.WithResyncPeriod(12*time.Hour))
		journals := map[int]*journal[*corev1.Pod]{}
		for events, opts := range map[int][]informer.HandlerOption{
			1:               {informer.WithResyncPeriod(0)},
			1 + 1:           {},
			1 + 12*60:       {informer.WithResyncPeriod(time.Minute)},
			1 + 12*1200:     {informer.WithResyncPeriod(3 * time.Second)},
			1 + 12*3600 + 1: {informer.WithResyncPeriod(55 * time.Millisecond)},
		} {
			journals[events] = &journal[*corev1.Pod]{}
			informertest.Add(t, pods, journals[events], opts...)
		}
		start(t, pods)
		pass(12*time.Hour + time.Second)
		for events, j := range journals {
			same(t, "events", len(j.Take()), events)
		}
	})
}
