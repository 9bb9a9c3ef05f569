// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

func TestPromise01EveryChangeInOrder(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		inBubble(t, fmt.Sprint("watch-list ", watchList), func(t *testing.T) {
			server := newShop(pod("shop", "a", ""), pod("shop", "b", ""), pod("shop", "c", ""), pod("shop", "d", ""))
			pods := newPods(t, server.Source(t), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}), informer.WithLogger(discard))
			release := make(chan struct{}, 1000)
			var prompt, merging journal[*corev1.Pod]
			merging.Before = func(string, object.Key) { <-release }
			informertest.Add(t, pods, &prompt)
			informertest.Add(t, pods, &merging, informer.WithBacklogThreshold(0))
			for range 4 {
				release <- struct{}{}
			}
			start(t, pods)
			prompt.SawAll(t, "+a@2 initial", "+b@3 initial", "+c@4 initial", "+d@5 initial")
			merging.SawAll(t, "+a@2 initial", "+b@3 initial", "+c@4 initial", "+d@5 initial")

			// On the watch: every event, in the server's order. A new UID is a new object.
			server.Move("a", "1")
			synctest.Wait() // the merging handler stays in this callback
			server.Move("b", "1")
			server.Move("a", "2")
			server.Pods.Delete("shop", "a")
			server.Pods.Create(pod("shop", "a", ""))
			prompt.Saw(t, "~a@2>6", "~b@3>7", "~a@6>8", "-a@9", "+a@10")

			// A broken watch: no event is lost or repeated.
			stop := server.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: sourcetest.Always, Do: sourcetest.Fail(syscall.ECONNREFUSED)})
			server.EndWatches()
			server.Move("b", "2")
			server.Pods.Delete("shop", "b")
			server.Pods.Create(pod("shop", "b", ""))
			synctest.Wait()
			stop()
			pass(time.Minute)
			prompt.Saw(t, "~b@7>11", "-b@12", "+b@13")

			// A relist: a new UID is a deletion, then an addition. A missing object is a deletion,
			// with the last known state. An unchanged object is not reported.
			server.Relist(func() {
				server.Move("a", "3")
				server.Pods.Delete("shop", "b")
				server.Pods.Create(pod("shop", "b", ""))
				server.Pods.Delete("shop", "c")
			})
			pass(time.Minute)
			relist := prompt.Take()
			sorted := slices.Sorted(slices.Values(relist))
			same(t, "relist", sorted, []string{"+b@16", "-b@13 unknown", "-c@4 unknown", "~a@10>14"})
			if slices.Index(relist, "-b@13 unknown") > slices.Index(relist, "+b@16") {
				t.Errorf("the addition of b comes before its deletion: %q", relist)
			}
			prompt.Check(t, pods)

			// A slow handler: the same, merged by key.
			close(release)
			merging.SawAll(t, "~a@2>6", "-a@9", "+a@14", "-b@12", "+b@16", "-c@4 unknown")
			merging.Check(t, pods)
		})
	}
}

func TestPromise03SlowHandlerHasABoundedBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		const keys, updates = 10, 5000
		for n := range keys {
			server.Pods.Create(pod("shop", numbered(n), ""))
		}
		pods := newPods(t, server.Source(t))
		release := make(chan struct{})
		var stuck, prompt journal[*corev1.Pod]
		var events atomic.Int64
		stuck.Before = func(string, object.Key) { <-release }
		prompt.Before = func(string, object.Key) { events.Add(1) }
		slow, never := informertest.Add(t, pods, &stuck), informertest.Add(t, pods, &journal[*corev1.Pod]{Before: stuck.Before}, informer.WithBacklogThreshold(informer.Never))
		informertest.Add(t, pods, &prompt)
		start(t, pods)
		for range updates / keys {
			for n := range keys {
				server.Move(numbered(n), "node")
			}
			synctest.Wait() // the prompt handler keeps up
		}
		server.Pods.Create(pod("shop", "brief", ""))
		server.Pods.Delete("shop", "brief")
		synctest.Wait()
		same(t, "events of the handler that keeps up", events.Load(), int64(keys+updates+2))
		if s := slow.Status(); s.Backlog > 2*keys || !s.Merging {
			t.Errorf("Status() = %+v; want at most %d waiting events, merging", s, 2*keys)
		}
		if s := never.Status(); s.Backlog != keys-1+updates+2 || s.Merging {
			t.Errorf("Status() with threshold Never = %+v; want %d waiting events, not merging", s, keys-1+updates+2)
		}
		close(release)
		synctest.Wait()
		// An object added and deleted meanwhile is not reported.
		delivered := stuck.Take()
		for _, line := range delivered {
			if strings.Contains(line, "brief") {
				t.Errorf("event %s, want none of brief", line)
			}
		}
		if n := len(delivered); n > 2*keys {
			t.Errorf("%d events were delivered, want at most %d", n, 2*keys)
		}
		stuck.Check(t, pods)
		prompt.Check(t, pods)
		// Once it has caught up, it gets every event again.
		stuck.Take()
		server.Move(numbered(0), "a")
		server.Move(numbered(0), "b")
		same(t, "events later", len(stuck.Take()), 2)
	})
}

func TestPromise04DeletionsAreTyped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "seen", "node-1"), pod("shop", "unseen", "node-2"), pod("", "scopeless", ""))
		pods := newPods(t, server.Source(t), informer.WithLogger(discard))
		var got []string
		informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{DeleteFunc: func(d informer.Deleted[*corev1.Pod]) {
			// typed, and never nil
			same(t, "key", d.Key, object.KeyOf(d.Object))
			got = append(got, fmt.Sprint(d.Key, " ", d.Object.Spec.NodeName, " ", d.FinalStateUnknown))
		}})
		start(t, pods)
		server.Pods.Delete("shop", "seen")
		server.Pods.Delete("", "scopeless")
		synctest.Wait()
		server.Relist(func() { server.Pods.Delete("shop", "unseen") })
		pass(time.Minute)
		same(t, "deletions", got, []string{"shop/seen node-1 false", "scopeless  false", "shop/unseen node-2 true"})
	})
}

// TestPromise11HandlersThatPanic has a handler that panics in each method. It gets every event, and
// so does another handler. TestPanicEndsTheProcess shows the option for a crash.
func TestPromise11HandlersThatPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		var log strings.Builder
		pods := newPods(t, server.Source(t), informer.WithLogger(logTo(&log)))
		var panicking, calm journal[*corev1.Pod]
		r := informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{
			AddFunc:    func(pod *corev1.Pod, initial bool) { panicking.OnAdd(pod, initial); panic("on purpose") },
			UpdateFunc: func(old, pod *corev1.Pod) { panicking.OnUpdate(old, pod); panic(errors.New("an error")) },
			DeleteFunc: func(d informer.Deleted[*corev1.Pod]) { panicking.OnDelete(d); panic("at last") },
		}, informer.WithHandlerName("billing"))
		informertest.Add(t, pods, &calm)
		start(t, pods)
		server.Move("blue", "node")
		synctest.Wait()
		server.Pods.Delete("shop", "blue")
		for _, j := range []*journal[*corev1.Pod]{&panicking, &calm} {
			j.Saw(t, "+blue@2 initial", "~blue@2>3", "-blue@4")
		}
		for _, part := range []string{"on purpose", "an error", "at last", `"key"="shop/blue"`, `"handler"="billing"`, `"callback"="OnAdd"`, "promises_handlers_test.go"} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("the log lacks %s: %s", part, log.String())
			}
		}
		same(t, "the panicking handler has synced", r.HasSynced(), true)
	})
}
