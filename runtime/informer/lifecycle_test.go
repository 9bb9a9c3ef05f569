// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestLeases shows that an informer runs while it has a lease. The end of the last lease stops it,
// and the next lease starts it again.
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""), pod("shop", "red", ""))
		pods := newPods(t, server.Source(t), informer.WithName("pods"))
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		ctx, cancel := context.WithCancel(t.Context())
		first, second := acquire(ctx, t, pods), acquire(t.Context(), t, pods)
		j.SawAll(t, "+blue@2 initial", "+red@3 initial")
		if err := pods.Run(t.Context()); !errors.Is(err, informer.ErrRunning) {
			t.Errorf("Run with a lease = %v, want ErrRunning", err)
		}
		cancel()
		synctest.Wait()
		if err := first.Release(t.Context()); err != nil || !pods.Status().Running {
			t.Errorf("Release of one of two leases = %v, Status() = %v, want running", err, pods.Status())
		}
		for range 2 {
			if err := second.Release(t.Context()); err != nil || pods.Status().Running {
				t.Errorf("Release of the last lease = %v, Status() = %v, want not running", err, pods.Status())
			}
		}
		server.Move("blue", "node")
		server.Pods.Delete("shop", "red")
		third := acquire(t.Context(), t, pods)
		j.Saw(t, "-red@3 unknown", "~blue@2>4")
		if err := errors.Join(first.Release(t.Context()), second.Release(t.Context())); err != nil || !pods.Status().Running {
			t.Errorf("Release of ended leases = %v, Status() = %v, want running", err, pods.Status())
		}
		noError(t, third.Release(t.Context()))
		_, err := pods.Acquire(ctx)
		want(t, err, "informer pods: Acquire: the context is done: context canceled")
	})
}

// TestStopAndRemove stops one informer of a factory while another one runs, starts it again, and
// removes it.
func TestStopAndRemove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		f := server.Factory(t)
		pods, other := podsOf(f), podsOf(f, informer.WithName("other"))
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		if err := f.Stop(t.Context(), pods); err != nil {
			t.Errorf("Stop before Start: %v", err)
		}
		run(t, f)
		j.Saw(t, "+blue@2 initial")
		for range 2 {
			if err := f.Stop(t.Context(), pods); err != nil || pods.Status().Running || !other.Status().Running {
				t.Errorf("Stop() = %v, Status() = %v, of the other informer %v", err, pods.Status(), other.Status())
			}
		}
		server.Move("blue", "node")
		same(t, "the store of a stopped informer", informertest.Names(pods), []string{"shop/blue"})
		run(t, f)
		j.Saw(t, "~blue@2>3")

		// Remove accepts a generic view of the informer.
		if err := f.Remove(t.Context(), factories.Generic(pods, podResource.GroupResource()).Informer()); err != nil || pods.Status().Running {
			t.Errorf("Remove() = %v, Status() = %v, want not running", err, pods.Status())
		}
		for call, stop := range map[string]func(context.Context, factories.Informer) error{"Stop": f.Stop, "Remove": f.Remove} {
			want(t, stop(t.Context(), pods), "informer factory: "+call+": the factory has no such informer: pods/v1")
			want(t, stop(t.Context(), nil), "informer factory: "+call+": the informer is nil")
			want(t, stop(t.Context(), (*informer.SharedIndexInformer[*corev1.Pod])(nil)), "informer factory: "+call+": the informer is nil")
			want(t, stop(noContext, other), "informer factory: "+call+": the context is nil")
		}
		again := podsOf(f)
		if again == pods || len(f.Informers()) != 2 {
			t.Error("For has returned the removed informer")
		}
		run(t, f)
		same(t, "objects of the new informer", informertest.Names(again), []string{"shop/blue"})
		j.Saw(t)
		shutdown(t, f)
	})
}

// TestStoppedInformersAreNotWaitedFor shows that WaitForCacheSync does not wait for a stopped
// informer that can't sync.
func TestStoppedInformersAreNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		f := server.Factory(t, informer.WithLogger(discard))
		podsOf(f)
		nodes := factories.For[*corev1.Node](f, nodeResource) // which the server does not have
		noError(t, errors.Join(f.Start(t.Context()), f.Stop(t.Context(), nodes)))
		noError(t, f.WaitForCacheSync(t.Context()))
		shutdown(t, f)
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Errorf("WaitForCacheSync after Shutdown: %v", err)
		}
	})
}

// TestRemoveForgetsErrors shows that Start succeeds after Remove of an informer with a wrong
// option.
func TestRemoveForgetsErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop().Factory(t)
		wrong := podsOf(f, informer.WithTuning(reflector.Tuning{PageSize: -1}))
		if err := f.Start(t.Context()); err == nil {
			t.Error("Start() = nil with a wrong option")
		}
		noError(t, f.Remove(t.Context(), wrong))
		podsOf(f)
		run(t, f)
		shutdown(t, f)
	})
}

// TestRemoveFreesTheMemory removes an informer that the program no longer refers to.
func TestRemoveFreesTheMemory(t *testing.T) {
	server := newShop(pod("shop", "blue", ""))
	f := server.Factory(t)
	freed := make(chan struct{})
	func() {
		pods := podsOf(f)
		noError(t, errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())))
		blue, _ := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		runtime.AddCleanup(blue, func(c chan struct{}) { close(c) }, freed)
		noError(t, f.Remove(t.Context(), pods))
	}()
	deadline := time.After(time.Minute)
	for {
		runtime.GC()
		select {
		case <-freed:
			shutdown(t, f)
			return
		case <-deadline:
			t.Fatal("the object was not freed within a minute")
		default:
			runtime.Gosched()
		}
	}
}

// TestShutdownWaitsForRemovedInformers shows that Shutdown waits for a callback that is still
// running after Remove has timed out.
func TestShutdownWaitsForRemovedInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue", "")).Factory(t)
		pods := podsOf(f)
		release := make(chan struct{})
		informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { <-release }}, informer.WithHandlerName("billing"))
		run(t, f)
		stop := func(ctx context.Context) error { return f.Stop(ctx, pods) }
		for _, end := range []func(context.Context) error{stop, stop, func(ctx context.Context) error { return f.Remove(ctx, pods) }, f.Shutdown} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := end(ctx); err == nil || !strings.Contains(err.Error(), `handler "billing" has not returned from OnAdd of shop/blue`) {
				t.Errorf("got %v, want an error that names the callback", err)
			}
		}
		close(release)
		shutdown(t, f)
	})
}

// TestLifecycleRaces calls all methods of the life cycle of one informer of a factory at the same
// time. No goroutine is left afterwards.
func TestLifecycleRaces(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, round))
			server := newShop(pod("shop", "blue", ""))
			f := server.Factory(t)
			pods := podsOf(f)
			informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { time.Sleep(time.Millisecond) }})
			var all sync.WaitGroup
			ctx, cancel := context.WithCancel(t.Context())
			for range 8 {
				delay, what := time.Duration(rng.IntN(5))*time.Millisecond, rng.IntN(6)
				all.Go(func() {
					time.Sleep(delay)
					switch what {
					case 0:
						_ = f.Start(ctx)
					case 1:
						_ = f.Stop(ctx, pods)
					case 2:
						if l, err := pods.Acquire(ctx); err == nil {
							time.Sleep(delay)
							_ = l.Release(ctx)
						}
					case 3:
						_ = pods.Run(ctx)
					case 4:
						_ = f.Start(ctx)
						_ = f.WaitForCacheSync(ctx)
					case 5:
						server.Move("blue", "node")
					}
				})
			}
			time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond)
			if rng.IntN(2) == 0 {
				all.Go(func() { _ = f.Shutdown(context.WithoutCancel(ctx)) })
			}
			cancel()
			all.Wait()
			shutdown(t, f)
			// A Release with a done context has not waited for the callback.
			pass(time.Second)
			if s := pods.Status(); s.Running {
				t.Errorf("round %d: Status() = %v, want not running", round, s)
			}
		})
	}
}

// TestSeveralNamespaces reads two of three namespaces with one informer.
func TestSeveralNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", "node-1"), pod("bank", "vault", "node-1"), pod("jail", "thief", "node-1"))
		server.BookmarkInterval = -1
		refuse := server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			if a.Request.Namespace == "bank" {
				sourcetest.Refuse(403)(a)
			}
		}})
		f := server.Factory(t, informer.WithNamespace("shop", "bank", "shop"), informer.WithLogger(discard))
		pods := podsOf(f, informer.WithIndexes(PodByNode))
		if podsOf(f, informer.WithNamespace("bank", "shop")) != pods {
			t.Error("For with the same namespaces in another order has returned another informer")
		}
		var j journal[*corev1.Pod]
		r := informertest.Add(t, pods, &j)
		noError(t, f.Start(t.Context()))
		// Events of one namespace do not wait for the other.
		j.Saw(t, "+blue@2 initial")
		s := pods.Status()
		if len(s.Streams) != 2 || s.Synced || r.HasSynced() || !s.Streams[1].Synced || s.Streams[0].Synced || s.ResourceVersion != "" {
			t.Errorf("Status() = %+v, want only shop synced", s)
		}
		err := pods.WaitForCacheSync(t.Context(), informer.FailOn())
		if err == nil || !strings.Contains(err.Error(), "1 of 1 informers not synced") || !strings.Contains(err.Error(), "bank") || strings.Contains(err.Error(), "shop") {
			t.Errorf("WaitForCacheSync() = %v, want an error about bank only", err)
		}
		if text := s.String(); !strings.Contains(text, "bank waiting to try again") || !strings.Contains(text, "shop watching") || strings.Contains(text, "\n") {
			t.Errorf("Status().String() = %q", text)
		}
		refuse()
		noError(t, f.WaitForCacheSync(t.Context()))
		j.Saw(t, "+vault@3 initial")
		same(t, "objects", informertest.Names(pods), []string{"bank/vault", "shop/blue"})
		same(t, "on the node", PodByNode.Len(pods.Store().Snapshot(), "node-1"), 2)
		blue := server.Move("blue", "node-2")
		noError(t, pods.AwaitObject(t.Context(), blue))
		snapshot := pods.Store().Snapshot()
		if snapshot.NamespaceResourceVersion("shop") != "5" || snapshot.ResourceVersion() != snapshot.NamespaceResourceVersion("bank") {
			t.Errorf("versions: %q, shop %q, bank %q", snapshot.ResourceVersion(), snapshot.NamespaceResourceVersion("shop"), snapshot.NamespaceResourceVersion("bank"))
		}
		thief, _ := server.Pods.Get("jail", "thief")
		err = pods.AwaitObject(t.Context(), thief)
		want(t, err, `informer pods/v1: awaiting jail/thief at resourceVersion "4": the informer does not read namespace "jail"`)
		j.Check(t, pods)
		shutdown(t, f)
	})
}
