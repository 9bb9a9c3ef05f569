// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// TestInformersShareTheNamespaces: the informers of a factory with one selector share one stream of
// Namespaces, which asks for metadata and runs while one of them does.
func TestInformersShareTheNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north", pod("north", "a", ""))
		f := r.Factory(t, inProduction, informer.WithLogger(discard))
		first, second := podsOf(f), podsOf(f, informer.WithName("second"))
		elsewhere := podsOf(f, informer.WithNamespace("south"))
		all := podsOf(f, informer.WithNamespace(""))
		nodes := factories.For[*corev1.Node](f, nodeResource, factories.WithClusterScope())
		same(t, "names", []string{first.Status().Name, second.Status().Name, elsewhere.Status().Name, all.Status().Name, nodes.Status().Name},
			[]string{"pods/v1", "second", `pods/v1 in namespace "south"`, "pods/v1 in all namespaces", "nodes/v1"})
		other := podsOf(f, informer.WithNamespaceSelector(labels.SelectorFromSet(labels.Set{"env": "test"})))
		same(t, "name", other.Status().Name, `pods/v1 in namespaces with labels "env=test"`)
		noError(t, f.Remove(t.Context(), nodes)) // the server has none
		run(t, f)
		selectors := map[string]int{}
		for _, request := range r.Requests() {
			if request.Resource == namespaceResource {
				selectors[request.Query.Get("labelSelector")]++
				if !strings.Contains(request.Accept, "as=PartialObjectMetadata") {
					t.Errorf("%v is not for metadata: %s", request, request.Accept)
				}
			}
		}
		same(t, "requests for Namespaces", selectors, map[string]int{"env=prod": 1, "env=test": 1})

		noError(t, f.Stop(t.Context(), first))
		noError(t, f.Remove(t.Context(), other))
		requests := len(r.Requests())
		r.EndWatches()
		pass(time.Minute)
		selectors = map[string]int{}
		for _, request := range r.Requests()[requests:] {
			if request.Resource == namespaceResource {
				selectors[request.Query.Get("labelSelector")]++
			}
		}
		if selectors["env=prod"] == 0 || selectors["env=test"] != 0 {
			t.Errorf("requests for Namespaces: %v", selectors)
		}
		shutdown(t, f)
		requests = len(r.Requests())
		pass(time.Hour)
		same(t, "requests after Shutdown", len(r.Requests()), requests)
	})
}

// TestSelectingInformerRunsAgain: it gets the differences of a pause, also in namespaces that have
// come and gone.
func TestSelectingInformerRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north !south west", pod("north", "a", ""), pod("south", "b", ""), pod("west", "c", ""))
		f := r.Factory(t, inProduction, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		run(t, f)
		j.SawAll(t, "+a@2 initial", "+b@3 initial")
		noError(t, f.Stop(t.Context(), pods))
		r.Pods.Update(pod("north", "a", "1"))
		r.label("south")
		r.label("!west")
		pass(time.Minute)
		j.Saw(t)
		same(t, "objects", informertest.Names(pods), []string{"north/a", "south/b"})

		// The second run has not synced until it has the Namespaces.
		end := r.ofNamespaces(sourcetest.Refuse(503))
		lease := acquire(t.Context(), t, pods)
		pass(time.Minute)
		same(t, "lease synced", lease.HasSynced(), false)
		same(t, "informer synced", pods.HasSynced(), true)
		j.Saw(t, "~a@2>8")
		end()
		noError(t, lease.WaitForCacheSync(t.Context()))
		j.Saw(t, "-b@3 unknown", "+c@4")
		noError(t, lease.Release(t.Context()))

		// It ends before it has the Namespaces.
		r.ofNamespaces(sourcetest.Fail(sourcetest.ErrHang))
		lease = acquire(t.Context(), t, pods)
		synctest.Wait()
		noError(t, lease.Release(t.Context()))
		j.Check(t, pods)
		shutdown(t, f)
	})
}

// TestLabelFlaps: a label that comes and goes leaves no stream behind, also while the namespace's
// list hangs.
func TestLabelFlaps(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		inBubble(t, fmt.Sprint("list hangs: ", hangs), func(t *testing.T) {
			r := newRealm("!north south", pod("south", "b", ""))
			end := func() {}
			if hangs {
				end = inNamespace(r.shop, "south", sourcetest.Fail(sourcetest.ErrHang))
			}
			f := r.Factory(t, inProduction, informer.WithLogger(discard))
			pods := podsOf(f)
			var j journal[*corev1.Pod]
			informertest.Add(t, pods, &j)
			run(t, f)
			for n := range 50 {
				r.label("!south")
				if n%2 == 0 {
					synctest.Wait() // otherwise the informer may see nothing of it
				}
				r.label("south")
				if n%3 == 0 {
					synctest.Wait()
				}
			}
			synctest.Wait()
			same(t, "namespaces", namespacesOf(pods.Status()), "north")
			same(t, "objects", pods.Status().Objects, 0)
			requests := len(r.Requests())
			pass(time.Hour)
			same(t, "requests", r.readNamespaces(requests), []string{"north"})
			end()
			r.label("!south")
			pass(time.Hour)
			same(t, "objects", informertest.Names(pods), []string{"south/b"})
			j.Check(t, pods)
			shutdown(t, f)
		})
	}
}

// TestThousandNamespacesCome: they are listed a few at a time, at the start and later.
func TestThousandNamespacesCome(t *testing.T) {
	for _, later := range []bool{false, true} {
		inBubble(t, fmt.Sprint("later: ", later), func(t *testing.T) {
			r := newRealm("")
			var listing, most atomic.Int64
			r.Inject(sourcetest.Fault{On: sourcetest.WatchList, Resource: podResource, Times: sourcetest.Always, Do: func(*sourcetest.Answer) {
				most.Store(max(most.Load(), listing.Add(1)))
				time.Sleep(10 * time.Millisecond)
				listing.Add(-1)
			}})
			f := r.Factory(t, inProduction)
			pods := podsOf(f)
			if later {
				run(t, f)
			}
			for n := range 1000 {
				r.Pods.Create(pod(fmt.Sprint("ns-", n), "a", ""))
				r.namespaces.Create(namespace(fmt.Sprint("!ns-", n)))
			}
			if later {
				synctest.Wait()
				noError(t, pods.WaitForCacheSync(t.Context()))
			} else {
				run(t, f)
			}
			same(t, "objects", pods.Status().Objects, 1000)
			if n := most.Load(); n > 32 || !later && n > 16 {
				t.Errorf("%d lists at once", n)
			}
			shutdown(t, f)
		})
	}
}

// TestSlowHandlerOfSelectedNamespaces: a handler that hangs delays neither other handlers nor the
// coming and going of namespaces.
func TestSlowHandlerOfSelectedNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north south", pod("north", "a", ""), pod("south", "b", ""))
		f := r.Factory(t, inProduction, informer.WithLogger(discard))
		pods := podsOf(f)
		var slow, quick journal[*corev1.Pod]
		release := make(chan struct{})
		slow.Before = func(string, object.Key) { <-release }
		informertest.Add(t, pods, &slow)
		informertest.Add(t, pods, &quick)
		run(t, f)
		r.label("!south")
		quick.Saw(t, "+a@2 initial", "+b@3")
		r.label("north")
		quick.Saw(t, "-a@2 unknown")
		r.label("south")
		r.label("!north")
		synctest.Wait()
		same(t, "objects", informertest.Names(pods), []string{"north/a"})
		close(release)
		slow.Check(t, pods)
		quick.Check(t, pods)
		shutdown(t, f)
	})
}

// TestShutdownWaitsForTheNamespaces: the error handler is in a call about the list of Namespaces.
func TestShutdownWaitsForTheNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north")
		r.ofNamespaces(sourcetest.Refuse(503))
		release := make(chan struct{})
		f := r.Factory(t, inProduction, informer.WithLogger(discard), informer.WithErrorHandler(func(string, error) { <-release }))
		podsOf(f)
		noError(t, f.Start(t.Context()))
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := f.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown() = %v", err)
		}
		close(release)
		shutdown(t, f)
	})
}

// TestErrorHandlerEndsTheList: an error handler that calls runtime.Goexit for a failure of the list
// of Namespaces ends the informers that need it.
func TestErrorHandlerEndsTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north", pod("north", "a", ""))
		f := r.Factory(t, inProduction, informer.WithLogger(discard), informer.WithErrorHandler(func(string, error) {
			runtime.Goexit()
		}))
		pods := podsOf(f)
		run(t, f)
		r.ofNamespaces(sourcetest.Refuse(403))
		r.EndWatches()
		pass(time.Minute)
		same(t, "running", pods.Status().Running, false)
		shutdown(t, f)
	})
}
