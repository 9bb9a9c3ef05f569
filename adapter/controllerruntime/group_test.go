// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	goruntime "runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/informer-gen/informer-gen/adapter/internal/checker"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestCheckerOfStoppedCache: the checker is done if the informers synced before the end.
func TestCheckerOfStoppedCache(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	for _, test := range []struct {
		synced []<-chan struct{}
		want   bool
	}{
		{[]<-chan struct{}{closed, closed}, true},
		{[]<-chan struct{}{closed, make(chan struct{})}, false},
	} {
		c := checker.New("pods")
		doneAfter(test.synced, closed, c)
		if c.HasSynced() != test.want {
			t.Errorf("HasSynced() = %v, want %v", c.HasSynced(), test.want)
		}
	}
}

// TestGroupSyncs: handlers added before and after the start get the objects of all namespaces and
// then sync. No goroutine runs before the start.
func TestGroupSyncs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := sourcetest.New()
		pods := sourcetest.Serve[*corev1.Pod](server, corev1.SchemeGroupVersion.WithResource("pods"), "Pod")
		for _, namespace := range []string{"one", "two"} {
			pods.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}})
		}
		c := newOf(t, server, cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}, cache.AllNamespaces: {}}})
		informer, err := c.GetInformer(t.Context(), &corev1.Pod{})
		if err != nil {
			t.Fatal(err)
		}
		var added atomic.Int64
		handler := clientcache.ResourceEventHandlerFuncs{AddFunc: func(any) { added.Add(1) }}
		add := func() *groupRegistration {
			handle, err := informer.AddEventHandler(handler)
			if err != nil {
				t.Fatal(err)
			}
			return handle.(*groupRegistration)
		}
		before := goruntime.NumGoroutine()
		handles := []*groupRegistration{add()}
		if n := goruntime.NumGoroutine(); n > before {
			t.Errorf("%d goroutines after AddEventHandler, %d before", n, before)
		}
		if informer.HasSynced() || handles[0].HasSynced() {
			t.Error("HasSynced() = true before the start")
		}
		start(t.Context(), t, c)
		synctest.Wait()
		handles = append(handles, add())
		synctest.Wait()
		if n := added.Load(); n != 4 {
			t.Errorf("the handlers got %d Pods, want 4", n)
		}
		if !informer.HasSynced() || !informer.(*group).Checker.HasSynced() {
			t.Error("HasSynced() = false")
		}
		for i, handle := range handles {
			if !handle.HasSynced() || !handle.Checker.HasSynced() {
				t.Errorf("handler %d has not synced", i)
			}
		}
	})
}

// TestRemovedNamespaceIsForgotten: kinds keep no state of removed namespaces.
func TestRemovedNamespaceIsForgotten(t *testing.T) {
	c := newUnanswered(t, cache.Options{DefaultNamespaces: map[string]cache.Config{"one": {}}})
	k, err := c.kindFor(kindKey{corev1.SchemeGroupVersion.WithKind("Pod"), typed})
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"two", "three"} {
		if err := c.AddNamespace(namespace); err != nil {
			t.Fatal(err)
		}
		if err := c.RemoveNamespace(t.Context(), namespace); err != nil {
			t.Fatal(err)
		}
	}
	if names := *k.informerSet.names.Load(); len(names) != 1 || !names["one"] {
		t.Errorf("the kind still has the namespaces %v", names)
	}
}
