// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
)

// TestStatusInOneLine reads the status as people do, in every stage of an informer's life.
func TestStatusInOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""), pod("shop", "red", ""))
		pods := newPods(t, server.source(t), informer.WithName("pods"), informer.WithLogger(discard))
		let := make(chan struct{})
		r := add(t, pods, &journal[*corev1.Pod]{before: func(string, object.Key) { <-let }}, informer.WithHandlerName("billing"), informer.WithBacklogThreshold(0))
		line := func(want string) {
			t.Helper()
			same(t, "status", pods.Status().String(), want)
		}
		line("pods: not running; not synced")
		stop := start(t, pods)
		pass(3 * time.Second)
		begin := time.Now().Add(-3 * time.Second).UTC().Format(time.RFC3339)
		h := pods.Status().Handlers[0]
		line(fmt.Sprintf(`pods: watching since %s; synced, 2 objects at resourceVersion 3; handler "billing" is in OnAdd of %s for 3s, 1 events wait`, begin, h.Key))
		server.move("blue", "node")
		server.move("red", "node")
		synctest.Wait()
		if text := r.Status().String(); !strings.HasSuffix(text, ", merging") {
			t.Errorf("status %q", text)
		}
		close(let)
		synctest.Wait()
		same(t, "the handler", r.Status().String(), `handler "billing" is idle, 0 events wait`)
		stop()
		line("pods: not running; synced, 2 objects at resourceVersion 5")
	})
}

// TestStatusHasTimesAndVersions looks at what a program reads in the status.
func TestStatusHasTimesAndVersions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		pods := newPods(t, server.source(t), informer.WithLogger(discard))
		begin := time.Now()
		defer start(t, pods)()
		pass(10 * time.Second)
		server.move("blue", "node")
		pass(10 * time.Second)
		server.Bookmark()
		synctest.Wait()
		s := pods.Status()
		same(t, "state", s.Reflector.State, reflector.StateWatching)
		same(t, "since", s.Reflector.Since, begin)
		same(t, "last event", s.Reflector.LastEvent.Sub(begin), 10*time.Second)
		same(t, "last bookmark", s.Reflector.LastBookmark.Sub(begin), 20*time.Second)
		same(t, "last error", s.Reflector.LastError, nil)
		same(t, "objects and version", []string{fmt.Sprint(s.Objects), s.ResourceVersion}, []string{"1", "3"})
		same(t, "streams", s.Streams, []informer.StreamStatus{{Synced: true, Objects: 1, ResourceVersion: "3", Reflector: s.Reflector}})
	})
}

// TestSecondForWithAWrongOption says what is wrong, once, however often it is called.
func TestSecondForWithAWrongOption(t *testing.T) {
	f := newShop().factory(t)
	podsOf(f)
	for range 3 {
		podsOf(f, informer.WithPageSize(-1), nil)
	}
	want(t, f.Start(t.Context()), "informer factory: Start: informer.For pods/v1: WithPageSize: -1 objects; want 0 or more\noption 2 is nil")
}

// TestMutationDetectorByEnvironment: the variable that client-go knows makes informers look for mutations too. It ends the
// process then; here nobody mutates anything.
func TestMutationDetectorByEnvironment(t *testing.T) {
	t.Setenv("KUBE_CACHE_MUTATION_DETECTOR", "true")
	synctest.Test(t, func(t *testing.T) {
		server := newShop(pod("shop", "blue", ""))
		pods := newPods(t, server.source(t))
		var j journal[*corev1.Pod]
		add(t, pods, &j)
		defer start(t, pods)()
		server.move("blue", "node")
		pass(time.Minute)
		j.check(t, pods)
	})
}
