// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source/sourcetest"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// The tests in the mirror files have the scenarios, and the names, of client-go's tests of informers.
// docs/client-go.md lists them, and where the behaviour differs on purpose.

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
		pods := newPods(t, server.source(t), informer.WithIndexes(ByLabel))
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
		server.pods.Create(labelled("", "pod3", map[string]string{"a": "a-val2"}))
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
		pods := newPods(t, newShop(pod("", "pod1", ""), pod("", "pod2", "")).source(t), informer.WithResyncPeriod(time.Second))
		var never, two, three journal[*corev1.Pod]
		add(t, pods, &never, informer.WithResyncPeriod(0))
		add(t, pods, &two, informer.WithResyncPeriod(2*time.Second))
		add(t, pods, &three, informer.WithResyncPeriod(3*time.Second))
		defer start(t, pods)()
		for _, j := range []*journal[*corev1.Pod]{&never, &two, &three} {
			j.sawAll(t, "+pod1@2 initial", "+pod2@3 initial")
		}
		for second, want := range [][2]int{{0, 0}, {2, 0}, {0, 2}, {2, 0}} { // after 1, 2, 3 and 4 seconds
			pass(time.Second)
			if n, m := len(two.take()), len(three.take()); n != want[0] || m != want[1] {
				t.Errorf("second %d: %d and %d events, want %v", second+1, n, m, want)
			}
		}
		never.saw(t)
	})
}

func TestResyncCheckPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Each handler has a period of its own, whatever that of the informer and of the others is.
		pods := newPods(t, newShop(pod("", "pod1", "")).source(t), informer.WithResyncPeriod(12*time.Hour))
		var never, day, minute, fast journal[*corev1.Pod]
		add(t, pods, &never, informer.WithResyncPeriod(0))
		add(t, pods, &day)
		add(t, pods, &minute, informer.WithResyncPeriod(time.Minute))
		add(t, pods, &fast, informer.WithResyncPeriod(55*time.Millisecond)) // raised to a second
		defer start(t, pods)()
		pass(12*time.Hour + time.Second)
		for want, j := range map[int]*journal[*corev1.Pod]{1: &never, 2: &day, 1 + 12*60: &minute, 1 + 12*3600 + 1: &fast} {
			if n := len(j.take()); n != want {
				t.Errorf("%d events, want %d", n, want)
			}
		}
	})
}

func TestSharedInformerInitializationRace(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop(pod("", "pod1", "")).source(t), informer.WithResyncPeriod(time.Second))
			var j journal[*corev1.Pod]
			ctx, cancel := context.WithCancel(t.Context())
			var both sync.WaitGroup
			both.Go(func() { add(t, pods, &j, informer.WithResyncPeriod(0)) })
			both.Go(func() { _ = pods.Run(ctx) })
			j.saw(t, "+pod1@2 initial")
			cancel()
			both.Wait()
		})
	}
}

func TestSharedInformerWatchDisruption(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""), pod("shop", "pod2", ""))
		pods := newPods(t, server.source(t))
		var quiet, resyncing journal[*corev1.Pod]
		add(t, pods, &quiet)
		add(t, pods, &resyncing, informer.WithResyncPeriod(time.Hour))
		defer start(t, pods)()
		quiet.sawAll(t, "+pod1@2 initial", "+pod2@3 initial")
		resyncing.sawAll(t, "+pod1@2 initial", "+pod2@3 initial")
		server.relist(func() {
			server.pods.Create(pod("shop", "pod3", ""))
			server.move("pod2", "node")
			quiet.saw(t)
		})
		pass(time.Minute)
		quiet.sawAll(t, "+pod3@4", "~pod2@3>5")
		resyncing.sawAll(t, "+pod3@4", "~pod2@3>5")
		pass(time.Hour)
		quiet.saw(t)
		resyncing.sawAll(t, "~pod1@2>2", "~pod2@5>5", "~pod3@4>4")
	})
}

func TestSharedInformerErrorHandling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("", "pod1", ""))
		server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(http.StatusForbidden)})
		heard := make(chan error, 100)
		pods := newPods(t, server.source(t), informer.WithName("pods"), informer.WithErrorHandler(func(name string, err error) {
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

// TestSharedInformerStartRace does to an informer that starts everything that can be done to one. (A transform and an error
// handler are options, so they can't race with the start.)
func TestSharedInformerStartRace(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop(pod("", "pod1", "")).source(t),
				informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) { return pod, nil }),
				informer.WithErrorHandler(func(string, error) {}))
			ctx, cancel := context.WithCancel(t.Context())
			var all sync.WaitGroup
			all.Go(func() { _ = pods.Run(ctx) })
			for _, do := range []func(){
				func() { add(t, pods, &journal[*corev1.Pod]{}).Remove() },
				func() { _ = pods.AddIndexers(ByLabel) },
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
		pods := newPods(t, server.source(t), informer.WithTransform(func(pod *corev1.Pod) (*corev1.Pod, error) {
			pod.Spec.NodeName = "node of " + pod.Name
			return pod, nil
		}))
		var nodes []string
		add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(pod *corev1.Pod, _ bool) { nodes = append(nodes, pod.Spec.NodeName) }})
		defer start(t, pods)()
		slices.Sort(nodes)
		same(t, "nodes", nodes, []string{"node of pod1", "node of pod2"})
	})
}

func handlers[T object.Object](i *informer.SharedIndexInformer[T]) int {
	return len(i.Status().Handlers)
}

func TestSharedInformerRemoveHandler(t *testing.T) {
	pods := newPods(t, newShop(pod("", "pod1", "")).source(t))
	first, second := add(t, pods, &journal[*corev1.Pod]{}), add(t, pods, &journal[*corev1.Pod]{})
	same(t, "handlers", handlers(pods), 2)
	second.Remove()
	same(t, "handlers", handlers(pods), 1)
	first.Remove()
	same(t, "handlers", handlers(pods), 0)
}

// TestSharedInformerRemoveForeignHandler shows that a registration knows its informer: there is no way to remove it from
// another one.
func TestSharedInformerRemoveForeignHandler(t *testing.T) {
	server := newShop(pod("", "pod1", ""))
	one, other := newPods(t, server.source(t)), newPods(t, server.source(t))
	first, second := add(t, one, &journal[*corev1.Pod]{}), add(t, one, &journal[*corev1.Pod]{})
	foreign := add(t, other, &journal[*corev1.Pod]{})
	foreign.Remove()
	same(t, "handlers of the one", handlers(one), 2)
	same(t, "handlers of the other", handlers(other), 0)
	second.Remove()
	first.Remove()
	same(t, "handlers of the one", handlers(one), 0)
}

func TestSharedInformerMultipleRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).source(t))
		var j journal[*corev1.Pod]
		first, second := add(t, pods, &j), add(t, pods, &j)
		same(t, "handlers", handlers(pods), 2)
		first.Remove()
		same(t, "handlers", handlers(pods), 1)
		defer start(t, pods)()
		j.saw(t, "+pod1@2 initial")
		second.Remove()
		same(t, "handlers", handlers(pods), 0)
	})
}

func TestRemovingRemovedSharedInformer(t *testing.T) {
	pods := newPods(t, newShop(pod("", "pod1", "")).source(t))
	r := add(t, pods, &journal[*corev1.Pod]{})
	r.Remove()
	r.Remove()
	same(t, "handlers", handlers(pods), 0)
}

// TestSharedInformerHandlerAbuse adds and removes handlers in many goroutines while events come in and the informer stops.
func TestSharedInformerHandlerAbuse(t *testing.T) {
	server := newShop()
	pods := newPods(t, server.source(t))
	ctx, cancel := context.WithCancel(t.Context())
	var running, workers sync.WaitGroup
	running.Go(func() { _ = pods.Run(ctx) })
	for range 20 {
		workers.Go(func() {
			var mine []*informer.Registration
			for ctx.Err() == nil {
				if at := rand.IntN(len(mine) + 1); at == len(mine) && len(mine) < 20 {
					mine = append(mine, add(t, pods, &journal[*corev1.Pod]{}, informer.WithResyncPeriod(time.Second)))
				} else if len(mine) > 0 {
					at = min(at, len(mine)-1)
					mine[at].Remove()
					mine = slices.Delete(mine, at, at+1)
				}
			}
			for _, r := range mine {
				r.Remove()
			}
		})
	}
	exist := []string{}
	for n := range 3000 {
		switch at := rand.IntN(len(exist) + 1); {
		case at == len(exist) || rand.IntN(3) == 0:
			server.pods.Create(pod("shop", fmt.Sprint("pod", n), ""))
			exist = append(exist, fmt.Sprint("pod", n))
		case rand.IntN(2) == 0:
			server.move(exist[at], "node")
		default:
			server.pods.Delete("shop", exist[at])
			exist = slices.Delete(exist, at, at+1)
		}
	}
	cancel()
	workers.Wait()
	running.Wait()
	same(t, "handlers", handlers(pods), 0)
}

func TestStateSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).source(t))
		var j journal[*corev1.Pod]
		add(t, pods, &j)
		if s := pods.Status(); s.Running || s.Synced {
			t.Errorf("before the start: %v", s)
		}
		stop := start(t, pods)
		j.saw(t, "+pod1@2 initial")
		if s := pods.Status(); !s.Running || !s.Synced {
			t.Errorf("running: %v", s)
		}
		stop()
		if s := pods.Status(); s.Running || !s.Synced {
			t.Errorf("stopped: %v", s)
		}
	})
}

// TestAddOnStoppedSharedInformer: a stopped informer may run again, so a handler may be added to it.
func TestAddOnStoppedSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).source(t))
		start(t, pods)()
		var j journal[*corev1.Pod]
		r := add(t, pods, &j)
		j.saw(t)
		if r.HasSynced() {
			t.Error("synced without an event")
		}
		defer start(t, pods)()
		j.saw(t, "+pod1@2 initial")
		if !r.HasSynced() {
			t.Error("not synced")
		}
	})
}

func TestRemoveOnStoppedSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).source(t))
		r := add(t, pods, &journal[*corev1.Pod]{})
		start(t, pods)()
		r.Remove()
		same(t, "handlers", handlers(pods), 0)
	})
}

func TestRemoveWhileActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.source(t))
		var j journal[*corev1.Pod]
		r := add(t, pods, &j)
		defer start(t, pods)()
		server.pods.Create(pod("", "pod1", ""))
		j.saw(t, "+pod1@2")
		r.Remove()
		same(t, "handlers", handlers(pods), 0)
		server.pods.Create(pod("", "pod2", ""))
		j.saw(t)
	})
}

func TestAddWhileActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.source(t))
		var early, late journal[*corev1.Pod]
		first := add(t, pods, &early)
		if first.HasSynced() {
			t.Error("synced before Run")
		}
		defer start(t, pods)()
		server.pods.Create(pod("", "pod1", ""))
		early.saw(t, "+pod1@2")
		<-first.Synced()
		let := make(chan struct{})
		late.before = func(string, object.Key) { <-let }
		second := add(t, pods, &late)
		synctest.Wait()
		if second.HasSynced() {
			t.Error("synced before the first callback has returned")
		}
		close(let)
		server.pods.Create(pod("", "pod2", ""))
		late.saw(t, "+pod1@2 initial", "+pod2@3")
		early.saw(t, "+pod2@3")
		if !second.HasSynced() {
			t.Error("not synced")
		}
		same(t, "handlers", handlers(pods), 2)
	})
}

// TestShutdown relies on the bubbles, and on goleak, which find goroutines that are left.
func TestShutdown(t *testing.T) {
	t.Run("handler before", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop().source(t), informer.WithResyncPeriod(time.Second))
			r := add(t, pods, &journal[*corev1.Pod]{})
			start(t, pods)()
			r.Remove()
		})
	})
	t.Run("handler later", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			pods := newPods(t, newShop().source(t), informer.WithResyncPeriod(time.Second))
			defer start(t, pods)()
			add(t, pods, &journal[*corev1.Pod]{}).Remove()
		})
	})
	t.Run("no run", func(t *testing.T) {
		add(t, newPods(t, newShop().source(t)), &journal[*corev1.Pod]{}) // and nothing is left
	})
}

// TestEventPanics has a handler that panics in each of its methods; the other one gets every event, and so does it.
func TestEventPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""))
		pods := newPods(t, server.source(t), informer.WithLogger(discard))
		panics := journal[*corev1.Pod]{}
		var calm journal[*corev1.Pod]
		failing := add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
			AddFunc:    func(pod *corev1.Pod, initial bool) { panics.OnAdd(pod, initial); panic("add") },
			UpdateFunc: func(old, pod *corev1.Pod) { panics.OnUpdate(old, pod); panic(errors.New("update")) },
			DeleteFunc: func(d informer.Deleted[*corev1.Pod]) { panics.OnDelete(d); panic("delete") },
		})
		add(t, pods, &calm)
		defer start(t, pods)()
		server.move("pod1", "node")
		synctest.Wait()
		server.pods.Delete("shop", "pod1")
		events := []string{"+pod1@2 initial", "~pod1@2>3", "-pod1@4"}
		panics.saw(t, events...)
		calm.saw(t, events...)
		if !failing.HasSynced() {
			t.Error("a handler that panics on an initial object never syncs")
		}
	})
}

// TestRemoveEventHandler_AsynchronousPanic: events that wait for a handler when it is removed are not delivered to what
// its owner has torn down.
func TestRemoveEventHandler_AsynchronousPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""))
		pods := newPods(t, server.source(t))
		let, torn := make(chan struct{}), false
		r := add(t, pods, &journal[*corev1.Pod]{before: func(string, object.Key) {
			if torn {
				t.Error("a callback after Remove")
			}
			<-let
		}})
		defer start(t, pods)()
		server.move("pod1", "node")
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(let) })
		r.Remove()
		torn = true
		synctest.Wait()
	})
}

// TestRemoveEventHandler_SynchronousShutdown: Remove waits for the running callback.
func TestRemoveEventHandler_SynchronousShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "pod1", "")).source(t))
		returned := false
		r := add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) {
			time.Sleep(time.Minute)
			returned = true
		}})
		defer start(t, pods)()
		r.Remove()
		if !returned {
			t.Error("Remove has not waited")
		}
	})
}

func TestShutDownEventHandler_Lifecycles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "pod1", "")).source(t))
		before, running, after := add(t, pods, &journal[*corev1.Pod]{}), add(t, pods, &journal[*corev1.Pod]{}), add(t, pods, &journal[*corev1.Pod]{})
		before.Remove()
		stop := start(t, pods)
		running.Remove()
		stop()
		after.Remove()
		same(t, "handlers", handlers(pods), 0)
	})
}
