// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// inNamespace injects a fault into all requests for a namespace.
func inNamespace(server *shop, namespace string, do func(*sourcetest.Answer)) (end func()) {
	return server.Inject(sourcetest.Fault{
		Match: func(r sourcetest.Request) bool { return r.Namespace == namespace }, Times: sourcetest.Always, Do: do,
	})
}

func namespacesOf(s informer.Status) string {
	var all []string
	for _, stream := range s.Streams {
		all = append(all, stream.Namespace)
	}
	return strings.Join(all, " ")
}

// TestNamespacesAreAddedAndRemoved adds a namespace to a running informer, removes it, and adds it
// again.
func TestNamespacesAreAddedAndRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("north", "a", ""), pod("south", "b", ""), pod("west", "c", ""))
		f := server.Factory(t, informer.WithNamespace("north"), informer.WithLogger(discard))
		pods := podsOf(f, informer.WithIndexes(ByLabel))
		var j journal[*corev1.Pod]
		registration := informertest.Add(t, pods, &j)
		informertest.Run(t, f)
		j.Saw(t, "+a@2 initial")

		add := func() {
			t.Helper()
			noError(t, errors.Join(pods.AddNamespace("south"), pods.WaitForCacheSync(t.Context())))
			same(t, "namespaces", namespacesOf(pods.Status()), "north south")
		}
		add()
		j.Saw(t, "+b@3")
		server.Pods.Update(pod("south", "b", "1"))
		j.Saw(t, "~b@3>5")
		j.Check(t, pods)

		noError(t, pods.RemoveNamespace(t.Context(), "south"))
		requests := len(server.Requests())
		same(t, "objects", informertest.Names(pods), []string{"north/a"})
		j.Saw(t, "-b@5 unknown")
		server.EndWatches()
		server.Outage()()
		server.Pods.Update(pod("south", "b", "2"))
		pass(time.Minute)
		for _, r := range server.Requests()[requests:] {
			if r.Namespace != "north" {
				t.Errorf("request after RemoveNamespace: %v", r)
			}
		}
		j.Saw(t)

		add()
		j.Saw(t, "+b@6")
		j.Check(t, pods)
		if !registration.HasSynced() || !pods.HasSynced() {
			t.Error("the informer and its handler are no longer synced")
		}
		shutdown(t, f)
	})
}

// TestAddedNamespaceThatFails adds a namespace that the server forbids. WaitForCacheSync, Status
// and reads of the namespace return the reason, other namespaces work, and the removal of the
// namespace ends the errors.
func TestAddedNamespaceThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("north", "a", ""), pod("south", "b", ""))
		f := server.Factory(t, informer.WithNamespace("north"), informer.WithLogger(discard))
		pods := podsOf(f)
		informertest.Run(t, f)
		end := inNamespace(server, "south", sourcetest.Refuse(403))
		noError(t, pods.AddNamespace("south"))
		for what, wait := range map[string]func() error{
			"pods":    func() error { return pods.WaitForCacheSync(t.Context(), informer.FailOn()) },
			"factory": func() error { return f.WaitForCacheSync(t.Context(), informer.FailOn()) },
		} {
			if err := wait(); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "pods/v1 in south is") {
				t.Errorf("WaitForCacheSync of the %s: %v", what, err)
			}
		}
		if !pods.HasSynced() {
			t.Error("the informer is no longer synced")
		}
		south, north := podLister(pods).Namespace("south"), podLister(pods).Namespace("north")
		if _, err := south.Get("b"); !errors.Is(err, informer.ErrNotSynced) || !strings.Contains(err.Error(), "in south") || strings.Contains(err.Error(), "in north") {
			t.Errorf("Get in an unsynced namespace: %v", err)
		}
		if _, err := north.Get("b"); !apierrors.IsNotFound(err) {
			t.Errorf("Get in a synced namespace: %v", err)
		}
		if s := pods.Status(); s.Reflector.Reason.String() != "forbidden" || s.ResourceVersion != "" {
			t.Errorf("Status() = %v, want forbidden, without a resourceVersion", s)
		}
		noError(t, pods.RemoveNamespace(t.Context(), "south"))
		noError(t, pods.WaitForCacheSync(t.Context()))
		if _, err := south.Get("b"); !apierrors.IsNotFound(err) {
			t.Errorf("Get in a removed namespace: %v", err)
		}

		// Added again, the namespace syncs once the server allows it.
		noError(t, pods.AddNamespace("south"))
		pass(time.Minute)
		end()
		noError(t, pods.WaitForCacheSync(t.Context()))
		if _, err := south.Get("b"); err != nil {
			t.Error(err)
		}
		shutdown(t, f)
	})
}

// TestWrongNamespaces uses AddNamespace and RemoveNamespace wrongly in every way.
func TestWrongNamespaces(t *testing.T) {
	server := newShop()
	f := server.Factory(t)
	some := podsOf(f, informer.WithNamespace("north"), informer.WithName("some"))
	all := podsOf(f, informer.WithName("all"))
	own := newPods(t, server.Source(t), informer.WithName("own"))
	const none = "the informer was not made for a list of namespaces; make it with NewIn, or with WithNamespace in a factory"
	ctx := t.Context()
	want(t, some.AddNamespace(""), `informer some: AddNamespace: "" means all namespaces, so it can't be added to others`)
	if err := some.AddNamespace("a/b"); err == nil || !strings.HasPrefix(err.Error(), "informer some: AddNamespace: ") {
		t.Error(err)
	}
	want(t, all.AddNamespace("north"), "informer all: AddNamespace: "+none)
	want(t, own.AddNamespace("north"), "informer own: AddNamespace: "+none)
	want(t, all.RemoveNamespace(ctx, "north"), "informer all: RemoveNamespace: "+none)
	want(t, own.RemoveNamespace(ctx, "north"), "informer own: RemoveNamespace: "+none)
	want(t, some.RemoveNamespace(noContext, "north"), "informer some: RemoveNamespace: the context is nil")
	noError(t, errors.Join(some.AddNamespace("north"), some.RemoveNamespace(ctx, "south"), some.RemoveNamespace(ctx, "north")))
	same(t, "status", some.Status().String(), "some: not running; not synced")
	broken := podsOf(f, informer.WithNamespace())
	if err := broken.AddNamespace("north"); err == nil || broken.RemoveNamespace(ctx, "north") == nil {
		t.Error("AddNamespace or RemoveNamespace of a broken informer returned nil")
	}
}

// TestInformerWithoutNamespaces shows that an informer works after the removal of its last
// namespace.
func TestInformerWithoutNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("north", "a", ""))
		f := server.Factory(t, informer.WithNamespace("north"))
		pods := podsOf(f)
		noError(t, pods.RemoveNamespace(t.Context(), "north"))
		informertest.Run(t, f)
		same(t, "status", pods.Status().String(), "pods/v1: no namespaces; synced, 0 objects at resourceVersion ")
		noError(t, errors.Join(pods.AddNamespace("north"), pods.WaitForCacheSync(t.Context())))
		if _, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "north", Name: "a"}); !ok {
			t.Error("the store lacks north/a")
		}
		shutdown(t, f)
	})
}
