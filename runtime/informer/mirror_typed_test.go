// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

func TestTypedResourceEventHandlerFuncs(t *testing.T) {
	one, two := pod("shop", "one", ""), pod("shop", "two", "")
	gone := informer.Deleted[*corev1.Pod]{Key: object.KeyOf(one), Object: one, FinalStateUnknown: true}
	var got []any
	h := informer.HandlerFuncs[*corev1.Pod]{
		AddFunc:    func(pod *corev1.Pod, initial bool) { got = append(got, pod, initial) },
		UpdateFunc: func(old, pod *corev1.Pod) { got = append(got, old, pod) },
		DeleteFunc: func(d informer.Deleted[*corev1.Pod]) { got = append(got, d) },
	}
	tell := func(h informer.Handler[*corev1.Pod]) {
		h.OnAdd(one, true)
		h.OnAdd(two, false)
		h.OnUpdate(one, two)
		h.OnDelete(gone)
	}
	tell(h)
	same(t, "calls", got, []any{one, true, two, false, one, two, gone})
	tell(informer.HandlerFuncs[*corev1.Pod]{}) // nothing happens
}

func TestTypedResourceEventHandlerDetailedFuncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "first", ""))
		pods := newPods(t, server.Source(t))
		initial := map[string]bool{}
		informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(pod *corev1.Pod, isInInitialList bool) { initial[pod.Name] = isInInitialList }})
		defer start(t, pods)()
		server.Pods.Create(pod("shop", "second", ""))
		synctest.Wait()
		same(t, "in the initial list", initial, map[string]bool{"first": true, "second": false})
	})
}

func TestTypedFilteringResourceEventHandler(t *testing.T) {
	with := func(name, node string) *corev1.Pod { return pod("shop", name, node) }
	in, in2, out, out2 := with("a", "mine"), with("a", "mine"), with("a", "yours"), with("a", "yours")
	in2.Labels, out2.Labels = map[string]string{"a": "b"}, map[string]string{"a": "b"}
	deleted := func(pod *corev1.Pod, unknown bool) informer.Deleted[*corev1.Pod] {
		return informer.Deleted[*corev1.Pod]{Key: object.KeyOf(pod), Object: pod, FinalStateUnknown: unknown}
	}
	type call struct {
		What     string
		Old, Obj *corev1.Pod
		Flag     bool
	}
	for name, test := range map[string]struct {
		tell func(informer.Handler[*corev1.Pod])
		want []call
	}{
		"add, initial":      {func(h informer.Handler[*corev1.Pod]) { h.OnAdd(in, true) }, []call{{"add", nil, in, true}}},
		"add":               {func(h informer.Handler[*corev1.Pod]) { h.OnAdd(in, false) }, []call{{"add", nil, in, false}}},
		"add, filtered":     {func(h informer.Handler[*corev1.Pod]) { h.OnAdd(out, true) }, nil},
		"update":            {func(h informer.Handler[*corev1.Pod]) { h.OnUpdate(in, in2) }, []call{{"update", in, in2, false}}},
		"update, enters":    {func(h informer.Handler[*corev1.Pod]) { h.OnUpdate(out, in) }, []call{{"add", nil, in, false}}},
		"update, leaves":    {func(h informer.Handler[*corev1.Pod]) { h.OnUpdate(in, out) }, []call{{"delete", nil, in, false}}},
		"update, filtered":  {func(h informer.Handler[*corev1.Pod]) { h.OnUpdate(out, out2) }, nil},
		"delete":            {func(h informer.Handler[*corev1.Pod]) { h.OnDelete(deleted(in, false)) }, []call{{"delete", nil, in, false}}},
		"delete, tombstone": {func(h informer.Handler[*corev1.Pod]) { h.OnDelete(deleted(in, true)) }, []call{{"delete", nil, in, true}}},
		"delete, filtered":  {func(h informer.Handler[*corev1.Pod]) { h.OnDelete(deleted(out, true)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []call
			inner := informer.HandlerFuncs[*corev1.Pod]{
				AddFunc:    func(pod *corev1.Pod, initial bool) { got = append(got, call{"add", nil, pod, initial}) },
				UpdateFunc: func(old, pod *corev1.Pod) { got = append(got, call{"update", old, pod, false}) },
				DeleteFunc: func(d informer.Deleted[*corev1.Pod]) {
					got = append(got, call{"delete", nil, d.Object, d.FinalStateUnknown})
				},
			}
			test.tell(informer.FilteringHandler[*corev1.Pod]{Filter: func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "mine" }, Handler: inner})
			same(t, "calls", got, test.want)
			test.tell(informer.FilteringHandler[*corev1.Pod]{}) // nothing happens
			got = nil
			test.tell(informer.FilteringHandler[*corev1.Pod]{Handler: inner})
			if len(got) != 1 {
				t.Errorf("%d calls without a filter", len(got))
			}
		})
	}
}

// TestTypedResourceEventHandlerAdapter shows that one untyped engine serves handlers of the
// informer's type, and of object.Object.
func TestTypedResourceEventHandlerAdapter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		pods := newPods(t, server.Source(t))
		var typed journal[*corev1.Pod]
		var general journal[object.Object]
		informertest.Add(t, pods, &typed)
		informertest.Add(t, factories.Generic(pods, podResource.GroupResource()).Informer(), &general)
		defer start(t, pods)()
		server.Move("blue", "node")
		synctest.Wait()
		server.Pods.Delete("shop", "blue")
		events := []string{"+blue@2 initial", "~blue@2>3", "-blue@4"}
		typed.Saw(t, events...)
		general.Saw(t, events...)
	})
}

func TestTypedSharedIndexInformerAddTypedEventHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", "mine"), pod("shop", "red", "yours"))
		pods := newPods(t, server.Source(t))
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, informer.FilteringHandler[*corev1.Pod]{Filter: func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "mine" }, Handler: &j})
		same(t, "the name", pods.Status().Handlers[0].Name, "*informertest.Journal[*k8s.io/api/core/v1.Pod]")
		defer start(t, pods)()
		j.Saw(t, "+blue@2 initial")
		server.Move("red", "mine")
		j.Saw(t, "+red@4")
		server.Move("blue", "yours")
		j.Saw(t, "-blue@2")
		server.Pods.Delete("shop", "blue")
		j.Saw(t)
	})
}

func TestTypedSharedIndexInformerAddTypedIndexers(t *testing.T) {
	type place struct{ Namespace, Node string } // keys have any comparable type
	byPlace := store.NewIndex("ByPlace", func(pod *corev1.Pod, keys []place) []place {
		return append(keys, place{pod.Namespace, pod.Spec.NodeName})
	})
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "blue", "node-1"), pod("shop", "red", "node-2")).Source(t))
		defer start(t, pods)()
		if err := pods.AddIndexers(byPlace); err != nil {
			t.Fatal(err)
		}
		list := byPlace.List(pods.Store().Snapshot(), place{"shop", "node-2"})
		if len(list) != 1 || list[0].Name != "red" {
			t.Errorf("got %v", list)
		}
	})
}

func TestTypedSharedIndexInformerGetTypedIndexer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "blue", "node-1")).Source(t), informer.WithIndexes(PodByNode))
		defer start(t, pods)()
		var typed *corev1.Pod
		typed, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		if !ok || typed.Spec.NodeName != "node-1" {
			t.Errorf("got %v", typed)
		}
		same(t, "keys", slices.Collect(PodByNode.Keys(pods.Store().Snapshot())), []string{"node-1"})
	})
}

// TestNewInformerName and its like: a name belongs to one informer of a factory and needs no
// registry, so a second Shutdown can't release the name of another informer.
func TestNewInformerName(t *testing.T) {
	f := newShop().Factory(t)
	name := func(opts ...informer.Option) string { return podsOf(f, opts...).Status().Name }
	same(t, "default", name(), "pods/v1")
	same(t, "given", name(informer.WithName("mine")), "mine")
	mine := podsOf(f, informer.WithName("mine"))
	same(t, "given again", podsOf(f, informer.WithName("mine")) == mine, true)
	same(t, "two names", podsOf(f) == mine, false)
	widgets := factories.For[*corev1.Pod](f, schema.GroupVersionResource{Group: "samples.io", Version: "v1", Resource: "widgets"})
	same(t, "of a group", widgets.Status().Name, "widgets.samples.io/v1")
}
