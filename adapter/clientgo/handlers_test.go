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

// TestSameHandlerTwice: each registration is one of its own.
func TestSameHandlerTwice(t *testing.T) {
	onEach(t, func(w *world) {
		j := w.add()
		again, err := w.informer.AddEventHandler(j)
		if err != nil || again == j.handle {
			w.Fatalf("the second registration is %v, %v", again, err)
		}
		w.run()
		w.create("a")
		w.saw(j, "add a", "add a")
		w.ok(w.informer.RemoveEventHandler(again))
		w.create("b")
		w.saw(j, "add b")
	})
}

// TestFilteringHandler: an object that becomes acceptable is an addition that is not initial.
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
		w.saw(j, "add a initial")
		w.pods.Update(pod("b", on("n1")))
		w.pods.Update(pod("a", on("n2")))
		w.saw(j, "add b", "delete a")
	})
}

// TestBacklogOfASlowHandler: client-go keeps every event. Here the events of one key are merged
// once more than 1,024 wait, but each object that vanished is reported. Another handler is not held
// up.
func TestBacklogOfASlowHandler(t *testing.T) {
	onEach(t, func(w *world) {
		hold := make(chan struct{})
		j, other := w.addHeld(func() { <-hold }), w.add()
		w.run()
		w.create("first")
		synctest.Wait() // the handler is in its callback
		const rounds = 500
		for range rounds {
			w.create("brief")
			w.pods.Update(pod("brief", on("n1")))
			w.pods.Delete("shop", "brief")
		}
		time.Sleep(time.Minute)
		if got := other.take(); len(got) <= rounds {
			w.Errorf("the other handler got %d events", len(got))
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
			w.Errorf("%d deletions of %d", deletions, rounds)
		}
		if all := 1 + 3*rounds; w.ours == (len(got) == all) {
			w.Errorf("%d events of %d", len(got), all)
		}
	})
}

// TestPanicOfAHandler: utilruntime.PanicHandlers see it, with the logger of the handler, and
// utilruntime.ReallyCrash decides then whether the process ends. If not, the next callback begins a
// second later.
func TestPanicOfAHandler(t *testing.T) {
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
		synctest.Wait() // orders what follows after the callbacks
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

// TestResyncOfOneHandler: a handler has its period even if its informer has none.
func TestResyncOfOneHandler(t *testing.T) {
	onEach(t, func(w *world) {
		w.create("a")
		j := &journal{}
		if _, err := w.informer.AddEventHandlerWithResyncPeriod(j, time.Minute); err != nil {
			w.Fatal(err)
		}
		w.run()
		w.saw(j, "add a initial")
		time.Sleep(90 * time.Second)
		if w.ours {
			w.saw(j, "same a")
		} else {
			w.saw(j)
		}
	})
}

// TestHandlerLogger: what is logged about a handler goes to the logger of its options.
func TestHandlerLogger(t *testing.T) {
	onEach(t, func(w *world) {
		if !w.ours {
			w.Skip("client-go logs other things about a handler")
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
			w.Errorf("logged %q", lines)
		}
	})
}

// TestNew: an informer of Go types as client-go's.
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
		w.saw(j, "add a initial")
		w.has("a")
		if name := checkerOf(t, w.informer).Name(); name != "SharedIndexInformer *v1.Pod" {
			t.Errorf("the checker has the name %q", name)
		}
	})
}

// TestClusterScoped: objects without a namespace are those of the namespace "".
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
			w.Errorf("the namespaces are %q", values)
		}
		if _, ok, err := indexer.GetByKey("n1"); !ok || err != nil {
			w.Errorf("n1: %v, %v", ok, err)
		}
	})
}
