// SPDX-License-Identifier: Apache-2.0

package clientgo_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/adapter/clientgo"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestSameHandlerTwice: one handler has two independent registrations.
func TestSameHandlerTwice(t *testing.T) {
	onEach(t, func(w *world) {
		j := w.add()
		again, err := w.informer.AddEventHandler(j)
		if err != nil || again == j.handle {
			w.Fatalf("the second AddEventHandler of the same handler = %v, %v", again, err)
		}
		w.run()
		w.create("a")
		w.wantLines(j, "add a", "add a")
		w.ok(w.informer.RemoveEventHandler(again))
		w.create("b")
		w.wantLines(j, "add b")
	})
}

// TestFilteringHandler: an object that starts to match the filter is an add, and not initial.
func TestFilteringHandler(t *testing.T) {
	onEach(t, func(w *world) {
		j := &journal{}
		w.handle(cache.FilteringResourceEventHandler{
			FilterFunc: func(obj any) bool {
				p, ok := obj.(*corev1.Pod)
				return ok && p.Spec.NodeName == "n1"
			},
			Handler: j,
		})
		w.create("a", on("n1"))
		w.create("b", on("n2"))
		w.run()
		w.wantLines(j, "add a initial")
		w.pods.Update(pod("b", on("n1")))
		w.pods.Update(pod("a", on("n2")))
		w.wantLines(j, "add b", "delete a")
	})
}

// TestSlowHandlerBacklog: client-go keeps every event. Ours merges the events of a key once more
// than 1,024 wait, but reports each deleted object. Other handlers are not delayed.
func TestSlowHandlerBacklog(t *testing.T) {
	onEach(t, func(w *world) {
		hold := make(chan struct{})
		j, other := w.addHeld(func() { <-hold }), w.add()
		w.run()
		w.create("first")
		synctest.Wait() // the handler is now in its callback
		const rounds = 500
		for range rounds {
			w.create("brief")
			w.pods.Update(pod("brief", on("n1")))
			w.pods.Delete("shop", "brief")
		}
		time.Sleep(time.Minute)
		if got := other.take(); len(got) <= rounds {
			w.Errorf("the other handler got %d events, want more than %d", len(got), rounds)
		}
		close(hold)
		got := j.take()
		deletions := 0
		for _, line := range got {
			if line == "delete brief" || strings.HasPrefix(line, "lost shop/brief brief ") {
				deletions++
			}
		}
		if deletions != rounds {
			w.Errorf("the handler got %d deletions, want %d", deletions, rounds)
		}
		if all := 1 + 3*rounds; w.ours == (len(got) == all) {
			w.Errorf("the handler got %d of %d events", len(got), all)
		}
	})
}

// TestHandlerPanics: utilruntime.PanicHandlers get the panic, with the handler's logger. Then
// utilruntime.ReallyCrash decides whether the process ends. If not, the next callback begins a
// second later.
func TestHandlerPanics(t *testing.T) {
	reallyCrash, handlers := utilruntime.ReallyCrash, utilruntime.PanicHandlers
	defer func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = reallyCrash, handlers }()
	onEach(t, func(w *world) {
		var seen atomic.Int64
		var lines []string
		var times []time.Duration
		begin := time.Now()
		fail := func(why string) {
			times = append(times, time.Since(begin))
			panic(why)
		}
		logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		utilruntime.ReallyCrash = false
		utilruntime.PanicHandlers = []func(context.Context, any){func(ctx context.Context, _ any) {
			seen.Add(1)
			klog.FromContext(ctx).Info("a panic")
		}}
		if _, err := w.informer.AddEventHandlerWithOptions(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { fail("add") },
			UpdateFunc: func(_, _ any) { fail("update") },
			DeleteFunc: func(any) { fail("delete") },
		}, cache.HandlerOptions{Logger: &logger}); err != nil {
			w.Fatal(err)
		}
		w.create("a")
		w.run()
		w.pods.Update(pod("a", on("n1")))
		w.pods.Delete("shop", "a")
		time.Sleep(time.Minute)
		synctest.Wait() // orders the checks after the callbacks
		if n := seen.Load(); n != 3 {
			w.Errorf("the panic handler was called %d times, want 3", n)
		}
		if want := []time.Duration{0, time.Second, 2 * time.Second}; !slices.Equal(times, want) {
			w.Errorf("callbacks at %v, want %v", times, want)
		}
		if len(lines) != 3 || !strings.Contains(lines[0], "a panic") {
			w.Errorf("the handler's logger got %q", lines)
		}
	})
}

// TestResyncOfOneHandler: a handler has its own resync period even if its informer has none.
func TestResyncOfOneHandler(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		j := &journal{}
		if _, err := w.informer.AddEventHandlerWithResyncPeriod(j, time.Minute); err != nil {
			w.Fatal(err)
		}
		w.run()
		w.wantLines(j, "add a initial")
		time.Sleep(90 * time.Second)
		if w.ours {
			w.wantLines(j, "same a")
		} else {
			w.wantLines(j)
		}
	})
}

// TestHandlerLogger: log messages about a handler go to the logger of its options.
func TestHandlerLogger(t *testing.T) {
	onEach(t, func(w *world) {
		if !w.ours {
			w.Skip("client-go logs other messages about a handler")
		}
		var lines []string
		logger := funcr.New(func(_, args string) { lines = append(lines, args) }, funcr.Options{})
		hold := make(chan struct{})
		if _, err := w.informer.AddEventHandlerWithOptions(&journal{before: func() { <-hold }}, cache.HandlerOptions{Logger: &logger}); err != nil {
			w.Fatal(err)
		}
		w.create("a")
		w.run()
		time.Sleep(40 * time.Second)
		close(hold)
		synctest.Wait()
		if !slices.ContainsFunc(lines, func(line string) bool {
			return strings.Contains(line, "has not returned") && strings.Contains(line, "journal")
		}) {
			w.Errorf("the handler's logger got %q", lines)
		}
	})
}

// TestNew: New makes a client-go informer of one of ours.
func TestNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newServer(t)
		client, err := source.NewClient(w.server.Config())
		if err != nil {
			t.Fatal(err)
		}
		src, err := source.New[*corev1.Pod](client, podResource, source.Options{})
		if err != nil {
			t.Fatal(err)
		}
		typed, err := informer.New(src)
		if err != nil {
			t.Fatal(err)
		}
		w.informer = clientgo.New(typed)
		if err := w.informer.SetTransform(func(obj any) (any, error) {
			obj.(*corev1.Pod).ManagedFields = nil
			return obj, nil
		}); err != nil {
			t.Error(err)
		}
		j := w.add()
		w.create("a")
		w.run()
		w.wantLines(j, "add a initial")
		w.wantNames("a")
		if name := checkerOf(t, w.informer).Name(); name != "SharedIndexInformer *v1.Pod" {
			t.Errorf("the name of the checker is %q", name)
		}
	})
}

// TestClusterScoped: objects without a namespace are in the namespace "".
func TestClusterScoped(t *testing.T) {
	onEach(t, func(w *world) {
		indexer := w.informer.GetIndexer()
		for _, obj := range []any{&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}}, pod("a")} {
			if err := indexer.Add(obj); err != nil {
				w.Fatal(err)
			}
		}
		found, err := indexer.ByIndex(cache.NamespaceIndex, "")
		if err != nil || len(found) != 1 || nameIn(found[0]) != "n1" {
			w.Errorf("found %v, %v", found, err)
		}
		values := indexer.ListIndexFuncValues(cache.NamespaceIndex)
		if slices.Sort(values); !slices.Equal(values, []string{"", "shop"}) {
			w.Errorf("the index has the namespaces %q", values)
		}
		if _, ok, err := indexer.GetByKey("n1"); !ok || err != nil {
			w.Errorf("GetByKey(n1): found %v, error %v", ok, err)
		}
	})
}
