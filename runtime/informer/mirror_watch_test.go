// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// The scenarios of client-go's tools/watch: an informer as a stream of events, and waiting for a
// condition.

func line(e informer.Change[*corev1.Pod]) string {
	s := e.Type.String()
	if e.Type == source.Bookmark {
		return s
	}
	s += " " + e.Key.Name + "@" + e.Object.ResourceVersion
	if e.Old != nil {
		s += " was " + e.Old.ResourceVersion
	}
	if e.IsInInitialList {
		s += " initial"
	}
	if e.FinalStateUnknown {
		s += " unknown"
	}
	return s
}

func TestNewInformerWatcher(t *testing.T) {
	for _, watchList := range []bool{false, true} {
		inBubble(t, fmt.Sprint("watch-list ", watchList), func(t *testing.T) {
			server := newShop(pod("shop", "pod-1", ""), pod("shop", "pod-2", ""), pod("shop", "pod-3", ""))
			pods := newPods(t, server.Source(t), informer.WithTuning(reflector.Tuning{DisableWatchList: !watchList}))
			start(t, pods)
			var initial, later []string
			for e := range pods.Events(t.Context()) {
				switch {
				case e.IsInInitialList:
					initial = append(initial, line(e))
				default:
					later = append(later, line(e))
				}
				switch len(later) {
				case 1: // the bookmark after the initial objects
					server.Pods.Create(pod("shop", "pod-4", ""))
					server.Move("pod-2", "node")
					server.Pods.Delete("shop", "pod-3")
				case 4:
					server.Move("pod-2", "other") // the loop ends before this event
				}
				if len(later) == 4 {
					break
				}
			}
			slices.Sort(initial)
			same(t, "initial", initial, []string{"ADDED pod-1@2 initial", "ADDED pod-2@3 initial", "ADDED pod-3@4 initial"})
			same(t, "later", later, []string{"BOOKMARK", "ADDED pod-4@5", "MODIFIED pod-2@6 was 3", "DELETED pod-3@7"})
			same(t, "handlers afterwards", handlers(pods), 0)
		})
	}
}

// TestEventProcessorOrdersEvents sends many more events than the loop reads at a time.
func TestEventProcessorOrdersEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop()
		pods := newPods(t, server.Source(t))
		start(t, pods)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for e := range pods.Events(ctx, informer.WithBacklogThreshold(informer.Never)) {
			if e.Type == source.Bookmark {
				for n := range 1000 {
					server.Pods.Create(pod("shop", numbered(n), ""))
				}
				continue
			}
			if e.Key.Name != numbered(n) {
				t.Fatalf("event %d is of %s, want %s", n, e.Key, numbered(n))
			}
			if n++; n == 1000 {
				cancel() // ends the loop too
			}
		}
		same(t, "events", n, 1000)
		same(t, "handlers afterwards", handlers(pods), 0)
	})
}

// TestEventProcessorExit ends loops in every way while events wait. The bubble finds remaining
// goroutines.
func TestEventProcessorExit(t *testing.T) {
	for name, end := range map[string]func(cancel func()) (stop bool){
		"break":  func(func()) bool { return true },
		"panic":  func(func()) bool { panic("on purpose") },
		"cancel": func(cancel func()) bool { cancel(); return false },
	} {
		inBubble(t, name, func(t *testing.T) {
			server := newShop(pod("shop", "pod-1", ""), pod("shop", "pod-2", ""), pod("shop", "pod-3", ""))
			pods := newPods(t, server.Source(t))
			start(t, pods)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			events := 0
			func() {
				defer func() { _ = recover() }()
				for range pods.Events(ctx) {
					synctest.Wait() // the next event waits
					if events++; end(cancel) {
						break
					}
				}
			}()
			same(t, "events", events, 1)
			same(t, "handlers afterwards", handlers(pods), 0)
		})
	}
}

func TestInformerWatcherDeletedFinalStateUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "secret1", ""))
		pods := newPods(t, server.Source(t), informer.WithTuning(reflector.Tuning{DisableWatchList: true}), informer.WithLogger(discard))
		start(t, pods)
		var lines []string
		for e := range pods.Events(t.Context()) {
			if lines = append(lines, line(e)); len(lines) == 3 {
				break
			}
			if e.Type == source.Bookmark {
				server.Relist(func() { server.Pods.Delete("shop", "secret1") })
			}
		}
		same(t, "events", lines, []string{"ADDED secret1@2 initial", "BOOKMARK", "DELETED secret1@2 unknown"})
		lists := 0
		for _, r := range server.Requests() {
			if r.Verb == sourcetest.List {
				lists++
			}
		}
		if lists < 2 {
			t.Errorf("%d lists, want at least 2", lists)
		}
	})
}

// TestEventsMerge shows that waiting events are merged by key while the loop's body is slow.
func TestEventsMerge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod-1", ""))
		pods := newPods(t, server.Source(t))
		start(t, pods)
		var lines []string
		for e := range pods.Events(t.Context(), informer.WithBacklogThreshold(0)) {
			lines = append(lines, line(e))
			if e.Type == source.Bookmark {
				for range 10 {
					server.Move("pod-1", "node")
				}
				server.Pods.Create(pod("shop", "brief", ""))
				server.Pods.Delete("shop", "brief")
				synctest.Wait()
			}
			if e.Key.Name == "pod-1" && e.Object.ResourceVersion == "12" {
				break
			}
		}
		if len(lines) > 4 || slices.ContainsFunc(lines, func(s string) bool { return s == "ADDED brief@13" }) {
			t.Errorf("events %q, want merged ones", lines)
		}
	})
}

// TestEventsOfAnInformerThatStops shows that a loop waits until the informer runs again, and then
// gets the differences.
func TestEventsOfAnInformerThatStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod-1", ""))
		pods := newPods(t, server.Source(t))
		stop := start(t, pods)
		lines := make(chan string, 10)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			for e := range pods.Events(ctx) {
				lines <- line(e)
			}
		}()
		same(t, "first", []string{<-lines, <-lines}, []string{"ADDED pod-1@2 initial", "BOOKMARK"})
		stop()
		server.Move("pod-1", "node")
		stop = start(t, pods)
		same(t, "then", <-lines, "MODIFIED pod-1@3 was 2")
		cancel()
		<-done
		stop()
	})
}

func TestEventsWithWrongArguments(t *testing.T) {
	for range newPods(t, newShop().Source(t)).Events(noContext) {
		t.Error("Events(nil) has yielded an event")
	}
	for range podsOf(nil).Events(t.Context()) {
		t.Error("Events of a broken informer has yielded an event")
	}
	for range newPods(t, newShop().Source(t)).Events(t.Context(), nil) {
		t.Error("Events with a nil option has yielded an event")
	}
}

// TestUntil waits for states of the store. For a condition on events, a program loops over Events.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "pod-1", ""))
		pods := newPods(t, server.Source(t), informer.WithName("pods"), informer.WithLogger(discard))
		short := func(condition func(podSnapshot) (bool, error)) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return pods.Until(ctx, condition)
		}
		timeout := func(err error) {
			t.Helper()
			want(t, err, "informer pods: Until: context deadline exceeded")
			same(t, "the error wraps the cause", errors.Is(err, context.DeadlineExceeded), true)
		}
		timeout(short(func(podSnapshot) (bool, error) {
			t.Error("the condition was called before the first sync")
			return true, nil
		}))
		start(t, pods)
		// The current state counts, without an event.
		one := func(s podSnapshot) (bool, error) { return s.Len() == 1, nil }
		noError(t, errors.Join(pods.Until(t.Context(), one), pods.Until(t.Context(), one)))
		timeout(short(func(s podSnapshot) (bool, error) { return s.Len() == 0, nil }))

		begin, calls := time.Now(), 0
		time.AfterFunc(time.Minute, func() { server.Move("pod-1", "node") })
		noError(t, pods.Until(t.Context(), func(s podSnapshot) (bool, error) {
			calls++
			pod, _ := s.Get(object.Key{Namespace: "shop", Name: "pod-1"})
			return pod.Spec.NodeName == "node", nil
		}))
		if time.Since(begin) != time.Minute || calls > 5 {
			t.Errorf("Until has returned after %v and %d calls, want a minute and at most 5", time.Since(begin), calls)
		}
		// Without a deadline, Until waits as long as it takes.
		time.AfterFunc(24*time.Hour, func() { server.Pods.Create(pod("shop", "pod-2", "")) })
		noError(t, pods.Until(context.Background(), func(s podSnapshot) (bool, error) { return s.Len() == 2, nil }))
		bad := errors.New("something bad")
		same(t, "the condition's error", pods.Until(t.Context(), func(podSnapshot) (bool, error) { return false, bad }) == bad, true)
		same(t, "handlers", handlers(pods), 0)
	})
}
