// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
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
	callAll := func(h informer.Handler[*corev1.Pod]) {
		h.OnAdd(one, true)
		h.OnAdd(two, false)
		h.OnUpdate(one, two)
		h.OnDelete(gone)
	}
	callAll(h)
	same(t, "calls", got, []any{one, true, two, false, one, two, gone})
	callAll(informer.HandlerFuncs[*corev1.Pod]{}) // nothing happens
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
		call func(informer.Handler[*corev1.Pod])
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
			test.call(informer.FilteringHandler[*corev1.Pod]{Filter: func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "mine" }, Handler: inner})
			same(t, "calls", got, test.want)
			test.call(informer.FilteringHandler[*corev1.Pod]{}) // nothing happens
			got = nil
			test.call(informer.FilteringHandler[*corev1.Pod]{Handler: inner})
			if len(got) != 1 {
				t.Errorf("%d calls without a filter, want 1", len(got))
			}
		})
	}
}

// TestGenericIsAViewOfTheInformer shows that one informer serves typed handlers and listers, and
// those of object.Object.
func TestGenericIsAViewOfTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		pods := newPods(t, server.Source(t))
		generic := factories.Generic(pods, podResource.GroupResource())
		var typed journal[*corev1.Pod]
		var general journal[object.Object]
		informertest.Add(t, pods, &typed)
		informertest.Add(t, generic.Informer(), &general)
		start(t, pods)
		server.Move("blue", "node")
		synctest.Wait()
		got, err := generic.Lister().Namespace("shop").Get("blue")
		noError(t, err)
		same(t, "object", got, object.Object(get(t, pods, "blue")))
		_, err = generic.Lister().Namespace("shop").Get("red")
		want(t, err, `pods "red" not found`)
		same(t, "synced", generic.Informer().HasSynced(), true)
		server.Pods.Delete("shop", "blue")
		events := []string{"+blue@2 initial", "~blue@2>3", "-blue@4"}
		typed.Saw(t, events...)
		general.Saw(t, events...)
	})
}

// TestNewInformerName and its counterparts in client-go check a registry of names. Here a name
// belongs to one informer of a factory, so a second Shutdown can't release another informer's name.
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
