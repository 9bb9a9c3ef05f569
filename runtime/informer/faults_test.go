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

// TestFaultW01ObjectWithoutKeyInTheInitialList shows that an informer that can't store an object
// does not report an empty cache as synced. It reports the object, is not synced, and goes on once
// the object is repaired.
func TestFaultW01ObjectWithoutKeyInTheInitialList(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		for name, spoil := range map[string]func(*shop, *bool) informer.Option{
			"on the wire": func(server *shop, spoilt *bool) informer.Option {
				server.Inject(sourcetest.Fault{On: sourcetest.List | sourcetest.WatchList, Times: sourcetest.Always, Do: sourcetest.Edit(func(e sourcetest.Event) []sourcetest.Event {
					if pod, ok := e.Object.(*corev1.Pod); ok && *spoilt && pod.Name == numbered(7) {
						pod = pod.DeepCopy()
						pod.Name = ""
						e.Object = pod
					}
					return []sourcetest.Event{e}
				})})
				return informer.WithLogger(discard)
			},
			"by the transform": func(_ *shop, spoilt *bool) informer.Option {
				return informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
					if *spoilt && pod.Name == numbered(7) {
						pod.ObjectMeta = metav1.ObjectMeta{}
					}
					return pod, nil
				})
			},
		} {
			inBubble(t, name, func(t *testing.T) {
				server, spoilt := newShop(), true
				for n := range 10 {
					server.Pods.Create(pod("shop", numbered(n), ""))
				}
				var heard []error
				pods := newPods(t, server.Source(t), informer.WithLogger(discard), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}), spoil(server, &spoilt),
					informer.WithErrorHandler(func(_ string, err error) { heard = append(heard, err) }))
				var j journal[*corev1.Pod]
				r := informertest.Add(t, pods, &j)
				start(t, pods)
				pass(time.Minute)
				if s := pods.Status(); s.Synced || s.Objects != 0 || s.Reflector.LastError == nil || s.Reflector.BadData == 0 || r.HasSynced() {
					t.Errorf("status %v", s)
				}
				if len(heard) == 0 {
					t.Error("the error handler has heard nothing")
				}
				j.Saw(t)
				spoilt = false
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

// TestFaultW11BookmarksReachTheStore shows that the version of the store is that of the server
// after each change, and that bookmarks move it, not only that of the reflector.
func TestFaultW11BookmarksReachTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		server.BookmarkInterval = -1
		others := sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		pods := newPods(t, server.Source(t))
		stands := func(what, at string) {
			t.Helper()
			synctest.Wait()
			same(t, what, pods.Store().Snapshot().ResourceVersion(), at)
		}
		stands("before the start", "")
		start(t, pods)
		stands("after the list", "2")
		server.Move("blue", "node")
		stands("after an update", "3")
		server.Pods.Delete("shop", "blue")
		stands("after a deletion", "4")
		// the version moves on, and no pod changes
		others.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}})
		stands("before the bookmark", "4")
		server.Bookmark()
		stands("after the bookmark", "5")
		s := pods.Status()
		same(t, "status", []string{s.ResourceVersion, s.Reflector.ResourceVersion}, []string{"5", "5"})
		same(t, "no time of the last bookmark", s.Reflector.LastBookmark.IsZero(), false)
	})
}

// TestFaultW13ShutdownTwiceFreesNothingOfOthers has two factories with informers of the same
// resource and name, which share one more informer by leases. What one factory does, once or twice,
// doesn't affect the informers of the other.
func TestFaultW13ShutdownTwiceFreesNothingOfOthers(t *testing.T) {
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
				t.Error("Shutdown has stopped what others keep running")
			}
		}
		for range 2 {
			noError(t, lease.Release(t.Context()))
			if mine.Status().Running || !theirs.Status().Running {
				t.Errorf("running: %v and %v", mine.Status().Running, theirs.Status().Running)
			}
		}
		shutdown(t, other)
	})
}

// TestFaultW29SecondInformerOfTheSameType has informers that a factory keyed by Go type can't have:
// of the same resource with another selector, namespace, transform or Go type, unstructured and
// metadata, each stopped on its own.
func TestFaultW29SecondInformerOfTheSameType(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(labelled("shop", "web", map[string]string{"app": "web"}), labelled("shop", "api", map[string]string{"app": "api"}), pod("bank", "vault", ""))
		f := server.Factory(t)
		web := informer.WithLabelSelector(labels.SelectorFromSet(labels.Set{"app": "web"}))
		bare := informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { pod.Labels = nil; return pod, nil })
		all := podsOf(f)
		selected := podsOf(f, web)
		bank := podsOf(f, informer.WithNamespace("bank"))
		transformed := podsOf(f, informer.WithName("bare pods"), bare)
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
			t.Errorf("labels %v and %v", with.Labels, without.Labels)
		}
		if podsOf(f, web) != selected || podsOf(f, informer.WithNamespace("bank")) != bank || podsOf(f, informer.WithName("bare pods"), bare) != transformed {
			t.Error("the same options make another informer")
		}
		var called []string
		for _, i := range f.Informers() {
			called = append(called, i.Status().Name)
		}
		same(t, "names", called, []string{"pods/v1", `pods/v1 with labels "app=web"`, `pods/v1 in namespace "bank"`, "bare pods", "pods/v1 (unstructured)", "pods/v1 (metadata)"})

		noError(t, f.Stop(t.Context(), selected))
		server.Pods.Create(labelled("shop", "web-2", map[string]string{"app": "web"}))
		synctest.Wait()
		same(t, "of the stopped one", informertest.Names(selected), []string{"shop/web"})
		same(t, "of another one", len(informertest.Names(all)), 4)
		run(t, f)
		same(t, "started again", informertest.Names(selected), []string{"shop/web", "shop/web-2"})
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
		same(t, "the deleted one", last.Load().Name, "blue")

		server.Outage()
		synctest.Wait()
		if err := pods.Status().Reflector.LastError; !errors.Is(err, informertest.ErrOutage) || reason.Of(err) != reason.Unreachable {
			t.Errorf("got %v", err)
		}
	})
}

// foreignSource is a Source from outside of the module.
type foreignSource struct{ source.Source[*corev1.Pod] }
