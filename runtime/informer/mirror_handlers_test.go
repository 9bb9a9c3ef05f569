// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func handlers[T object.Object](i *informer.SharedIndexInformer[T]) int {
	return len(i.Status().Handlers)
}

func TestSharedInformerRemoveHandler(t *testing.T) {
	pods := newPods(t, newShop(pod("", "pod1", "")).Source(t))
	first, second := informertest.Add(t, pods, &journal[*corev1.Pod]{}), informertest.Add(t, pods, &journal[*corev1.Pod]{})
	same(t, "handlers", handlers(pods), 2)
	second.Remove()
	same(t, "handlers", handlers(pods), 1)
	first.Remove()
	same(t, "handlers", handlers(pods), 0)
}

// TestSharedInformerRemoveForeignHandler shows that a registration knows its informer: there is no
// way to remove it from another one.
func TestSharedInformerRemoveForeignHandler(t *testing.T) {
	server := newShop(pod("", "pod1", ""))
	one, other := newPods(t, server.Source(t)), newPods(t, server.Source(t))
	first, second := informertest.Add(t, one, &journal[*corev1.Pod]{}), informertest.Add(t, one, &journal[*corev1.Pod]{})
	foreign := informertest.Add(t, other, &journal[*corev1.Pod]{})
	foreign.Remove()
	same(t, "handlers of the one", handlers(one), 2)
	same(t, "handlers of the other", handlers(other), 0)
	second.Remove()
	first.Remove()
	same(t, "handlers of the one", handlers(one), 0)
}

func TestSharedInformerMultipleRegistration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).Source(t))
		var j journal[*corev1.Pod]
		first, second := informertest.Add(t, pods, &j), informertest.Add(t, pods, &j)
		same(t, "handlers", handlers(pods), 2)
		first.Remove()
		same(t, "handlers", handlers(pods), 1)
		defer start(t, pods)()
		j.Saw(t, "+pod1@2 initial")
		second.Remove()
		same(t, "handlers", handlers(pods), 0)
	})
}

func TestRemovingRemovedSharedInformer(t *testing.T) {
	pods := newPods(t, newShop(pod("", "pod1", "")).Source(t))
	r := informertest.Add(t, pods, &journal[*corev1.Pod]{})
	r.Remove()
	r.Remove()
	same(t, "handlers", handlers(pods), 0)
}

// TestSharedInformerHandlerAbuse adds and removes handlers in many goroutines while events come in
// and the informer stops.
func TestSharedInformerHandlerAbuse(t *testing.T) {
	server := newShop()
	pods := newPods(t, server.Source(t))
	ctx, cancel := context.WithCancel(t.Context())
	var running, workers sync.WaitGroup
	running.Go(func() { _ = pods.Run(ctx) })
	for range 20 {
		workers.Go(func() {
			var mine []*informer.Registration
			for ctx.Err() == nil {
				if at := rand.IntN(len(mine) + 1); at == len(mine) && len(mine) < 20 {
					mine = append(mine, informertest.Add(t, pods, &journal[*corev1.Pod]{}, informer.WithResyncPeriod(time.Second)))
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
			server.Pods.Create(pod("shop", fmt.Sprint("pod", n), ""))
			exist = append(exist, fmt.Sprint("pod", n))
		case rand.IntN(2) == 0:
			server.Move(exist[at], "node")
		default:
			server.Pods.Delete("shop", exist[at])
			exist = slices.Delete(exist, at, at+1)
		}
	}
	cancel()
	workers.Wait()
	running.Wait()
	same(t, "handlers", handlers(pods), 0)
}

// TestAddOnStoppedSharedInformer adds a handler to a stopped informer, which may run again.
func TestAddOnStoppedSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).Source(t))
		start(t, pods)()
		var j journal[*corev1.Pod]
		r := informertest.Add(t, pods, &j)
		j.Saw(t)
		if r.HasSynced() {
			t.Error("synced without an event")
		}
		defer start(t, pods)()
		j.Saw(t, "+pod1@2 initial")
		if !r.HasSynced() {
			t.Error("not synced")
		}
	})
}

func TestRemoveOnStoppedSharedInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("", "pod1", "")).Source(t))
		r := informertest.Add(t, pods, &journal[*corev1.Pod]{})
		start(t, pods)()
		r.Remove()
		same(t, "handlers", handlers(pods), 0)
	})
}

func TestRemoveWhileActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.Source(t))
		var j journal[*corev1.Pod]
		r := informertest.Add(t, pods, &j)
		defer start(t, pods)()
		server.Pods.Create(pod("", "pod1", ""))
		j.Saw(t, "+pod1@2")
		r.Remove()
		same(t, "handlers", handlers(pods), 0)
		server.Pods.Create(pod("", "pod2", ""))
		j.Saw(t)
	})
}

func TestAddWhileActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.Source(t))
		var early, late journal[*corev1.Pod]
		first := informertest.Add(t, pods, &early)
		if first.HasSynced() {
			t.Error("synced before Run")
		}
		defer start(t, pods)()
		server.Pods.Create(pod("", "pod1", ""))
		early.Saw(t, "+pod1@2")
		<-first.Synced()
		let := make(chan struct{})
		late.Before = func(string, object.Key) { <-let }
		second := informertest.Add(t, pods, &late)
		synctest.Wait()
		if second.HasSynced() {
			t.Error("synced before the first callback has returned")
		}
		close(let)
		server.Pods.Create(pod("", "pod2", ""))
		late.Saw(t, "+pod1@2 initial", "+pod2@3")
		early.Saw(t, "+pod2@3")
		if !second.HasSynced() {
			t.Error("not synced")
		}
		same(t, "handlers", handlers(pods), 2)
	})
}

// TestEventPanics has a handler that panics in each of its methods. It gets every event, and so
// does another handler.
func TestEventPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""))
		pods := newPods(t, server.Source(t), informer.WithLogger(discard))
		panics := journal[*corev1.Pod]{}
		var calm journal[*corev1.Pod]
		failing := informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
			AddFunc:    func(pod *corev1.Pod, initial bool) { panics.OnAdd(pod, initial); panic("add") },
			UpdateFunc: func(old, pod *corev1.Pod) { panics.OnUpdate(old, pod); panic(errors.New("update")) },
			DeleteFunc: func(d informer.Deleted[*corev1.Pod]) { panics.OnDelete(d); panic("delete") },
		})
		informertest.Add(t, pods, &calm)
		defer start(t, pods)()
		server.Move("pod1", "node")
		synctest.Wait()
		server.Pods.Delete("shop", "pod1")
		events := []string{"+pod1@2 initial", "~pod1@2>3", "-pod1@4"}
		panics.Saw(t, events...)
		calm.Saw(t, events...)
		if !failing.HasSynced() {
			t.Error("a handler that panics on an initial object never syncs")
		}
	})
}

// TestRemoveEventHandler_AsynchronousPanic shows that events that wait for a handler when it is
// removed are not delivered, so its owner can release what the handler uses.
func TestRemoveEventHandler_AsynchronousPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""))
		pods := newPods(t, server.Source(t))
		let, torn := make(chan struct{}), false
		r := informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) {
			if torn {
				t.Error("a callback after Remove")
			}
			<-let
		}})
		defer start(t, pods)()
		server.Move("pod1", "node")
		synctest.Wait()
		time.AfterFunc(time.Second, func() { close(let) })
		r.Remove()
		torn = true
		synctest.Wait()
	})
}

// TestRemoveEventHandler_SynchronousShutdown shows that Remove waits for the running callback.
func TestRemoveEventHandler_SynchronousShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "pod1", "")).Source(t))
		returned := false
		r := informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: func(*corev1.Pod, bool) {
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
		pods := newPods(t, newShop(pod("shop", "pod1", "")).Source(t))
		before, running, after := informertest.Add(t, pods, &journal[*corev1.Pod]{}), informertest.Add(t, pods, &journal[*corev1.Pod]{}), informertest.Add(t, pods, &journal[*corev1.Pod]{})
		before.Remove()
		stop := start(t, pods)
		running.Remove()
		stop()
		after.Remove()
		same(t, "handlers", handlers(pods), 0)
	})
}
