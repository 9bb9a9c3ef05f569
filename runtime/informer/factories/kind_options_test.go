// SPDX-License-Identifier: Apache-2.0

package factories_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestTransformOfAKind shows that a transform of the concrete type replaces the factory's for the
// kind's informers only.
func TestTransformOfAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", "node-1"))
		nodes := sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		nodes.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Labels: map[string]string{"a": "b"}}})
		mark := func(text string) func(*corev1.Pod) (*corev1.Pod, error) {
			return func(pod *corev1.Pod) (*corev1.Pod, error) {
				pod.Spec.NodeName += text
				return pod, nil
			}
		}
		f := server.Factory(t, withPods(podOptions{Transform: mark(" kind")}), informer.WithTransform(func(obj object.Object) (object.Object, error) {
			obj.SetLabels(map[string]string{"by": "the factory"})
			return obj, nil
		}))
		pods, called := podKind(f).Informer(), podKind(f).With(podOptions{Name: "called", Transform: mark(" call")}).Informer()
		nodeInformer := nodeKind(f).Informer()
		run(t, f)
		for what, test := range map[string]struct {
			informer *podInformer
			node     string
		}{"kind": {pods, "node-1 kind"}, "call": {called, "node-1 call"}} {
			got, _ := test.informer.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
			same(t, what, got.Spec.NodeName, test.node)
			same(t, what+": labels", len(got.Labels), 0)
			same(t, what+": index", PodByNode.Len(test.informer.Store().Snapshot(), test.node), 1)
		}
		node, _ := nodeInformer.Store().Snapshot().Get(object.Key{Name: "node-1"})
		same(t, "another kind", node.Labels, map[string]string{"by": "the factory"})
		shutdown(t, f)
	})
}

// podsByApp is an index that only some informers have.
var podsByApp = store.NewIndex("ByApp", func(pod *corev1.Pod, keys []string) []string { return append(keys, pod.Labels["app"]) })

// TestIndexesOfAKind shows that indexes of WithKind and of the call are added to the kind's own,
// also in informers that got more by AddIndexers.
func TestIndexesOfAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "blue", map[string]string{"app": "web"}))
		calls := map[string]int{}
		counted := func(name string) *store.Index[*corev1.Pod, string] {
			return store.NewIndex(name, func(pod *corev1.Pod, keys []string) []string {
				calls[name]++
				return append(keys, pod.Name)
			})
		}
		ofKind, ofCall, later := counted("OfKind"), counted("OfCall"), counted("Later")
		f := server.Factory(t, withPods(podOptions{Indexes: []store.AnyIndex[*corev1.Pod]{ofKind}}), withPods(podOptions{Indexes: []store.AnyIndex[*corev1.Pod]{podsByApp}}))
		// PodByNode is an index of the kind already.
		kind := podKind(f).With(podOptions{Indexes: []store.AnyIndex[*corev1.Pod]{ofCall, PodByNode}})
		pods := kind.Informer()
		run(t, f)
		noError(t, pods.AddIndexers(later))
		if kind.Informer() != pods {
			t.Error("Informer() has returned another informer")
		}
		snapshot := pods.Store().Snapshot()
		before := fmt.Sprint(calls)
		for _, index := range []*store.Index[*corev1.Pod, string]{ofKind, ofCall, later} {
			same(t, index.Name(), len(index.ListIn(snapshot, "shop", "blue")), 1)
		}
		same(t, "by app", len(podsByApp.List(snapshot, "web")), 1)
		same(t, "by node", len(PodByNode.List(snapshot, "")), 1)
		same(t, "calls of the index functions by lookups", fmt.Sprint(calls), before)
		shutdown(t, f)

		f = server.Factory(t, withPods(podOptions{Indexes: []store.AnyIndex[*corev1.Pod]{counted("ByNode")}}))
		podKind(f).Informer()
		want(t, f.Start(t.Context()), `informer factory: Start: factories.For pods/v1: two indexes have the name "ByNode"`)
	})
}

// TestResyncOfAKind shows that the period is the default of the handlers of the kind's informers.
func TestResyncOfAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue", "")).Factory(t, informer.WithResyncPeriod(time.Hour), withPods(podOptions{ResyncPeriod: 10 * time.Minute}))
		pods, never := podKind(f).Informer(), podKind(f).With(podOptions{Name: "never", Options: []informer.Option{informer.WithResyncPeriod(0)}}).Informer()
		ten, own, none := &journal[*corev1.Pod]{}, &journal[*corev1.Pod]{}, &journal[*corev1.Pod]{}
		informertest.Add(t, pods, ten)
		informertest.Add(t, pods, own, informer.WithResyncPeriod(30*time.Minute))
		informertest.Add(t, never, none)
		run(t, f)
		pass(time.Hour + time.Minute)
		for _, j := range []struct {
			what    string
			journal *journal[*corev1.Pod]
			calls   int
		}{{"the kind's", ten, 7}, {"the handler's", own, 3}, {"never", none, 1}} {
			same(t, j.what, len(j.journal.Take()), j.calls)
		}
		shutdown(t, f)
	})
}

// TestErrorHandlerOfAKind shows that the kind's error handler replaces the factory's for the kind's
// informers.
func TestErrorHandlerOfAKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		var mu sync.Mutex
		var calls []string
		record := func(handler string) func(string, error) {
			return func(informer string, err error) {
				if errors.Is(err, informertest.ErrOutage) {
					mu.Lock()
					defer mu.Unlock()
					calls = append(calls, handler+": "+informer)
				}
			}
		}
		f := server.Factory(t, informer.WithErrorHandler(record("factory")), withPods(podOptions{ErrorHandler: record("kind")}))
		podKind(f).Informer()
		podKind(f).With(podOptions{Namespaces: []string{"a"}}).Informer()
		podKind(f).With(podOptions{Namespaces: []string{"b"}, ErrorHandler: record("call")}).Informer()
		nodeKind(f).Informer()
		end := server.Outage()
		noError(t, f.Start(t.Context()))
		synctest.Wait()
		shutdown(t, f)
		end()
		slices.Sort(calls)
		same(t, "calls", calls, []string{`call: pods/v1 in namespace "b"`, "factory: nodes/v1", "kind: pods/v1", `kind: pods/v1 in namespace "a"`})
	})
}
