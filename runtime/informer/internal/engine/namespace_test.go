// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/deltafifo"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
)

func TestNamespacesComeAndGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one")
		h := newRecorder(t)
		s := r.add(h, handlerConfig)
		h.sub = s
		stop := r.start()
		r.feed("[ =a/1@4 ]@5")
		h.wantEvents("=a/1@4")
		r.wantStored("a/1@4 at 5")

		// The objects of an added namespace are not initial: the handler has synced.
		r.addNamespace("two")
		r.addNamespace("two") // does nothing
		r.wantVersions(" one=5 two=")
		r.feedTo(1, "[ =x/1@7 =y/1@8 ]@9 ~x/1@10")
		h.wantEvents("+x/1@7 +y/1@8 ~x/1@10")
		r.wantVersions("5 one=5 two=10")
		if err := r.Table().Version().NotSynced("two"); err != nil {
			t.Error(err)
		}

		// A removal deletes the namespace's objects only. The first stream can be removed, too.
		r.removeNamespace("one")
		synctest.Wait()
		h.wantEvents("-a/1@4?")
		r.wantVersions("10 two=10")
		r.feed("-y/1@11")
		h.wantEvents("-y/1@11")
		r.removeNamespace("one") // does nothing
		r.removeNamespace("two")
		synctest.Wait()
		h.wantEvents("-x/1@10?")
		r.wantStored(" at ")
		h.wantTable(r)

		// A namespace added while the informer is stopped is read in the next run.
		stop()
		r.addNamespace("one")
		defer r.start()()
		r.feed("[ =a/1@20 ]@20")
		h.wantEvents("+a/1@20")
		r.wantVersions("20 one=20")
		if got := r.Streams(); len(got) != 1 || got[0].Namespace != "one" || !got[0].Synced || got[0].Objects != 1 {
			t.Errorf("Streams() = %+v, want one synced object in one", got)
		}
		h.wantTable(r)
		lateHandler := newRecorder(t)
		r.add(lateHandler, handlerConfig)
		synctest.Wait()
		lateHandler.wantEvents("=a/1@20")
	})
}

// TestNamespacesBeforeTheFirstRun shows that namespaces added before the first run are like those
// of the constructor.
func TestNamespacesBeforeTheFirstRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one")
		h := newRecorder(t)
		s := r.add(h, handlerConfig)
		r.addNamespace("two")
		r.removeNamespace("one")
		r.addNamespace("three")
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		if r.HasSynced() {
			t.Error("HasSynced() = true without namespace three")
		}
		r.feedTo(1, "[ =b@2 ]@2")
		h.wantEvents("=a@1 =b@2")
		if !r.HasSynced() || !s.HasSynced() {
			t.Error("the informer or its handler has not synced")
		}
		r.wantVersions("1 two=1 three=2")
	})
}

// TestNamespaceRemovedBeforeItSynced shows that an informer syncs when its last unsynced namespace
// is removed, even if none is left, and that nothing of the incomplete full state stays.
func TestNamespaceRemovedBeforeItSynced(t *testing.T) {
	for _, namespaces := range []string{"one", "one two"} {
		bubble(t, namespaces, func(t *testing.T) {
			r := newRigOf(t, Config{}, strings.Fields(namespaces)...)
			h := newRecorder(t)
			s := r.add(h, handlerConfig)
			stop := r.start()
			if len(r.readers) == 2 {
				r.feedTo(1, "[ =b@2 ]@2")
			}
			r.feedTo(0, "[ =a@1")
			if r.HasSynced() || s.HasSynced() {
				t.Error("synced before the removal")
			}
			r.removeNamespace("one")
			synctest.Wait()
			if !r.HasSynced() || !s.HasSynced() {
				t.Error("the informer or its handler has not synced")
			}
			h.wantTable(r)
			stop()
			lease := r.acquire(t.Context()) // a run without unsynced streams, if none is left
			if len(r.readers) == 0 && !lease.HasSynced() {
				t.Error("the lease has not synced")
			}
			r.release(lease)
		})
	}
}

// TestAwaitEndsWithItsNamespace shows that waits for a removed namespace return an error, also
// AwaitDeleted: on the server, the object lives on.
func TestAwaitEndsWithItsNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		defer r.start()()
		r.feedTo(0, "[ =a/1@1 ]@3")
		r.feedTo(1, "[ ]@9")
		results := map[string]error{}
		done := make(chan func())
		for name, wait := range map[string]func() error{
			"object":  func() error { return r.AwaitObject(t.Context(), keyOf("one", "a"), "8") },
			"deleted": func() error { return r.AwaitDeleted(t.Context(), keyOf("one", "a"), "1", "8") },
			"gone":    func() error { return r.AwaitDeleted(t.Context(), keyOf("one", "a"), "1", "3") },
			"version": func() error { return r.AwaitResourceVersion(t.Context(), "8") },
		} {
			go func() {
				err := wait()
				done <- func() { results[name] = err }
			}()
		}
		called := false
		if _, err := r.AfterObject(keyOf("one", "a"), "8", func() { called = true }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.removeNamespace("one")
		for range 4 {
			(<-done)()
		}
		synctest.Wait()
		if !errors.Is(results["object"], errRemoved) || !errors.Is(results["deleted"], errRemoved) || !errors.Is(results["gone"], errRemoved) || results["version"] != nil || !called {
			t.Errorf("errors %v, AfterObject called its function: %v", results, called)
		}
		if err := r.AwaitObject(t.Context(), keyOf("one", "a"), "1"); err == nil || !strings.HasSuffix(err.Error(), `the informer does not read namespace "one"`) {
			t.Errorf("AwaitObject: %v", err)
		}
	})
}

// TestNamespaceRemovedWhileItsSourceHangs shows that a namespace whose Source does not return is
// removed nevertheless, changes nothing afterwards, and can be added again meanwhile.
func TestNamespaceRemovedWhileItsSourceHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one")
		h := newRecorder(t)
		r.add(h, handlerConfig)
		stop := r.start()
		r.feed("[ =a/1@1 ]@2")
		release := make(chan struct{})
		r.readers[0].steps <- func(s *intake.Sink) error {
			<-release
			return send(s, "+z/1@3")
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := r.RemoveNamespace(ctx, "one")
		const want = "informer things: RemoveNamespace: context deadline exceeded: the Source of things, or a function that its reader calls, has not returned"
		if !errors.Is(err, context.DeadlineExceeded) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		r.readers = nil
		r.addNamespace("one")
		r.feed("[ =a/2@8 ]@9")
		close(release)
		synctest.Wait()
		h.wantEvents("=a/1@1 -a/1@1? +a/2@8")
		r.wantVersions("9 one=9")
		stop()
		h.wantTable(r)
	})
}

// TestNamespaceRemovedByAHandler shows that a handler can remove a namespace while the publisher
// waits for this handler, and that the namespace's queued deltas are dropped.
func TestNamespaceRemovedByAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		h := newRecorder(t)
		removed := false
		h.before = func(event string) {
			if event == "+b@10" {
				if err := r.RemoveNamespace(t.Context(), "one"); err != nil {
					t.Error(err)
				}
				removed = true
			}
		}
		r.add(h, fanout.HandlerConfig{Threshold: 128})
		defer r.start()()
		r.feedTo(1, "[ =z@1 ]@1")
		r.feedTo(0, "[ =a@1 ]@1")
		r.readers[0].steps <- func(s *intake.Sink) error {
			if err := send(s, "+b@10"); err != nil {
				return err
			}
			for n := range 4 * deltafifo.DefaultCapacity {
				if err := s.Update(newObjectIn("one", "b@"+string(rune('A'+n%26)))); err != nil {
					return nil //nolint:nilerr // the queue is closed
				}
			}
			return nil
		}
		synctest.Wait()
		if !removed {
			t.Error("RemoveNamespace has not returned")
		}
		h.wantTable(r)
		if n := r.intake.Queued(); n != 0 {
			t.Errorf("Queued() = %d, want 0", n)
		}
	})
}

// TestManyNamespacesAreAdded shows that added namespaces start a few at a time, too.
func TestManyNamespacesAreAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, most := newSlowInformer(t, 1, func(int, context.Context) error { time.Sleep(100 * time.Millisecond); return nil })
		lease, err := i.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for n := range 100 {
			if err := i.AddNamespace("more-" + strings.Repeat("x", n)); err != nil {
				t.Fatal(err)
			}
		}
		if err := WaitForCacheSync(t.Context(), nil, Wait{Informer: i}); err != nil {
			t.Error(err)
		}
		if n := most.Load(); n > 2*maxStarting {
			t.Errorf("%d lists at once, want at most %d", n, 2*maxStarting)
		}
		for _, s := range i.Streams() {
			if !s.Synced {
				t.Errorf("namespace %q has not synced", s.Namespace)
			}
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
