// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/lister"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// unsyncedByNode is an index of the tests in this file.
var unsyncedByNode = store.NewIndex("ByNode", func(pod *corev1.Pod, keys []string) []string { return append(keys, pod.Spec.NodeName) })

func podLister(pods *informer.SharedIndexInformer[*corev1.Pod]) *lister.Resource[*corev1.Pod] {
	return lister.New(pods.Store(), podResource.GroupResource())
}

// wantNotSynced asserts an error of a read before the first sync.
func wantNotSynced(t *testing.T, err error, why ...string) {
	t.Helper()
	if !errors.Is(err, informer.ErrNotSynced) || apierrors.IsNotFound(err) {
		t.Errorf("got %v (NotFound: %v), want ErrNotSynced", err, apierrors.IsNotFound(err))
		return
	}
	for _, part := range why {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not contain %q", err, part)
		}
	}
}

// TestUnsyncedInformerDoesNotAnswerNotFound reads an informer made after Start, one whose resource
// the server does not serve yet, one that is forbidden, and one that could not be made.
func TestUnsyncedInformerDoesNotAnswerNotFound(t *testing.T) {
	for name, tc := range map[string]struct {
		afterStart bool // made after Start
		code       int
		opts       []informer.Option
		why        string
	}{
		"made after Start":    {afterStart: true, why: "pods/v1 is not running; a factory's Start runs only informers made before it"},
		"not found":           {code: http.StatusNotFound, why: "waiting to try again"},
		"could not be made":   {opts: []informer.Option{nil}, why: "pods/v1 could not be made"},
		"refused for a while": {code: http.StatusForbidden, why: "Forbidden"},
	} {
		inBubble(t, name, func(t *testing.T) {
			server := newShop(pod("shop", "green", "node-1"))
			var log strings.Builder
			end := func() {}
			if tc.code != 0 {
				end = server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Refuse(tc.code)})
			}
			f := server.Factory(t, informer.WithLogger(logTo(&log)))
			// Start fails if the informer could not be made.
			start := func() { _ = f.Start(t.Context()) }
			if tc.afterStart {
				start()
			}
			pods := factories.For[*corev1.Pod](f, podResource, tc.opts...)
			if !tc.afterStart {
				start()
			}
			synctest.Wait()
			lister, generic := podLister(pods), factories.Generic(pods, podResource.GroupResource()).Lister()
			for range 2 {
				_, err := lister.Namespace("shop").Get("blue")
				wantNotSynced(t, err, `get pods "shop/blue"`, tc.why)
				_, err = generic.Namespace("shop").Get("blue")
				wantNotSynced(t, err, `get pods "shop/blue"`, tc.why)
				_, err = lister.List(labels.Everything())
				wantNotSynced(t, err, "list pods", tc.why)
				_, err = lister.Namespace("shop").List(nil)
				wantNotSynced(t, err, "list pods", tc.why)
			}
			const line = "An informer was read before its first sync"
			if strings.Contains(log.String(), line) {
				t.Errorf("reads that return an error were logged: %s", log.String())
			}
			if tc.opts == nil { // otherwise the informer has no logger
				for _, read := range []func(){
					func() { lister.All()(func(*corev1.Pod) bool { return true }) },
					func() { unsyncedByNode.List(pods.Store().Snapshot(), "node-1") },
					func() { pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"}) },
					func() { generic.All()(func(object.Object) bool { return true }) },
				} {
					read()
					if n := strings.Count(log.String(), line); n != 1 {
						t.Errorf("%d log lines about reads, want 1: %s", n, log.String())
					}
				}
			}
			end()
			if tc.opts != nil {
				return
			}
			start()
			time.Sleep(time.Minute)
			wantSynced := func() {
				t.Helper()
				if _, err := lister.Namespace("shop").Get("blue"); !apierrors.IsNotFound(err) || errors.Is(err, informer.ErrNotSynced) {
					t.Errorf("Get of a missing object after the sync: %v, want NotFound", err)
				}
				if _, err := lister.Namespace("shop").Get("green"); err != nil {
					t.Error(err)
				}
			}
			wantSynced()
			shutdown(t, f)
			wantSynced()
		})
	}
}

// TestWithEmptyBeforeSync shows that Get returns the error of client-go.
func TestWithEmptyBeforeSync(t *testing.T) {
	var log strings.Builder
	f := newShop(pod("shop", "blue", "")).Factory(t, informer.WithLogger(logTo(&log)), informer.WithEmptyBeforeSync(true))
	pods := podLister(podsOf(f))
	if _, err := pods.Namespace("shop").Get("blue"); !apierrors.IsNotFound(err) {
		t.Errorf("Get() = %v, want NotFound", err)
	}
	if all, err := pods.List(nil); len(all) != 0 || err != nil || log.Len() != 0 {
		t.Errorf("List() = %v, %v, logged %q; want nothing", all, err, log.String())
	}
}

// TestWaitForCacheSyncNamesInformersThatWereNeverStarted shows that the wait ends at once and names
// the informer, unless Acquire or Run keeps it running.
func TestWaitForCacheSyncNamesInformersThatWereNeverStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShop(pod("shop", "blue", "")).Factory(t, informer.WithLogger(discard))
		noError(t, f.Start(t.Context()))
		pods := podsOf(f)
		begin := time.Now()
		err := f.WaitForCacheSync(t.Context())
		if !errors.Is(err, informer.ErrNotSynced) || !strings.Contains(err.Error(), "pods/v1") || !strings.Contains(err.Error(), "call Start again") || time.Since(begin) != 0 {
			t.Errorf("WaitForCacheSync() after %v = %v, want ErrNotSynced at once", time.Since(begin), err)
		}
		lease, err := pods.Acquire(t.Context())
		noError(t, err)
		if err := f.WaitForCacheSync(t.Context()); err != nil {
			t.Errorf("WaitForCacheSync with a lease = %v", err)
		}
		noError(t, lease.Release(t.Context()))
		noError(t, f.Start(t.Context()))
		noError(t, f.WaitForCacheSync(t.Context()))
		if _, err := podLister(pods).Namespace("shop").Get("blue"); err != nil {
			t.Error(err)
		}
		one := podLister(pods).Namespace("shop")
		if n := testing.AllocsPerRun(100, func() { one.Get("blue") }); n != 0 {
			t.Errorf("Get allocates %v times, want 0", n)
		}
		shutdown(t, f)
	})
}
