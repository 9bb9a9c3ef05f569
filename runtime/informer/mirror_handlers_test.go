// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
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

// TestHandlersComeAndGo adds and removes handlers in every state of an informer's life.
func TestHandlersComeAndGo(t *testing.T) {
	inBubble(t, "before, during and after runs", func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""))
		pods, other := newPods(t, server.Source(t)), newPods(t, server.Source(t))
		var twice, lateJournal journal[*corev1.Pod]
		first, second := informertest.Add(t, pods, &twice), informertest.Add(t, pods, &twice)
		informertest.Add(t, other, &twice).Remove()
		same(t, "handlers", []int{handlers(pods), handlers(other)}, []int{2, 0})
		for range 2 {
			first.Remove()
			same(t, "handlers", handlers(pods), 1)
		}
		stop := start(t, pods)
		twice.Saw(t, "+pod1@2 initial")
		server.Pods.Create(pod("shop", "pod2", ""))
		twice.Saw(t, "+pod2@3")
		informertest.Add(t, pods, &journal[*corev1.Pod]{}).Remove()
		second.Remove()
		server.Pods.Create(pod("shop", "pod3", ""))
		twice.Saw(t)
		stopped := informertest.Add(t, pods, &journal[*corev1.Pod]{}, informer.WithResyncPeriod(time.Second))
		stop()
		stopped.Remove()
		same(t, "handlers", handlers(pods), 0)
		r := informertest.Add(t, pods, &lateJournal) // the informer may run again
		lateJournal.Saw(t)
		same(t, "synced without an event", r.HasSynced(), false)
		start(t, pods)
		lateJournal.SawAll(t, "+pod1@2 initial", "+pod2@3 initial", "+pod3@4 initial")
		same(t, "synced", r.HasSynced(), true)
	})
	inBubble(t, "while its initial objects wait", func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.Source(t))
		var earlyJournal, lateJournal journal[*corev1.Pod]
		first := informertest.Add(t, pods, &earlyJournal)
		same(t, "synced before Run", first.HasSynced(), false)
		start(t, pods)
		server.Pods.Create(pod("shop", "pod1", ""))
		earlyJournal.Saw(t, "+pod1@2")
		<-first.Synced()
		release := make(chan struct{})
		lateJournal.Before = func(string, object.Key) { <-release }
		second := informertest.Add(t, pods, &lateJournal)
		synctest.Wait()
		same(t, "synced before the first callback has returned", second.HasSynced(), false)
		close(release)
		server.Pods.Create(pod("shop", "pod2", ""))
		lateJournal.Saw(t, "+pod1@2 initial", "+pod2@3")
		earlyJournal.Saw(t, "+pod2@3")
		same(t, "synced", second.HasSynced(), true)
	})
}

// TestRemoveEventHandler_SynchronousShutdown shows that Remove waits for the running callback, and
// that waiting events are dropped. So the handler's owner can release its resources.
func TestRemoveEventHandler_SynchronousShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod1", ""))
		pods := newPods(t, server.Source(t))
		returned := false
		r := informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
			AddFunc: func(*corev1.Pod, bool) {
				time.Sleep(time.Minute)
				returned = true
			},
			UpdateFunc: func(*corev1.Pod, *corev1.Pod) { t.Error("OnUpdate was called after Remove") },
		})
		start(t, pods)
		server.Move("pod1", "node")
		synctest.Wait()
		r.Remove()
		same(t, "returned", returned, true)
		pass(time.Minute)
	})
}

// TestSharedInformerHandlerAbuse adds and removes handlers in many goroutines while events arrive
// and the informer stops.
func TestSharedInformerHandlerAbuse(t *testing.T) {
	server := newShop()
	pods := newPods(t, server.Source(t))
	ctx, cancel := context.WithCancel(t.Context())
	var running, workers sync.WaitGroup
	running.Go(func() { _ = pods.Run(ctx) })
	for range 20 {
		workers.Go(func() {
			var registrations []*informer.Registration
			for ctx.Err() == nil {
				if at := rand.IntN(len(registrations) + 1); at == len(registrations) && len(registrations) < 20 {
					registrations = append(registrations, informertest.Add(t, pods, &journal[*corev1.Pod]{}, informer.WithResyncPeriod(time.Second)))
				} else if len(registrations) > 0 {
					at = min(at, len(registrations)-1)
					registrations[at].Remove()
					registrations = slices.Delete(registrations, at, at+1)
				}
			}
			for _, r := range registrations {
				r.Remove()
			}
		})
	}
	names := []string{}
	for n := range 3000 {
		switch at := rand.IntN(len(names) + 1); {
		case at == len(names) || rand.IntN(3) == 0:
			server.Pods.Create(pod("shop", fmt.Sprint("pod", n), ""))
			names = append(names, fmt.Sprint("pod", n))
		case rand.IntN(2) == 0:
			server.Move(names[at], "node")
		default:
			server.Pods.Delete("shop", names[at])
			names = slices.Delete(names, at, at+1)
		}
	}
	cancel()
	workers.Wait()
	running.Wait()
	same(t, "handlers", handlers(pods), 0)
}
