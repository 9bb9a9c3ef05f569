// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

var namespaceResource = corev1.SchemeGroupVersion.WithResource("namespaces")

// realm is an API server in memory, with pods and namespaces.
type realm struct {
	*shop
	namespaces *sourcetest.Collection[*corev1.Namespace]
}

// newRealm returns a realm. A namespace is its name, with "!" before it if it matches inProduction.
func newRealm(namespaces string, pods ...*corev1.Pod) *realm {
	server := newShop(pods...)
	r := &realm{server, sourcetest.Serve[*corev1.Namespace](server.Server, namespaceResource, "Namespace")}
	for name := range strings.FieldsSeq(namespaces) {
		r.namespaces.Create(namespace(name))
	}
	return r
}

func namespace(name string) *corev1.Namespace {
	name, matches := strings.CutPrefix(name, "!")
	n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"env": "test"}}}
	if matches {
		n.Labels["env"] = "prod"
	}
	return n
}

// label updates the labels of a namespace.
func (r *realm) label(name string) { r.namespaces.Update(namespace(name)) }

var inProduction = informer.WithNamespaceSelector(labels.SelectorFromSet(labels.Set{"env": "prod"}))

// ofNamespaces injects a fault into all requests for Namespaces.
func (r *realm) ofNamespaces(do func(*sourcetest.Answer)) (end func()) {
	return r.Inject(sourcetest.Fault{Resource: namespaceResource, Times: sourcetest.Always, Do: do})
}

// readNamespaces returns the namespaces of requests for pods since the first n requests.
func (r *realm) readNamespaces(n int) []string {
	var all []string
	for _, request := range r.Requests()[n:] {
		if request.Resource == podResource {
			all = append(all, request.Namespace)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestNamespacesComeAndGoByLabel: namespaces are made, get and lose the label, and are deleted and
// made again.
func TestNamespacesComeAndGoByLabel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north south", pod("north", "a", ""), pod("south", "b", ""), pod("west", "c", ""))
		f := r.Factory(t, inProduction, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		registration := informertest.Add(t, pods, &j)
		run(t, f)
		same(t, "synced", registration.HasSynced(), true)
		j.Saw(t, "+a@2 initial")
		same(t, "requests", r.readNamespaces(0), []string{"north"})
		same(t, "resource", pods.Resource(), podResource)

		r.label("!south")
		j.Saw(t, "+b@3")
		r.Pods.Update(pod("south", "b", "1"))
		j.Saw(t, "~b@3>8")
		noError(t, pods.WaitForCacheSync(t.Context()))
		same(t, "namespaces", namespacesOf(pods.Status()), "north south")
		for _, stream := range pods.Status().Streams {
			same(t, "state of "+stream.Namespace, stream.Reflector.State.String(), "watching")
		}

		// The label goes. What happens there afterwards isn't seen.
		r.label("south")
		j.Saw(t, "-b@8 unknown")
		requests := len(r.Requests())
		r.Pods.Update(pod("south", "b", "2"))
		pass(time.Hour)
		j.Saw(t)
		same(t, "requests", r.readNamespaces(requests), []string{"north"})
		if _, err := podLister(pods).Namespace("south").Get("b"); !apierrors.IsNotFound(err) {
			t.Errorf("Get in a namespace that no longer matches: %v", err)
		}
		r.label("!south")
		j.Saw(t, "+b@10")

		// A change that keeps the label means nothing.
		requests = len(r.Requests())
		r.label("!north")
		pass(time.Second)
		same(t, "requests", len(r.Requests()), requests)
		j.Saw(t)

		// The namespace is deleted, then made anew.
		r.Pods.Delete("north", "a")
		j.Saw(t, "-a@13")
		r.namespaces.Delete("", "north")
		synctest.Wait()
		same(t, "namespaces", namespacesOf(pods.Status()), "south")
		r.namespaces.Create(namespace("!north"))
		r.Pods.Create(pod("north", "a", ""))
		j.Saw(t, "+a@16")
		r.namespaces.Create(namespace("!west"))
		j.Saw(t, "+c@4")
		same(t, "namespaces", namespacesOf(pods.Status()), "south north west")
		j.Check(t, pods)
		shutdown(t, f)
	})
}

// TestNoNamespaceMatches: the informer has synced and is empty.
func TestNoNamespaceMatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("north", pod("north", "a", ""))
		f := r.Factory(t, inProduction)
		var provider stateProvider
		pods := podsOf(f, informer.WithMetrics(&provider))
		if _, err := podLister(pods).Namespace("north").Get("a"); !errors.Is(err, informer.ErrNotSynced) || !strings.HasSuffix(err.Error(), "pods/v1 is not running; a factory's Start runs only informers made before it") {
			t.Errorf("Get before Start: %v", err)
		}
		run(t, f)
		same(t, "synced", pods.HasSynced(), true)
		same(t, "watching", provider.read().Watching, true)
		same(t, "requests", r.readNamespaces(0), []string(nil))
		if _, err := podLister(pods).Namespace("north").Get("a"); !apierrors.IsNotFound(err) {
			t.Errorf("Get in a namespace that doesn't match: %v", err)
		}
		noError(t, pods.AwaitResourceVersion(t.Context(), "1"))
		if err := pods.AwaitObject(t.Context(), pod1(r)); err == nil || !strings.HasSuffix(err.Error(), `the informer does not read namespace "north"`) {
			t.Errorf("AwaitObject in a namespace that doesn't match: %v", err)
		}
		if s := pods.Status().String(); !strings.HasPrefix(s, "pods/v1: namespaces matching env=prod watching since ") || !strings.HasSuffix(s, "; synced, 0 objects at resourceVersion ") {
			t.Error(s)
		}
		r.label("!north")
		synctest.Wait()
		same(t, "objects", informertest.Names(pods), []string{"north/a"})
		shutdown(t, f)
	})
}

func pod1(r *realm) *corev1.Pod {
	obj, _ := r.Pods.Get("north", "a")
	return obj
}

// TestSelectedNamespacesSync: the informer syncs with the namespaces first listed. It stays synced
// when another one comes; WaitForCacheSync waits for that.
func TestSelectedNamespacesSync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north south", pod("north", "a", ""), pod("south", "b", ""))
		endNorth, endSouth := inNamespace(r.shop, "north", sourcetest.Refuse(403)), inNamespace(r.shop, "south", sourcetest.Refuse(403))
		f := r.Factory(t, inProduction, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		registration := informertest.Add(t, pods, &j)
		noError(t, f.Start(t.Context()))
		err := f.WaitForCacheSync(t.Context(), informer.FailOn())
		if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "1 of 1 informers not synced") || !strings.Contains(err.Error(), "pods/v1 in north is ") {
			t.Errorf("WaitForCacheSync: %v", err)
		}
		same(t, "synced", pods.HasSynced() || registration.HasSynced(), false)
		endNorth()
		noError(t, f.WaitForCacheSync(t.Context()))
		j.Saw(t, "+a@2 initial")
		same(t, "synced", registration.HasSynced(), true)

		r.label("!south")
		pass(time.Minute)
		same(t, "synced", pods.HasSynced(), true)
		if err := pods.WaitForCacheSync(t.Context(), informer.FailOn()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "pods/v1 in south is ") {
			t.Errorf("WaitForCacheSync: %v", err)
		}
		if _, err := podLister(pods).Namespace("south").Get("b"); !errors.Is(err, informer.ErrNotSynced) {
			t.Errorf("Get in an unsynced namespace: %v", err)
		}
		endSouth()
		noError(t, pods.WaitForCacheSync(t.Context()))
		j.Saw(t, "+b@3")
		shutdown(t, f)
	})
}

// TestNamespacesForbidden: every place that says why an informer has not synced has the reason,
// until the account may list namespaces.
func TestNamespacesForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north", pod("north", "a", ""))
		end := r.ofNamespaces(sourcetest.Refuse(http.StatusForbidden))
		var failed sync.Map
		f := r.Factory(t, inProduction, informer.WithLogger(discard), informer.WithErrorHandler(func(name string, err error) {
			failed.Store(fmt.Sprint(name, " ", reason.Of(err)), nil)
		}))
		pods := podsOf(f)
		noError(t, f.Start(t.Context()))
		lease := acquire(t.Context(), t, pods)
		quiet := klog.NewContext(t.Context(), discard)
		for what, wait := range map[string]func(context.Context, ...informer.WaitOption) error{
			"factory": f.WaitForCacheSync, "pods": pods.WaitForCacheSync, "lease": lease.WaitForCacheSync,
		} {
			start := time.Now()
			if err := wait(quiet, informer.FailOn()); !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "pods/v1 waits for namespaces matching env=prod: ") {
				t.Errorf("WaitForCacheSync of the %s: %v", what, err)
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("WaitForCacheSync of the %s took %v", what, took)
			}
			ctx, cancel := context.WithTimeout(quiet, time.Minute)
			if err := wait(ctx); !apierrors.IsForbidden(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("WaitForCacheSync of the %s with a deadline: %v", what, err)
			}
			cancel()
		}
		if _, err := podLister(pods).Namespace("north").Get("a"); !errors.Is(err, informer.ErrNotSynced) || !strings.Contains(err.Error(), "pods/v1 waits for namespaces matching env=prod: ") {
			t.Errorf("Get: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := pods.AwaitResourceVersion(ctx, "1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("AwaitResourceVersion: %v", err)
		}
		cancel()
		s := pods.Status()
		if s.Synced || len(s.Streams) > 0 || s.Reflector.Reason != reason.Forbidden || s.Namespaces == nil || s.Namespaces.Synced || s.Namespaces.Reflector.Reason != reason.Forbidden {
			t.Errorf("Status() = %+v", s)
		}
		if text := s.String(); !strings.HasPrefix(text, "pods/v1: namespaces matching env=prod waiting to try again since ") || !strings.HasSuffix(text, "; not synced") {
			t.Error(text)
		}
		if _, ok := failed.Load("namespaces matching env=prod forbidden"); !ok {
			t.Error("the error handler was not called")
		}
		same(t, "requests", r.readNamespaces(0), []string(nil))

		end()
		noError(t, f.WaitForCacheSync(quiet))
		same(t, "objects", informertest.Names(pods), []string{"north/a"})

		// Later failures keep the namespaces.
		r.ofNamespaces(sourcetest.Refuse(http.StatusForbidden))
		r.EndWatches()
		pass(time.Hour)
		same(t, "objects", informertest.Names(pods), []string{"north/a"})
		if s := pods.Status(); !s.Synced || !s.Namespaces.Synced || s.Reflector.Reason == reason.None {
			t.Errorf("Status() = %v, want a failure", s)
		}
		noError(t, lease.Release(t.Context()))
		shutdown(t, f)
	})
}

// TestNamespacesAreListedAnew: the differences that a relist of the Namespaces finds.
func TestNamespacesAreListedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRealm("!north !south west east", pod("north", "a", ""), pod("south", "b", ""), pod("west", "c", ""), pod("east", "d", ""))
		f := r.Factory(t, inProduction, informer.WithLogger(discard))
		pods := podsOf(f)
		var j journal[*corev1.Pod]
		informertest.Add(t, pods, &j)
		run(t, f)
		j.SawAll(t, "+a@2 initial", "+b@3 initial")
		r.Relist(func() {
			r.namespaces.Delete("", "north")
			r.namespaces.Create(namespace("!north")) // another UID
			r.label("south")
			r.label("!west")
			r.namespaces.Delete("", "east")
			pass(time.Minute)
		})
		pass(time.Minute)
		j.Saw(t, "-b@3 unknown", "+c@4")
		same(t, "namespaces", namespacesOf(pods.Status()), "north west")
		if n := pods.Status().Namespaces.Reflector.Relists; n == 0 {
			t.Error("the Namespaces were not listed anew")
		}
		j.Check(t, pods)
		shutdown(t, f)
	})
}
