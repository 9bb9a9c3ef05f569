// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// noContext is a nil context, which is an error.
var noContext context.Context

func want(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("got  %v\nwant %s", err, text)
	}
}

func newPods(t *testing.T, src source.Source[*corev1.Pod], opts ...informer.Option) *informer.SharedIndexInformer[*corev1.Pod] {
	t.Helper()
	pods, err := informer.New(src, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return pods
}

// start runs an informer until the test has ended.
func start[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T]) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx) }()
	synctest.Wait()
	return func() {
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("Run returned %v", err)
		}
	}
}

func TestFromSourceToHandler(t *testing.T) {
	for _, watchList := range []bool{true, false} {
		t.Run(fmt.Sprintf("watch-list %v", watchList), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newShop(pod("shop", "blue", ""))
				pods := newPods(t, server.Source(t), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}))
				var early, late journal[*corev1.Pod]
				first := informertest.Add(t, pods, &early)
				stop := start(t, pods)
				early.Saw(t, "+blue@2 initial")
				server.Move("blue", "node-1")
				server.Pods.Create(pod("shop", "green", ""))
				early.Saw(t, "~blue@2>3", "+green@4")
				second := informertest.Add(t, pods, &late)
				late.SawAll(t, "+blue@3 initial", "+green@4 initial")
				same(t, "synced", []bool{first.HasSynced(), second.HasSynced()}, []bool{true, true})
				server.Pods.Delete("shop", "blue")
				early.Saw(t, "-blue@5")
				late.Saw(t, "-blue@5")
				first.Remove()
				server.Pods.Create(pod("shop", "blue", ""))
				early.Saw(t)
				late.Saw(t, "+blue@6")
				stop()

				server.Pods.Delete("shop", "green") // while no watch is open
				server.Move("blue", "node-2")
				defer start(t, pods)()
				late.Saw(t, "-green@4 unknown", "~blue@6>8")
				late.Check(t, pods)
			})
		})
	}
}

func TestOutageIsNamedAndWaitedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		end := server.Outage()
		pods := newPods(t, server.Source(t), informer.WithName("pods"), informer.WithLogger(discard))
		var h journal[*corev1.Pod]
		informertest.Add(t, pods, &h)
		defer start(t, pods)()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("a minute is enough"))
		defer cancel()
		err := pods.WaitForCacheSync(ctx)
		if !errors.Is(err, informertest.ErrOutage) || !errors.Is(err, context.Cause(ctx)) || !strings.HasPrefix(err.Error(), "1 of 1 informers not synced after 1m0s (a minute is enough): pods is ") {
			t.Errorf("got %v", err)
		}
		if s := pods.Status(); !s.Running || s.Synced || s.Reflector.State != reflector.StateWaiting || !errors.Is(s.Reflector.LastError, informertest.ErrOutage) {
			t.Errorf("status in the outage: %+v", s)
		}
		end()
		if err := pods.WaitForCacheSync(t.Context()); err != nil {
			t.Error(err)
		}
		h.Saw(t, "+blue@2 initial")
		if s := pods.Status(); !s.Synced || s.Objects != 1 || s.ResourceVersion != "2" || s.Reflector.State != reflector.StateWatching || !s.Handlers[0].Synced {
			t.Errorf("status afterwards: %+v", s)
		}
		end = server.Outage()
		synctest.Wait()
		server.Pods.Create(pod("shop", "green", ""))
		h.Saw(t)
		end()
		pass(time.Minute)
		h.Saw(t, "+green@3")
	})
}

func TestIndexesAreAddedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "blue", "node-1"), pod("shop", "green", "node-2")).Source(t))
		stop := start(t, pods)
		if err := pods.AddIndexers(PodByNode, PodByNode); err != nil {
			t.Error(err)
		}
		if n := PodByNode.Len(pods.Store().Snapshot(), "node-1"); n != 1 {
			t.Errorf("%d pods on node-1", n)
		}
		other := store.NewIndex("ByNode", func(_ *corev1.Pod, keys []int) []int { return keys })
		want(t, pods.AddIndexers(other), `informer *v1.Pod: AddIndexers: two indexes have the name "ByNode"`)
		want(t, pods.AddIndexers(nil), `informer *v1.Pod: AddIndexers: index 1 is nil`)
		stop()
	})
}

// TestTypesOfAnyKind reads pods as the types that may be of any kind.
func TestTypesOfAnyKind(t *testing.T) {
	anyKind[*unstructured.Unstructured](t, corev1.SchemeGroupVersion.WithKind("Pod"))
	anyKind[*metav1.PartialObjectMetadata](t, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
}

func anyKind[T object.Object](t *testing.T, want schema.GroupVersionKind) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		f := server.Factory(t)
		src, err := source.New[T](server.Client(t), podResource, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := informer.New(src)
		if err != nil {
			t.Fatal(err)
		}
		defer start(t, alone)()
		shared := factories.For[T](f, podResource)
		if err := errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())); err != nil {
			t.Fatal(err)
		}
		server.Pods.Create(pod("shop", "red", ""))
		server.Pods.Delete("shop", "blue")
		rv := server.Move("red", "node-1").ResourceVersion
		synctest.Wait()
		for _, i := range []*informer.SharedIndexInformer[T]{alone, shared} {
			got, _ := i.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "red"})
			kind := got.GetObjectKind().GroupVersionKind()
			if n := i.Store().Snapshot().Len(); n != 1 || got.GetResourceVersion() != rv || kind != want {
				t.Errorf("%d objects, red is %v at %s; want 1, a %v at %s", n, kind, got.GetResourceVersion(), want, rv)
			}
		}
		if err := f.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func onAdd(*corev1.Pod, bool)                {}
func onDelete(informer.Deleted[*corev1.Pod]) {}

func TestHandlerNames(t *testing.T) {
	pods := newPods(t, newShop().Source(t))
	informertest.Add(t, pods, &journal[*corev1.Pod]{})
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: onAdd})
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{})
	informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{DeleteFunc: onDelete})
	informertest.Add(t, pods, &journal[*corev1.Pod]{}, informer.WithHandlerName("mine"))
	var names []string
	for _, h := range pods.Status().Handlers {
		names = append(names, h.Name)
	}
	const here = "github.com/informer-gen/informer-gen/runtime/informer"
	if diff := cmp.Diff([]string{"*informertest.Journal[*v1.Pod]", here + "_test.onAdd", "informer.HandlerFuncs[*v1.Pod]", here + "_test.onDelete", "mine"}, names, cmp.Transformer("generic", func(name string) string {
		return strings.ReplaceAll(name, "*k8s.io/api/core/v1.Pod", "*v1.Pod")
	})); diff != "" {
		t.Error(diff)
	}
}

func TestResyncPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "blue", "")).Source(t), informer.WithResyncPeriod(time.Minute))
		var minute, second, never journal[*corev1.Pod]
		informertest.Add(t, pods, &minute)
		// Raised to a second.
		informertest.Add(t, pods, &second, informer.WithResyncPeriod(time.Millisecond))
		informertest.Add(t, pods, &never, informer.WithResyncPeriod(0))
		stop := start(t, pods)
		pass(61 * time.Second)
		same(t, "events", []int{len(minute.Take()), len(second.Take()), len(never.Take())}, []int{2, 62, 1})
		stop()
	})
}

func TestGenericIsAViewOfTheInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newShop(pod("shop", "blue", "node-1")).Source(t))
		generic := factories.Generic(pods, corev1.Resource("pods"))
		var names []string
		informertest.Add(t, generic.Informer(), informer.HandlerFuncs[object.Object]{AddFunc: func(obj object.Object, _ bool) {
			names = append(names, obj.(*corev1.Pod).Name)
		}})
		stop := start(t, pods)
		if got, err := generic.Lister().Namespace("shop").Get("blue"); err != nil || got.GetName() != "blue" || len(names) != 1 {
			t.Errorf("got %v, %v; %v", got, err, names)
		}
		_, err := generic.Lister().Namespace("shop").Get("red")
		want(t, err, `pods "red" not found`)
		if !generic.Informer().HasSynced() {
			t.Error("not the same informer")
		}
		stop()
	})
}

// TestPanicEndsTheProcess runs itself in a child process.
func TestPanicEndsTheProcess(t *testing.T) {
	const child = "TEST_PANIC_IN_HANDLER"
	if os.Getenv(child) == "" {
		command := exec.Command(os.Args[0], "-test.run=^TestPanicEndsTheProcess$")
		command.Env = append(os.Environ(), child+"=yes")
		out, err := command.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "panic: on purpose") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	pods := newPods(t, newShop(pod("shop", "blue", "")).Source(t), informer.WithPanicOnHandlerCrash(true))
	informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { panic("on purpose") }})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Log(pods.Run(ctx))
}

// TestCancelled ends informers at random moments of their life; the bubble and goleak want every
// goroutine to be gone.
func TestCancelled(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 50 {
		synctest.Test(t, func(t *testing.T) {
			server := newShop(pod("shop", "blue", ""))
			if rng.IntN(3) == 0 {
				server.Outage()
			}
			pods := newPods(t, server.Source(t), informer.WithLogger(discard), informer.WithTuning(reflector.Tuning{DisableWatchList: rng.IntN(2) != 0}))
			informertest.Add(t, pods, informer.HandlerFuncs[*corev1.Pod]{UpdateFunc: func(_, _ *corev1.Pod) { time.Sleep(3 * time.Millisecond) }})
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Duration(rng.Int64N(int64(50*time.Millisecond))), func() { cancel(cause) })
			var writer sync.WaitGroup
			defer writer.Wait()
			writer.Go(func() {
				for ctx.Err() == nil {
					server.Move("blue", "")
					time.Sleep(time.Millisecond)
				}
			})
			if err := pods.Run(ctx); err != cause {
				t.Errorf("seed %d round %d: Run returned %v", seed, round, err)
			}
		})
	}
}
