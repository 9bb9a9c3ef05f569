// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"

	"github.com/informer-gen/informer-gen/internal/informertest"
	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// Each test of the promises files shows one promise of the documentation, about events of handlers,
// the store and, in this file, the life cycle of an informer.

func TestPromise05SyncHasAReason(t *testing.T) {
	for name, test := range map[string]struct {
		fault  sourcetest.Fault
		reason reason.Reason
		text   string
	}{
		"forbidden":          {sourcetest.Fault{Do: sourcetest.Refuse(http.StatusForbidden)}, reason.Forbidden, "Forbidden"},
		"not found":          {sourcetest.Fault{Do: sourcetest.Refuse(http.StatusNotFound)}, reason.NotFound, "could not find the requested resource"},
		"no bookmark":        {sourcetest.Fault{On: sourcetest.WatchList, Do: dropBookmarks}, reason.NoBookmark, (&reason.Error{Reason: reason.NoBookmark}).Error()},
		"decoding":           {sourcetest.Fault{Do: func(a *sourcetest.Answer) { a.Body = []byte("<html>") }}, reason.BadData, "malformed"},
		"connection refused": {sourcetest.Fault{Do: sourcetest.Fail(syscall.ECONNREFUSED)}, reason.Unreachable, "connection refused"},
		"silence":            {sourcetest.Fault{Do: sourcetest.Fail(sourcetest.ErrHang)}, reason.Silent, (&reason.Error{Reason: reason.Silent}).Error()},
	} {
		inBubble(t, name, func(t *testing.T) {
			server := newShop(pod("shop", "blue", ""))
			test.fault.Times = sourcetest.Always
			server.Inject(test.fault)
			// The list that follows hangs.
			if test.fault.On == sourcetest.WatchList {
				server.Inject(sourcetest.Fault{Times: sourcetest.Always, Do: sourcetest.Fail(sourcetest.ErrHang)})
			}
			var log strings.Builder
			f := server.Factory(t, informer.WithLogger(discard))
			pods := podsOf(f)
			begin := time.Now()
			noError(t, f.Start(t.Context()))
			cause := errors.New("enough waited")
			ctx, cancel := context.WithTimeoutCause(klog.NewContext(t.Context(), logTo(&log)), 35*time.Second, cause)
			defer cancel()
			err := f.WaitForCacheSync(ctx)
			s := pods.Status()
			if err == nil || !errors.Is(err, cause) || !errors.Is(err, s.Reflector.LastError) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("WaitForCacheSync() = %v, want %s", err, test.text)
			}
			if s.Synced || s.Reflector.LastError == nil || s.Reflector.Since.Before(begin) {
				t.Errorf("Status() = %v, want unsynced with a LastError", s)
			}
			if reason := reason.Of(s.Reflector.LastError); reason != test.reason {
				t.Errorf("the reason is %v, want %v", reason, test.reason)
			}
			if !strings.Contains(s.String(), "pods/v1: ") || !strings.Contains(s.String(), "not synced") || strings.Contains(s.String(), "\n") {
				t.Errorf("Status().String() = %q", s)
			}
			if n := strings.Count(log.String(), "Waiting for informers to sync"); n != 3 {
				t.Errorf("%d log lines after 35 s, want 3: %s", n, log.String())
			}
			if test.reason.Lasting() {
				if err := f.WaitForCacheSync(t.Context(), informer.FailOn()); err == nil || !strings.Contains(err.Error(), test.text) {
					t.Errorf("WaitForCacheSync with FailOn = %v, want %s", err, test.text)
				}
			}
			shutdown(t, f)
		})
	}
}

// dropBookmarks drops the bookmarks of a watch.
func dropBookmarks(a *sourcetest.Answer) {
	a.Events = func(e sourcetest.Event) []sourcetest.Event {
		if e.Type == "BOOKMARK" {
			return nil
		}
		return []sourcetest.Event{e}
	}
}

func TestPromise07DeadWatchesAreDetected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		before := server.ResourceVersion()
		server.Inject(sourcetest.Fault{On: sourcetest.WatchList, Do: func(a *sourcetest.Answer) {
			// After the initial events, the watch hangs.
			over := false
			a.Events = func(e sourcetest.Event) []sourcetest.Event {
				if over {
					return nil
				}
				over = e.Type == "BOOKMARK"
				return []sourcetest.Event{e}
			}
		}})
		pods, j := follow(t, server, informer.WithTuning(reflector.Tuning{SilenceTimeout: 90 * time.Second}), informer.WithLogger(discard))
		j.Saw(t, "+blue@2 initial")
		server.Move("blue", "node")
		server.Pods.Create(pod("shop", "red", ""))
		j.Saw(t)
		pass(91 * time.Second)
		j.Saw(t, "~blue@2>3", "+red@4")
		if s := pods.Status().Reflector; reason.Of(s.LastError) != reason.Silent || s.State != reflector.StateWatching {
			t.Errorf("Status() = %v, want watching after silence", s)
		}

		// The server's storage is restored from a backup: its versions go back, and later changes
		// are lost.
		server.Restore(before)
		server.Pods.Create(pod("shop", "green", ""))
		pass(10 * time.Minute)
		same(t, "objects", informertest.Names(pods), []string{"shop/blue", "shop/green"})
		same(t, "version", pods.Store().Snapshot().ResourceVersion(), server.ResourceVersion())
		j.Check(t, pods)
	})
}

func TestPromise08WritesCanBeAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		server.BookmarkInterval = -1
		server.Inject(sourcetest.Fault{On: sourcetest.WatchList, Times: sourcetest.Always, Do: func(a *sourcetest.Answer) {
			// each event takes a minute to arrive
			a.Events = func(e sourcetest.Event) []sourcetest.Event {
				time.Sleep(time.Minute)
				return []sourcetest.Event{e}
			}
		}})
		pods := newPods(t, server.Source(t), informer.WithTuning(reflector.Tuning{InitialEventsTimeout: time.Hour, WatchTimeout: time.Hour, SilenceTimeout: time.Hour}))
		start(t, pods)
		noError(t, pods.WaitForCacheSync(t.Context()))
		blue, _ := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: "blue"})
		for _, test := range []struct {
			what  string
			write func() (await func(context.Context) error)
			seen  string
		}{
			{"a version", func() func(context.Context) error {
				written := server.Move("blue", "node-1").ResourceVersion
				return func(ctx context.Context) error { return pods.AwaitResourceVersion(ctx, written) }
			}, "node-1"},
			{"an object", func() func(context.Context) error {
				written := server.Move("blue", "node-2")
				return func(ctx context.Context) error { return pods.AwaitObject(ctx, written) }
			}, "node-2"},
			{"a deletion", func() func(context.Context) error {
				server.Pods.Delete("shop", "blue")
				return func(ctx context.Context) error { return pods.AwaitDeleted(ctx, blue) }
			}, "none"},
			{"a create, by its token", func() func(context.Context) error {
				token := object.TokenOf(podResource, server.Pods.Create(pod("shop", "blue", "node-3")))
				return func(ctx context.Context) error { return pods.AwaitToken(ctx, token) }
			}, "node-3"},
			{"a delete, by its token", func() func(context.Context) error {
				stored, _ := server.Pods.Get("shop", "blue")
				token := object.TokenOf(podResource, stored)
				token.Gone = true
				server.Pods.Delete("shop", "blue")
				return func(ctx context.Context) error { return pods.AwaitToken(ctx, token) }
			}, "none"},
		} {
			begin, await := time.Now(), test.write()
			short, cancel := context.WithTimeout(t.Context(), time.Second)
			if err := await(short); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("await of %s before its arrival: %v, want DeadlineExceeded", test.what, err)
			}
			cancel()
			if err := await(t.Context()); err != nil {
				t.Errorf("await of %s: %v", test.what, err)
			}
			same(t, "seen after awaiting "+test.what, nodeOf(pods, "blue"), test.seen)
			// The arrival ends the wait, to the nanosecond.
			same(t, "waited for "+test.what, time.Since(begin), time.Minute)
		}
	})
}

func nodeOf(pods *informer.SharedIndexInformer[*corev1.Pod], name string) string {
	pod, ok := pods.Store().Snapshot().Get(object.Key{Namespace: "shop", Name: name})
	if !ok {
		return "none"
	}
	return pod.Spec.NodeName
}

func TestPromise09NothingLeaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		sourcetest.Serve[*corev1.Node](server.Server, nodeResource, "Node")
		before := runtime.NumGoroutine()
		f := server.Factory(t, informer.WithNamespace("shop"))
		pods, nodes := podsOf(f), factories.For[*corev1.Node](f, nodeResource, factories.WithClusterScope())
		release := make(chan struct{})
		var j journal[*corev1.Pod]
		one := informertest.Add(t, pods, &j)
		stuck := informertest.Add(t, pods, &journal[*corev1.Pod]{Before: func(string, object.Key) { <-release }}, informer.WithHandlerName("billing"))
		if n := runtime.NumGoroutine(); n > before {
			t.Errorf("constructors have started %d goroutines, want 0", n-before)
		}
		noError(t, f.Start(t.Context()))
		j.Saw(t, "+blue@2 initial")

		// Removing one handler:
		one.Remove()
		server.Move("blue", "node")
		j.Saw(t)
		// Stopping one informer, during a callback that does not return:
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := f.Stop(ctx, pods)
		want(t, err, `informer factory: Stop: context deadline exceeded: pods/v1: handler "billing" has not returned from OnAdd of shop/blue for 5s`)
		if s := nodes.Status(); !s.Running {
			t.Errorf("the other informer: %v, want running", s)
		}
		// Shutting the factory down, with a deadline:
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err = f.Shutdown(ctx)
		want(t, err, `informer factory: Shutdown: context deadline exceeded: pods/v1: handler "billing" has not returned from OnAdd of shop/blue for 10s`)
		close(release)
		shutdown(t, f)
		stuck.Remove() // the bubble finds remaining goroutines
	})
}
