// SPDX-License-Identifier: Apache-2.0

package informer_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/informer/factories"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// process is one process whose informer has a checkpoint.
type process struct {
	*factories.Factory
	pods    *informer.SharedIndexInformer[*corev1.Pod]
	journal *journal[*corev1.Pod]
	before  int // number of requests before its start
	server  *shop

	mu  sync.Mutex // guards the rest
	log []string
}

// begin starts a process, and waits for nothing.
func begin(t *testing.T, server *shop, dir string, opts ...informer.Option) *process {
	t.Helper()
	l := &process{journal: &journal[*corev1.Pod]{}, before: len(server.Requests()), server: server}
	logger := funcr.New(func(_, args string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.log = append(l.log, args)
	}, funcr.Options{})
	l.Factory = server.Factory(t, append([]informer.Option{informer.WithCheckpoint(dir), informer.WithLogger(logger)}, opts...)...)
	l.pods = podsOf(l)
	if _, err := l.pods.AddEventHandler(l.journal); err != nil {
		t.Fatal(err)
	}
	noError(t, l.Start(t.Context()))
	return l
}

// startSynced starts a process, and waits until it has synced.
func startSynced(t *testing.T, server *shop, dir string, opts ...informer.Option) *process {
	t.Helper()
	l := begin(t, server, dir, opts...)
	noError(t, l.WaitForCacheSync(t.Context()))
	synctest.Wait()
	return l
}

// requests returns the verbs of the requests of this process.
func (l *process) requests() (verbs []string) {
	for _, r := range l.server.Requests()[l.before:] {
		verbs = append(verbs, r.Verb.String())
		if r.Verb == sourcetest.List && r.Query.Get("limit") == "1" {
			verbs[len(verbs)-1] = "version"
		}
	}
	return verbs
}

// logged reports whether a line of the log contains a text.
func (l *process) logged(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.log, func(line string) bool { return strings.Contains(line, text) })
}

// end asserts that the process has the server's state, and stops it.
func (l *process) end(t *testing.T) {
	t.Helper()
	l.journal.Check(t, l.pods)
	snapshot := l.pods.Store().Snapshot()
	want := l.server.Pods.All()
	if snapshot.Len() != len(want) {
		t.Errorf("the store has %d pods, want %d", snapshot.Len(), len(want))
	}
	for _, pod := range want {
		if got, ok := snapshot.Get(object.KeyOf(pod)); !ok || got.ResourceVersion != pod.ResourceVersion || got.UID != pod.UID {
			t.Errorf("pod %s differs from the server's", pod.Name)
		}
	}
	shutdown(t, l.Factory)
}

// newShopOfTwenty returns a server with twenty pods.
func newShopOfTwenty() *shop {
	server := newShop()
	for i := range 20 {
		server.Pods.Create(labelled("shop", numbered(i), map[string]string{"app": "web"}))
	}
	return server
}

// change moves one pod, deletes one, and creates one.
func change(server *shop) {
	server.Move(numbered(1), "node-1")
	server.Pods.Delete("shop", numbered(2))
	server.Pods.Create(pod("shop", "new", ""))
}

func TestCheckpointReplacesTheList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShopOfTwenty()
		startSynced(t, server, dir).end(t)
		change(server)
		l := startSynced(t, server, dir)
		same(t, "requests", l.requests(), []string{"watch"})
		if s := l.pods.Status(); s.Reflector.Restored == "" || s.Reflector.Restored == s.ResourceVersion || s.Streams[0].CheckpointVersion != s.Reflector.Restored {
			t.Errorf("Status() = %+v, want restored from the checkpoint, with later changes", s)
		}
		lines := l.journal.Take()
		if initial := slices.Sorted(slices.Values(lines[:20])); len(lines) != 23 || !strings.Contains(initial[0], "initial") || !strings.Contains(initial[19], "initial") {
			t.Errorf("the handler got %q, want 20 initial events and 3 changes", lines)
		}
		moved := server.Move(numbered(3), "node-2")
		synctest.Wait()
		if got, ok := l.pods.Store().Snapshot().Get(object.KeyOf(moved)); !ok || got.Spec.NodeName != "node-2" {
			t.Error("the store lacks a later change")
		}
		l.end(t)
	})
}

// TestCheckpointAsksForTheVersionIfNothingChanged shows that an informer without events confirms
// its checkpoint by the server's version.
func TestCheckpointAsksForTheVersionIfNothingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShopOfTwenty()
		startSynced(t, server, dir).end(t)
		start := time.Now()
		l := startSynced(t, server, dir)
		same(t, "requests", l.requests(), []string{"watch", "version", "watch"})
		same(t, "time", time.Since(start), 500*time.Millisecond)
		same(t, "errors", l.pods.Status().Reflector.LastError, error(nil))
		server.Move(numbered(1), "node-1")
		synctest.Wait()
		l.end(t)
	})
}

// TestCheckpointIsHiddenUntilTheServerAcceptsIt shows that the store stays empty during an outage.
func TestCheckpointIsHiddenUntilTheServerAcceptsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, server := t.TempDir(), newShopOfTwenty()
		startSynced(t, server, dir).end(t)
		change(server)
		back := server.Outage()
		l := begin(t, server, dir)
		pass(time.Minute)
		if l.pods.HasSynced() || l.pods.Store().Snapshot().Len() > 0 || len(l.journal.Take()) > 0 {
			t.Error("objects of the checkpoint are visible during the outage")
		}
		back()
		noError(t, l.WaitForCacheSync(t.Context()))
		synctest.Wait()
		for _, verb := range l.requests() {
			if verb != "watch" {
				t.Errorf("a %s request, want watches only", verb)
			}
		}
		l.end(t)
	})
}

// TestCheckpointRefusedByTheServer shows that an informer lists if the server refuses the version,
// and that nothing of the checkpoint stays.
func TestCheckpointRefusedByTheServer(t *testing.T) {
	hang := sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: sourcetest.Fail(sourcetest.ErrHang)}
	for name, prepare := range map[string]func(*shop){
		"forgotten": func(s *shop) { change(s); s.Compact() },
		"forgotten, answer 410": func(s *shop) {
			change(s)
			s.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: sourcetest.Refuse(410)})
		},
		"went back":                 func(s *shop) { s.Restore("7") },
		"went back, and is further": func(s *shop) { s.Restore("7"); change(s) },
		"too new": func(s *shop) {
			s.Restore("7")
			s.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: sourcetest.Refuse(504)})
		},
		"watch hangs": func(s *shop) { change(s); s.Inject(hang) },
		"watch is forbidden": func(s *shop) {
			change(s)
			s.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 2, Do: sourcetest.Refuse(403)})
		},
		"watch is refused": func(s *shop) {
			change(s)
			s.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: sourcetest.Refuse(400)})
		},
		"watch brings an older event": func(s *shop) {
			s.Inject(sourcetest.Fault{On: sourcetest.Watch, Times: 1, Do: func(a *sourcetest.Answer) {
				a.Events = func(e sourcetest.Event) []sourcetest.Event {
					pod := e.Object.(*corev1.Pod)
					pod.ResourceVersion = "3"
					return []sourcetest.Event{e}
				}
			}})
			change(s)
		},
	} {
		inBubble(t, name, func(t *testing.T) {
			dir, server := t.TempDir(), newShopOfTwenty()
			startSynced(t, server, dir).end(t)
			prepare(server)
			l := startSynced(t, server, dir)
			verbs := l.requests()
			if !slices.Contains(verbs, "list") && !slices.Contains(verbs, "watch-list") {
				t.Errorf("requests %q, want a list", verbs)
			}
			if s := l.pods.Status(); s.Reflector.Restored != "" || s.Reflector.Relists != 0 {
				t.Errorf("restored at %q, %d relists %v", s.Reflector.Restored, s.Reflector.Relists, s.Reflector.RelistsBy)
			}
			for _, line := range l.journal.Take() {
				if !strings.Contains(line, "initial") {
					t.Errorf("the handler got %q, want initial events only", line)
				}
			}
			l.end(t)
		})
	}
}
