// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/informer-gen/informer-gen/adapter/controllerruntime"
	"github.com/informer-gen/informer-gen/test/internal/poll"
)

// typeOf is the type of ConfigMaps in a view.
var typeOf = map[view]string{
	typed:        "*v1.ConfigMap",
	untyped:      "*unstructured.Unstructured",
	metadataOnly: "*v1.PartialObjectMetadata",
}

// TestEvents: a handler gets the present objects and each change, and nothing after its removal; in
// every view, with one namespace and with several.
func TestEvents(t *testing.T) {
	for _, namespaces := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("%d namespaces", namespaces), func(t *testing.T) {
			bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
				for _, v := range views {
					t.Run(string(v), func(t *testing.T) { testEvents(t, newCache, v, namespaces) })
				}
			})
		})
	}
}

func testEvents(t *testing.T, newCache cache.NewCacheFunc, v view, namespaces int) {
	writer := newWriter(t)
	names := []string{newNamespace(t, writer), newNamespace(t, writer)}
	write := func(f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	configMap := func(i int, name string) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: names[i], Name: name, Labels: map[string]string{"v": "1"}}}
	}
	first, second := configMap(0, "first"), configMap(1, "second")
	write(func() error { return writer.Create(t.Context(), first) })
	write(func() error { return writer.Create(t.Context(), second) })

	// Without namespaces, a selector keeps out the objects of other tests.
	opts := cache.Options{}
	switch namespaces {
	case 0:
		opts.DefaultFieldSelector = field("metadata.namespace=" + names[0])
	case 1:
		opts.DefaultNamespaces = map[string]cache.Config{names[0]: {}}
	case 2:
		opts.DefaultNamespaces = map[string]cache.Config{names[0]: {}, names[1]: {}}
	}
	c := newUnstarted(t, newCache, opts)
	i, err := c.GetInformer(t.Context(), v.object("ConfigMap"))
	if err != nil {
		t.Fatal(err)
	}
	early := &recorder{}
	handle, err := i.AddEventHandler(early)
	if err != nil {
		t.Fatal(err)
	}
	if handle.HasSynced() || clientcache.IsDone(i.HasSyncedChecker()) {
		t.Error("HasSynced() = true before the start")
	}
	run(t, c)
	for what, checker := range map[string]clientcache.DoneChecker{"informer": i.HasSyncedChecker(), "handler": handle.HasSyncedChecker()} {
		select {
		case <-checker.Done():
		case <-within(t, poll.Patience).Done():
			t.Fatalf("the %s has not synced", what)
		}
		if checker.Name() == "" {
			t.Errorf("the checker of the %s has no name", what)
		}
	}
	if !handle.HasSynced() || !i.HasSynced() {
		t.Error("the checkers are done before the sync")
	}
	want := []string{"add " + typeOf[v] + " first initial true"}
	if namespaces == 2 {
		want = append(want, "add "+typeOf[v]+" second initial true")
	}
	early.has(t, want...)

	third := configMap(0, "third")
	write(func() error { return writer.Create(t.Context(), third) })
	third.Labels["v"] = "2"
	write(func() error { return writer.Update(t.Context(), third) })
	write(func() error { return writer.Delete(t.Context(), first) })
	want = append(want, "add "+typeOf[v]+" third initial false", "update third map[v:1] to map[v:2]", "delete "+typeOf[v]+" first")
	early.has(t, want...)

	late := &recorder{}
	period := time.Hour
	lateHandle, err := i.AddEventHandlerWithOptions(late, clientcache.HandlerOptions{ResyncPeriod: &period})
	if err != nil {
		t.Fatal(err)
	}
	wantLate := []string{"add " + typeOf[v] + " third initial true"}
	if namespaces == 2 {
		wantLate = append(wantLate, "add "+typeOf[v]+" second initial true")
	}
	late.has(t, wantLate...)
	if !clientcache.WaitForCacheSync(within(t, poll.Patience).Done(), lateHandle.HasSynced) {
		t.Error("the late handler has not synced")
	}
	if err := i.RemoveEventHandler(lateHandle); err != nil {
		t.Error(err)
	}
	if err := i.RemoveEventHandler(lateHandle); err != nil {
		t.Errorf("a second RemoveEventHandler: %v", err)
	}
	write(func() error { return writer.Delete(t.Context(), third) })
	early.has(t, append(want, "delete "+typeOf[v]+" third")...)
	late.has(t, wantLate...)
}

// TestResync: a handler with a short resync period gets its objects again.
func TestResync(t *testing.T) {
	bothEngines(t, func(t *testing.T, newCache cache.NewCacheFunc) {
		c := newUnstarted(t, newCache, cache.Options{})
		i, err := c.GetInformer(t.Context(), &corev1.Node{})
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		if _, err := i.AddEventHandlerWithResyncPeriod(r, time.Second); err != nil {
			t.Fatal(err)
		}
		run(t, c)
		poll.Until(t, func() error {
			if calls := r.sorted(); len(calls) < 4 {
				return fmt.Errorf("no resync: %q", calls)
			}
			return nil
		})
	})
}

// newWriter returns a client of the shared server without a cache.
func newWriter(t *testing.T) client.Client {
	t.Helper()
	return newClientOf(t, server)
}

// newNamespace creates a namespace, which is deleted when the test ends.
func newNamespace(t *testing.T, c client.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), ns); err != nil {
			t.Error(err)
		}
	})
	return ns.Name
}

// TestPanickingHandler: our cache goes on with the next event. Theirs ends the process.
func TestPanickingHandler(t *testing.T) {
	c := start(t, controllerruntime.NewCache, cache.Options{})
	i, err := c.GetInformer(t.Context(), &corev1.Pod{})
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int64
	if _, err := i.AddEventHandler(clientcache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		calls.Add(1)
		panic("on purpose")
	}}); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, func() error {
		if n := calls.Load(); n != 5 {
			return fmt.Errorf("the handler was called %d times, want 5, once for each Pod", n)
		}
		return nil
	})
}
