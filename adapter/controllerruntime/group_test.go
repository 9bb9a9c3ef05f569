// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	clientcache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// TestCheckerOfAnEndedCache: what had synced before the end is done, also for a checker whose Done
// was not called before.
func TestCheckerOfAnEndedCache(t *testing.T) {
	closed := make(chan struct{})
	close(closed)
	c := newUnanswered(t, cache.Options{})
	if !c.begin(t.Context()) {
		t.Fatal("not begun")
	}
	c.end()
	synced := newAllDone(goroutines{run: c.spawn, stop: closed})
	synced.checkers = []clientcache.DoneChecker{stubHandler{done: closed}, stubHandler{done: closed}}
	if !clientcache.IsDone(synced) {
		t.Error("not done")
	}
}

// TestRemovedNamespaceIsForgotten: kinds keep nothing of namespaces that come and go.
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
	if names := *k.parts.names.Load(); len(names) != 1 || !names["one"] {
		t.Errorf("the kind has the namespaces %v", names)
	}
}
