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
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// noContext is what nobody should pass.
var noContext context.Context

// notes is a handler that notes what it is told.
type notes struct {
	mu     sync.Mutex
	events []string
	before func()
}

func (n *notes) note(format string, args ...any) {
	if n.before != nil {
		n.before()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.events = append(n.events, fmt.Sprintf(format, args...))
}

func (n *notes) OnAdd(pod *corev1.Pod, initial bool) {
	n.note("+%s@%s %v", pod.Name, pod.ResourceVersion, initial)
}
func (n *notes) OnUpdate(old, pod *corev1.Pod) {
	n.note("~%s@%s>%s", pod.Name, old.ResourceVersion, pod.ResourceVersion)
}
func (n *notes) OnDelete(d informer.Deleted[*corev1.Pod]) {
	n.note("-%s@%s %v", d.Key.Name, d.Object.ResourceVersion, d.FinalStateUnknown)
}

func (n *notes) see(t *testing.T, events ...string) {
	t.Helper()
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	if diff := cmp.Diff(events, n.events); diff != "" {
		t.Error(diff)
	}
	n.events = nil
}

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

func add[T object.Object](t *testing.T, i *informer.SharedIndexInformer[T], h informer.Handler[T], opts ...informer.HandlerOption) *informer.Registration {
	t.Helper()
	r, err := i.AddEventHandler(h, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return r
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
				server := newWorld(pod("shop", "blue", ""))
				pods := newPods(t, server, informer.WithWatchList(watchList))
				var early, late notes
				first := add(t, pods, &early)
				stop := start(t, pods)
				early.see(t, "+blue@1 true")
				server.put(pod("shop", "blue", ""))
				server.put(pod("shop", "green", ""))
				early.see(t, "~blue@1>2", "+green@3 false")
				second := add(t, pods, &late)
				synctest.Wait()
				if n := len(late.events); n != 2 || !first.HasSynced() || !second.HasSynced() {
					t.Errorf("%d initial events, synced %v and %v", n, first.HasSynced(), second.HasSynced())
				}
				late.events = nil
				server.remove("shop", "blue")
				early.see(t, "-blue@4 false")
				late.see(t, "-blue@4 false")
				first.Remove()
				server.put(pod("shop", "blue", ""))
				early.see(t)
				late.see(t, "+blue@5 false")
				stop()

				server.remove("shop", "green") // while nobody looks
				server.put(pod("shop", "blue", ""))
				defer start(t, pods)()
				late.see(t, "-green@3 true", "~blue@5>7")
			})
		})
	}
}

func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld(pod("shop", "blue", ""))
		server.fail(errOutage)
		pods := newPods(t, server, informer.WithName("pods"))
		var h notes
		add(t, pods, &h)
		defer start(t, pods)()
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("a minute is enough"))
		defer cancel()
		err := pods.WaitForCacheSync(ctx)
		if !errors.Is(err, errOutage) || !errors.Is(err, context.Cause(ctx)) || !strings.HasPrefix(err.Error(), "1 of 1 informers not synced after 1m0s (a minute is enough): pods is ") {
			t.Errorf("got %v", err)
		}
		if s := pods.Status(); !s.Running || s.Synced || s.Reflector.State != reflector.StateWaiting || !errors.Is(s.Reflector.LastError, errOutage) {
			t.Errorf("status in the outage: %+v", s)
		}
		server.fail(nil)
		if err := pods.WaitForCacheSync(t.Context()); err != nil {
			t.Error(err)
		}
		h.see(t, "+blue@1 true")
		if s := pods.Status(); !s.Synced || s.Objects != 1 || s.ResourceVersion != "1" || s.Reflector.State != reflector.StateWatching || !s.Handlers[0].Synced {
			t.Errorf("status afterwards: %+v", s)
		}
		server.fail(errOutage)
		server.put(pod("shop", "green", ""))
		synctest.Wait()
		server.fail(nil)
		time.Sleep(time.Minute)
		h.see(t, "+green@2 false")
	})
}

func TestIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newWorld(pod("shop", "blue", "node-1"), pod("shop", "green", "node-2")))
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

// TestWrongOptions has every wrong argument of New and AddEventHandler.
func TestWrongOptions(t *testing.T) {
	server := newWorld()
	for _, test := range []struct {
		opts []informer.Option
		want string
	}{
		{[]informer.Option{nil}, "option 1 is nil"},
		{[]informer.Option{informer.WithNamespace("x")}, "WithNamespace: not an option of New; use it with NewFactory or For"},
		{[]informer.Option{informer.WithClusterScope()}, "WithClusterScope: not an option of New; use it with For"},
		{[]informer.Option{informer.WithLabelSelector(labels.Everything())}, "WithLabelSelector: not an option of New; use it with NewFactory or For"},
		{[]informer.Option{informer.WithFieldSelector(fields.Everything())}, "WithFieldSelector: not an option of New; use it with NewFactory or For"},
		{[]informer.Option{informer.WithPageSize(-1)}, "WithPageSize: -1 objects; want 0 or more"},
		{[]informer.Option{informer.WithName("")}, "WithName: the name is empty"},
		{[]informer.Option{informer.WithResyncPeriod(-time.Second)}, "WithResyncPeriod: -1s; want 0 or more"},
		{[]informer.Option{informer.WithBacklogThreshold(-2)}, "WithBacklogThreshold: -2 events; want 0 or more, or Never"},
		{[]informer.Option{informer.WithIndexes[object.Object]()}, "WithIndexes: indexes of object.Object given to an informer of *v1.Pod"},
		{[]informer.Option{informer.WithIndexes[*corev1.Pod](nil)}, "index 1 is nil"},
		{[]informer.Option{nil, informer.WithPageSize(-1)}, "option 1 is nil\nWithPageSize: -1 objects; want 0 or more"},
	} {
		_, err := informer.New(server, test.opts...)
		want(t, err, "informer.New: "+test.want)
	}
	_, err := informer.New[*corev1.Pod](nil)
	want(t, err, "informer.New: the source is nil")
	_, err = informer.New((*source.HTTP[*corev1.Pod])(nil)) // what a source.New that failed has returned
	want(t, err, "informer.New: the source is nil")

	pods := newPods(t, server, informer.WithName("pods"))
	for _, test := range []struct {
		opt  informer.HandlerOption
		want string
	}{
		{nil, "option 1 is nil"},
		{informer.WithHandlerName(""), "WithHandlerName: the name is empty"},
		{informer.WithResyncPeriod(-time.Second), "WithResyncPeriod: -1s; want 0 or more"},
		{informer.WithBacklogThreshold(-2), "WithBacklogThreshold: -2 events; want 0 or more, or Never"},
	} {
		_, err := pods.AddEventHandler(&notes{}, test.opt)
		want(t, err, "informer pods: AddEventHandler: "+test.want)
	}
	_, err = pods.AddEventHandler(nil)
	want(t, err, "informer pods: AddEventHandler: the handler is nil")
	_, err = pods.AddEventHandler((*informer.HandlerFuncs[*corev1.Pod])(nil))
	want(t, err, "informer pods: AddEventHandler: the handler is nil")
	if err := pods.Run(noContext); err == nil {
		t.Error("Run with a nil context")
	}
	if n := len(pods.Status().Handlers); n != 0 {
		t.Errorf("%d handlers", n)
	}
}

// TestTypesOfAnyKind reads pods as the types that stand for any kind.
func TestTypesOfAnyKind(t *testing.T) {
	anyKind[*unstructured.Unstructured](t, corev1.SchemeGroupVersion.WithKind("Pod"))
	anyKind[*metav1.PartialObjectMetadata](t, metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata"))
}

func anyKind[T object.Object](t *testing.T, want schema.GroupVersionKind) {
	synctest.Test(t, func(t *testing.T) {
		server := newWorld(pod("shop", "blue", ""))
		f := informer.NewFactory(server.client(t))
		src, err := source.New[T](server.client(t), podResource, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		alone, err := informer.New(src)
		if err != nil {
			t.Fatal(err)
		}
		defer start(t, alone)()
		shared := informer.For[T](f, podResource)
		if err := errors.Join(f.Start(t.Context()), f.WaitForCacheSync(t.Context())); err != nil {
			t.Fatal(err)
		}
		server.put(pod("shop", "red", ""))
		server.remove("shop", "blue")
		rv := server.put(pod("shop", "red", "node-1"))
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

func onAdd(*corev1.Pod, bool) {}

func TestHandlerNames(t *testing.T) {
	pods := newPods(t, newWorld())
	add(t, pods, &notes{})
	add(t, pods, informer.HandlerFuncs[*corev1.Pod]{AddFunc: onAdd})
	add(t, pods, informer.HandlerFuncs[*corev1.Pod]{})
	add(t, pods, &notes{}, informer.WithHandlerName("mine"))
	var names []string
	for _, h := range pods.Status().Handlers {
		names = append(names, h.Name)
	}
	const here = "github.com/informer-gen/informer-gen/runtime/informer"
	if diff := cmp.Diff([]string{"*informer_test.notes", here + "_test.onAdd", "informer.HandlerFuncs[*v1.Pod]", "mine"}, names, cmp.Transformer("generic", func(name string) string {
		return strings.ReplaceAll(name, "*k8s.io/api/core/v1.Pod", "*v1.Pod")
	})); diff != "" {
		t.Error(diff)
	}
}

func TestResyncPeriods(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newWorld(pod("shop", "blue", "")), informer.WithResyncPeriod(time.Minute))
		var minute, second, never notes
		add(t, pods, &minute)
		add(t, pods, &second, informer.WithResyncPeriod(time.Millisecond)) // raised to a second
		add(t, pods, &never, informer.WithResyncPeriod(0))
		stop := start(t, pods)
		time.Sleep(61 * time.Second)
		synctest.Wait()
		if len(minute.events) != 2 || len(second.events) != 62 || len(never.events) != 1 {
			t.Errorf("%d, %d and %d events", len(minute.events), len(second.events), len(never.events))
		}
		stop()
	})
}

func TestGeneric(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pods := newPods(t, newWorld(pod("shop", "blue", "node-1")))
		generic := informer.Generic(pods, corev1.Resource("pods"))
		var names []string
		add(t, generic.Informer(), informer.HandlerFuncs[object.Object]{AddFunc: func(obj object.Object, _ bool) {
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
	pods := newPods(t, newWorld(pod("shop", "blue", "")), informer.WithPanicOnHandlerCrash(true))
	add(t, pods, &notes{before: func() { panic("on purpose") }})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	t.Log(pods.Run(ctx))
}

// TestCancelled ends informers at random moments of their life; the bubble and goleak want every goroutine to be gone.
func TestCancelled(t *testing.T) {
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	for round := range 50 {
		synctest.Test(t, func(t *testing.T) {
			server := newWorld(pod("shop", "blue", ""))
			if rng.IntN(3) == 0 {
				server.fail(errOutage)
			}
			pods := newPods(t, server, informer.WithWatchList(rng.IntN(2) == 0))
			add(t, pods, informer.HandlerFuncs[*corev1.Pod]{UpdateFunc: func(_, _ *corev1.Pod) { time.Sleep(3 * time.Millisecond) }})
			cause := errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Duration(rng.Int64N(int64(50*time.Millisecond))), func() { cancel(cause) })
			var writer sync.WaitGroup
			defer writer.Wait()
			writer.Go(func() {
				for ctx.Err() == nil {
					server.put(pod("shop", "blue", ""))
					time.Sleep(time.Millisecond)
				}
			})
			if err := pods.Run(ctx); err != cause {
				t.Errorf("seed %d round %d: Run returned %v", seed, round, err)
			}
		})
	}
}
