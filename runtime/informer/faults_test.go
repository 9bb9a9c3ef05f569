// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestFaultW01ObjectWithoutKeyInTheInitialList shows that an informer with an object that can't be
// stored does not report an empty cache as synced. It reports the object, and syncs once the object
// is repaired.
func TestFaultW01ObjectWithoutKeyInTheInitialList(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		for name, corrupt := range map[string]func(*shop, *bool) informer.Option{
			"on the wire": func(server *shop, corrupted *bool) informer.Option {
				server.Inject(sourcetest.Fault{On: sourcetest.List | sourcetest.WatchList, Times: sourcetest.Always, Do: sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
					if pod, ok := e.Object.(*corev1.Pod); ok && *corrupted && pod.Name == numbered(7) {
						pod = pod.DeepCopy()
						pod.Name = ""
						e.Object = pod
					}
					return []sourcetest.Event{e}
				})})
				return informer.WithLogger(discard)
			},
			"by the transform": func(_ *shop, corrupted *bool) informer.Option {
				return informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
					if *corrupted && pod.Name == numbered(7) {
						pod.ObjectMeta = metav1.ObjectMeta{}
					}
					return pod, nil
				})
			},
		} {
			inBubble(t, name, func(t *testing.T) {
				server, corrupted := newShop(), true
				for n := range 10 {
					server.Pods.Create(pod("shop", numbered(n), ""))
				}
				var reported []error
				pods := newPods(t, server.Source(t), informer.WithLogger(discard), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}), corrupt(server, &corrupted),
					informer.WithErrorHandler(func(_ string, err error) { reported = append(reported, err) }))
				var j journal[*corev1.Pod]
				r := informertest.Add(t, pods, &j)
				start(t, pods)
				pass(time.Minute)
				if s := pods.Status(); s.Synced || s.Objects != 0 || s.Reflector.LastError == nil || s.Reflector.BadData == 0 || r.HasSynced() {
					t.Errorf("Status() = %v, HasSynced() of the handler = %v; want unsynced with an error", s, r.HasSynced())
				}
				if len(reported) == 0 {
					t.Error("the error handler was not called")
				}
				j.Saw(t)
				corrupted = false
				noError(t, pods.WaitForCacheSync(t.Context()))
				same(t, "objects", len(j.Take()), 10)
			})
		}
	}
}

// TestFaultW10TransformRunsOnce counts the calls of a transform for lists, watch-lists, events,
// relists and resyncs.
func TestFaultW10TransformRunsOnce(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			server := newShop(pod("shop", "a", ""), pod("shop", "b", ""))
			calls := map[string]int{}
			pods := newPods(t, server.Source(t), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}), informer.WithResyncPeriod(time.Second), informer.WithLogger(discard),
				informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
					calls[pod.Name+"@"+pod.ResourceVersion]++
					return pod, nil
				}))
			informertest.Add(t, pods, &journal[*corev1.Pod]{})
			informertest.Add(t, pods, &journal[*corev1.Pod]{})
			stop := start(t, pods)
			server.Move("a", "node")
			server.Pods.Delete("shop", "b")
			pass(time.Minute)
			same(t, "calls", calls, map[string]int{"a@2": 1, "b@3": 1, "a@4": 1, "b@5": 1})
			server.Relist(func() { server.Pods.Create(pod("shop", "c", "")) })
			pass(time.Minute)
			stop()
			same(t, "calls after a relist", calls, map[string]int{"a@2": 1, "b@3": 1, "a@4": 1, "b@5": 1, "c@6": 1})
		})
	}
}

// TestFaultW11BookmarksReachTheStore shows that the store has the server's version after each
// change, and that bookmarks move the store's version, not only the reflector's.
func TestFaultW11BookmarksReachTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		server.BookmarkInterval = -1
		others := sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		pods := newPods(t, server.Source(t))
		wantVersion := func(what, at string) {
			t.Helper()
			synctest.Wait()
			same(t, what, pods.Store().Snapshot().ResourceVersion(), at)
		}
		wantVersion("before the start", "")
		start(t, pods)
		wantVersion("after the list", "2")
		server.Move("blue", "node")
		wantVersion("after an update", "3")
		server.Pods.Delete("shop", "blue")
		wantVersion("after a deletion", "4")
		// A write without a change of pods:
		others.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
		wantVersion("before the bookmark", "4")
		server.Bookmark()
		wantVersion("after the bookmark", "5")
		s := pods.Status()
		same(t, "status", []string{s.ResourceVersion, s.Reflector.ResourceVersion}, []string{"5", "5"})
		same(t, "LastBookmark.IsZero()", s.Reflector.LastBookmark.IsZero(), false)
	})
}

// TestFaultW13ShutdownTwiceAffectsNoOtherFactory has two factories with informers of the same
// resource and name, one of which has a lease. Shutdown of the first factory, once or twice,
// affects neither the lease nor the other factory.
func TestFaultW13ShutdownTwiceAffectsNoOtherFactory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		one, other := server.Factory(t), server.Factory(t)
		mine, theirs := podsOf(one, informer.WithName("pods")), podsOf(other, informer.WithName("pods"))
		run(t, one)
		run(t, other)
		lease, err := mine.Acquire(t.Context())
		noError(t, err)
		for range 2 {
			shutdown(t, one)
			if !mine.Status().Running || !theirs.Status().Running {
				t.Errorf("after Shutdown of the other factory: running: %v and %v, want both", mine.Status().Running, theirs.Status().Running)
			}
		}
		for range 2 {
			noError(t, lease.Release(t.Context()))
			if mine.Status().Running || !theirs.Status().Running {
				t.Errorf("after Release: running: %v and %v, want false and true", mine.Status().Running, theirs.Status().Running)
			}
		}
		shutdown(t, other)
	})
}

// TestFaultW29SecondInformerOfTheSameType has informers that a factory keyed by Go type can't have:
// of the same resource with another selector, namespace, transform or Go type, unstructured and
// metadata. Each is stopped on its own.
func TestFaultW29SecondInformerOfTheSameType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "web", map[string]string{"app": "web"}), labelled("shop", "api", map[string]string{"app": "api"}), pod("bank", "vault", ""))
		f := server.Factory(t)
		web := informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"}))
		stripLabels := informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { pod.Labels = nil; return pod, nil })
		all := podsOf(f)
		selected := podsOf(f, web)
		bank := podsOf(f, informer.WithNamespace("bank"))
		transformed := podsOf(f, informer.WithName("bare pods"), stripLabels)
		dynamic, metadata := factories.For[*unstructured.Unstructured](f, podResource), factories.ForMetadata(f, podResource)
		run(t, f)
		same(t, "all", informertest.Names(all), []string{"bank/vault", "shop/api", "shop/web"})
		same(t, "selected", informertest.Names(selected), []string{"shop/web"})
		same(t, "in a namespace", informertest.Names(bank), []string{"bank/vault"})
		same(t, "dynamic", informertest.Names(dynamic), []string{"bank/vault", "shop/api", "shop/web"})
		same(t, "metadata", informertest.Names(metadata), []string{"bank/vault", "shop/api", "shop/web"})
		key := object.Key{Namespace: "shop", Name: "web"}
		with, _ := all.Store().Snapshot().Get(key)
		without, _ := transformed.Store().Snapshot().Get(key)
		if len(with.Labels) != 1 || without.Labels != nil {
			t.Errorf("labels %v, transformed %v; want one, none", with.Labels, without.Labels)
		}
		if podsOf(f, web) != selected || podsOf(f, informer.WithNamespace("bank")) != bank || podsOf(f, informer.WithName("bare pods"), stripLabels) != transformed {
			t.Error("For with the same options has returned another informer")
		}
		var names []string
		for _, i := range f.Informers() {
			names = append(names, i.Status().Name)
		}
		same(t, "names", names, []string{"pods/v1", `pods/v1 with labels "app=web"`, `pods/v1 in namespace "bank"`, "bare pods", "pods/v1 (unstructured)", "pods/v1 (metadata)"})

		noError(t, f.Stop(t.Context(), selected))
		server.Pods.Create(labelled("shop", "web-2", map[string]string{"app": "web"}))
		synctest.Wait()
		same(t, "pods of the stopped informer", informertest.Names(selected), []string{"shop/web"})
		same(t, "pods of another informer", len(informertest.Names(all)), 4)
		run(t, f)
		same(t, "pods after the restart", informertest.Names(selected), []string{"shop/web", "shop/web-2"})
		shutdown(t, f)
	})
}

// TestFaultW30TypedAPI compiles only if the API is typed: objects, keys, handlers and deletions
// have their types, and other packages can implement the interfaces that take them.
func TestFaultW30TypedAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", "node-1"))
		var src source.Source[*corev1.Pod] = foreignSource{server.Source(t)}
		pods := newPods(t, src, informer.WithLogger(discard), informer.WithIndexes(PodByNode))
		var last atomic.Pointer[corev1.Pod]
		var h informer.Handler[*corev1.Pod] = informer.HandlerFuncs[*corev1.Pod]{
			DeleteFunc: func(d informer.Deleted[*corev1.Pod]) { last.Store(d.Object) },
		}
		informertest.Add(t, pods, h)
		start(t, pods)
		var onNode []*corev1.Pod = PodByNode.List(pods.Store().Snapshot(), "node-1")
		same(t, "pods", len(onNode), 1)
		server.Pods.Delete("shop", "blue")
		synctest.Wait()
		same(t, "the deleted pod", last.Load().Name, "blue")

		server.Outage()
		synctest.Wait()
		if err := pods.Status().Reflector.LastError; !errors.Is(err, informertest.ErrOutage) || reason.Of(err) != reason.Unreachable {
			t.Errorf("LastError = %v, want ErrOutage", err)
		}
	})
}

// foreignSource is a Source of another package.
type foreignSource struct{ source.Source[*corev1.Pod] }
