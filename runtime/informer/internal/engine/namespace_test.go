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
		h := record(t)
		s := r.add(h, lately)
		h.sub = s
		stop := r.start()
		r.feed("[ =a/1@4 ]@5")
		h.sees("=a/1@4")
		r.want("a/1@4 at 5")

		// What a namespace that is added brings is no initial object: the handler has synced.
		r.addNamespace("two")
		r.addNamespace("two") // does nothing
		r.standsAt(" one=5 two=")
		r.feedTo(1, "[ =x/1@7 =y/1@8 ]@9 ~x/1@10")
		h.sees("+x/1@7 +y/1@8 ~x/1@10")
		r.standsAt("5 one=5 two=10")
		if err := r.Table().Version().NotSynced("two"); err != nil {
			t.Error(err)
		}

		// Removing deletes its objects, and nothing else; the first stream can be removed, too.
		r.removeNamespace("one")
		synctest.Wait()
		h.sees("-a/1@4?")
		r.standsAt("10 two=10")
		r.feed("-y/1@11")
		h.sees("-y/1@11")
		r.removeNamespace("one") // does nothing
		r.removeNamespace("two")
		synctest.Wait()
		h.sees("-x/1@10?")
		r.want(" at ")
		h.agrees(r)

		// Added while the informer is stopped, it is read in the next run.
		stop()
		r.addNamespace("one")
		defer r.start()()
		r.feed("[ =a/1@20 ]@20")
		h.sees("+a/1@20")
		r.standsAt("20 one=20")
		if got := r.Streams(); len(got) != 1 || got[0].Namespace != "one" || !got[0].Synced || got[0].Objects != 1 {
			t.Errorf("status %+v", got)
		}
		h.agrees(r)
		late := record(t)
		r.add(late, lately)
		synctest.Wait()
		late.sees("=a/1@20")
	})
}

// TestNamespacesBeforeTheFirstRun shows that a namespace that was added or removed before the first
// run is like one of the constructor.
func TestNamespacesBeforeTheFirstRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one")
		h := record(t)
		s := r.add(h, lately)
		r.addNamespace("two")
		r.removeNamespace("one")
		r.addNamespace("three")
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		if r.HasSynced() {
			t.Error("synced without namespace three")
		}
		r.feedTo(1, "[ =b@2 ]@2")
		h.sees("=a@1 =b@2")
		if !r.HasSynced() || !s.HasSynced() {
			t.Error("not synced")
		}
		r.standsAt("1 two=1 three=2")
	})
}

// TestRemovedBeforeItSynced shows that an informer syncs when the last namespace that had not is
// removed, also with none left, and that a removed namespace keeps nothing of its full state.
func TestRemovedBeforeItSynced(t *testing.T) {
	for _, namespaces := range []string{"one", "one two"} {
		bubble(t, namespaces, func(t *testing.T) {
			r := newRigOf(t, Config{}, strings.Fields(namespaces)...)
			h := record(t)
			s := r.add(h, lately)
			stop := r.start()
			if len(r.readers) == 2 {
				r.feedTo(1, "[ =b@2 ]@2")
			}
			r.feedTo(0, "[ =a@1")
			if r.HasSynced() || s.HasSynced() {
				t.Error("synced already")
			}
			r.removeNamespace("one")
			synctest.Wait()
			if !r.HasSynced() || !s.HasSynced() {
				t.Error("not synced")
			}
			h.agrees(r)
			stop()
			lease := r.acquire(t.Context()) // a run without streams of which one is unsynced
			if len(r.readers) == 0 && !lease.HasSynced() {
				t.Error("the lease has not synced")
			}
			r.release(lease)
		})
	}
}

// TestAwaitsOfARemovedNamespace shows that waits end with the namespace. An object of which
// only the end is awaited lives on, on the server, so its deletion was not seen.
func TestAwaitsOfARemovedNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		defer r.start()()
		r.feedTo(0, "[ =a/1@1 ]@3")
		r.feedTo(1, "[ ]@9")
		results := map[string]error{}
		done := make(chan func())
		for name, wait := range map[string]func() error{
			"object":  func() error { return r.AwaitObject(t.Context(), in("one", "a"), "8") },
			"deleted": func() error { return r.AwaitDeleted(t.Context(), in("one", "a"), "1", "8") },
			"gone":    func() error { return r.AwaitDeleted(t.Context(), in("one", "a"), "1", "3") },
			"version": func() error { return r.AwaitResourceVersion(t.Context(), "8") },
		} {
			go func() {
				err := wait()
				done <- func() { results[name] = err }
			}()
		}
		called := false
		if _, err := r.AfterObject(in("one", "a"), "8", func() { called = true }); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.removeNamespace("one")
		for range 4 {
			(<-done)()
		}
		synctest.Wait()
		if !errors.Is(results["object"], errRemoved) || !errors.Is(results["deleted"], errRemoved) || !errors.Is(results["gone"], errRemoved) || results["version"] != nil || !called {
			t.Errorf("%v, AfterObject called: %v", results, called)
		}
		if err := r.AwaitObject(t.Context(), in("one", "a"), "1"); err == nil || !strings.HasSuffix(err.Error(), `the informer does not read namespace "one"`) {
			t.Errorf("AwaitObject: %v", err)
		}
	})
}

// TestRemovedWhileItHangs shows that a namespace whose source does not return is removed
// nevertheless, that it changes nothing afterwards, and that it can be added again meanwhile.
func TestRemovedWhileItHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one")
		h := record(t)
		r.add(h, lately)
		stop := r.start()
		r.feed("[ =a/1@1 ]@2")
		let := make(chan struct{})
		r.readers[0].steps <- func(s *intake.Sink) error {
			<-let
			return say(s, "+z/1@3")
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
		close(let)
		synctest.Wait()
		h.sees("=a/1@1 -a/1@1? +a/2@8")
		r.standsAt("9 one=9")
		stop()
		h.agrees(r)
	})
}

// TestRemovedFromAHandler shows that a handler can remove a namespace, while its publisher waits
// for the handler to catch up, and what was queued is dropped.
func TestRemovedFromAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "one", "two")
		h := record(t)
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
			if err := say(s, "+b@10"); err != nil {
				return err
			}
			for n := range 4 * deltafifo.DefaultCapacity {
				if err := s.Update(thingIn("one", "b@"+string(rune('A'+n%26)))); err != nil {
					return nil //nolint:nilerr // the queue is closed
				}
			}
			return nil
		}
		synctest.Wait()
		if !removed {
			t.Error("RemoveNamespace has not returned")
		}
		h.agrees(r)
		if n := r.intake.Queued(); n != 0 {
			t.Errorf("%d deltas are queued", n)
		}
	})
}

// TestManyNamespacesAreAdded shows that those that are added start a few at a time, too.
func TestManyNamespacesAreAdded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i, most := manySlow(t, 1, func(int, context.Context) error { time.Sleep(100 * time.Millisecond); return nil })
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
			t.Errorf("%d lists were read at once", n)
		}
		for _, s := range i.Streams() {
			if !s.Synced {
				t.Errorf("%q has not synced", s.Namespace)
			}
		}
		if err := lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
