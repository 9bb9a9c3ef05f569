// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// bubble runs a test in a synctest bubble. Time stands still while a goroutine can run, and
// synctest.Wait, which rig calls after each feed, returns when every possible delivery is done. So
// no test depends on the speed of goroutines.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

func TestPromise01StreamBecomesEvents(t *testing.T) {
	for _, test := range []struct {
		name, before, feed string
		events, stored     string
	}{
		{"the first full state is initial", "", "[ =a@1 =b@2 ]@5", "=a@1 =b@2", "a@1 b@2 at 5"},
		{"an incomplete full state is not visible", "", "[ =a@1 =b@2", "", " at "},
		{"an empty full state", "", "[ ]@5", "", " at 5"},
		{"an object listed twice: the last state counts", "", "[ =a@1 =b@1 =a@2 ]@5", "=a@2 =b@1", "a@2 b@1 at 5"},
		{"deleted within the first full state", "", "[ =a@1 =b@1 -a@2 ]@5", "=b@1", "b@1 at 5"},
		{"aborted, then complete", "", "[ =a@1 ! [ =b@1 ]@5", "=b@1", "b@1 at 5"},
		{"changes", "[ =a@1 ]@5", "+b@6 ~a@7 ~b@8 -a@9 +a@10", "+b@6 ~a@7 ~b@8 -a@9 +a@10", "a@10 b@8 at 10"},
		{"a bookmark", "[ =a@1 ]@5", "|@9", "", "a@1 at 9"},
		{"an event without a change", "[ =a@1 ]@5", "~a@1 |@6", "", "a@1 at 6"},
		{"an addition of a known object is an update", "[ =a@1 ]@5", "+a@6", "~a@6", "a@6 at 6"},
		{"an update of an unknown object is an addition", "[ ]@5", "~a@6", "+a@6", "a@6 at 6"},
		{"a deletion of an unknown object", "[ ]@5", "-a@6", "", " at 6"},
		{"a change of UID is a deletion and an addition", "[ =a/1@1 ]@5", "~a/2@6", "-a/1@1? +a/2@6", "a/2@6 at 6"},
		{"the deletion of an unseen successor", "[ =a/1@1 ]@5", "-a/2@6", "-a/1@1?", " at 6"},
		{"a deletion has the final state", "[ =a/1@1 ]@5", "-a/1@6", "-a/1@6", " at 6"},

		{"a relist without changes", "[ =a@1 =b@2 ]@5", "[ =a@1 =b@2 ]@9", "", "a@1 b@2 at 9"},
		{"a relist", "[ =a@1 =b@2 =c@3 ]@5", "[ =a@1 =b@7 =d@8 ]@9", "-c@3? ~b@7 +d@8", "a@1 b@7 d@8 at 9"},
		{"a relist with another UID", "[ =a/1@1 ]@5", "[ =a/2@7 ]@9", "-a/1@1? +a/2@7", "a/2@7 at 9"},
		{"a relist with another UID of the same version", "[ =a/1@1 ]@5", "[ =a/2@1 ]@9", "-a/1@1? +a/2@1", "a/2@1 at 9"},
		{"deleted within a relist", "[ =a@1 =b@1 ]@5", "[ =a@1 -a@8 =b@1 ]@9", "-a@8", "b@1 at 9"},
		{"an aborted relist", "[ =a@1 =b@2 ]@5", "[ =a@7 =c@8 !", "", "a@1 b@2 at 5"},
		{"a relist that begins again", "[ =a@1 ]@5", "[ =b@7 [ =a@1 =c@8 ]@9", "+c@8", "a@1 c@8 at 9"},
		{"an open relist", "[ =a@1 ]@5", "~a@6 [ =b@7", "~a@6", "a@6 at 6"},
		{"a relist without objects", "[ =a@1 =b@2 ]@5", "[ ]@9", "-a@1? -b@2?", " at 9"},
		{"changes after a relist", "[ =a@1 ]@5", "[ ]@9 +a@10 ~a@11", "-a@1? +a@10 ~a@11", "a@11 at 11"},
		{"a resourceVersion that goes backwards", "[ =a@7 ]@9", "[ =a@3 ]@4", "~a@3", "a@3 at 4"},
		{"ends without a full state", "[ =a@1 ]@5", "! ]@9 |@7", "", "a@1 at 7"},

		{"changes before the first full state", "", "+a@1 ~a@2 |@3 -a@4", "", " at "},
		{"changes before the first full state are dropped", "+a@1 +b@2", "[ =a@1 =c@3 ]@5", "=a@1 =c@3", "a@1 c@3 at 5"},
		{"an aborted first full state, and changes", "[ =a@1 !", "+b@2 [ =b@2 ]@3", "=b@2", "b@2 at 3"},
		{"changes, a full state and changes at once", "[ =a/1@1 ]@5", "~a/1@6 [ =a/2@7 ]@8 ~a/2@9", "~a/1@6 -a/1@6? +a/2@7 ~a/2@9", "a/2@9 at 9"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			r := newRig(t)
			h := newRecorder(t)
			r.add(h, handlerConfig)
			defer r.start()()
			r.feed(test.before)
			h.take()
			r.feed(test.feed)
			h.wantEvents(test.events)
			r.wantStored(test.stored)
			h.wantTable(r)
		})
	}
}

func TestSyncedWithTheFirstFullState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		s := r.add(h, handlerConfig)
		defer r.start()()
		check := func(want bool) {
			t.Helper()
			if r.HasSynced() != want || s.HasSynced() != want {
				t.Errorf("informer synced %v, handler synced %v, want %v", r.HasSynced(), s.HasSynced(), want)
			}
		}
		r.feed("[ =a@1")
		check(false)
		r.feed("!")
		check(false)
		r.feed("[ =b@1 ]@2")
		check(true)
		r.feed("[ =c@1 !")
		check(true)
	})
}

func TestHandlerSyncsWhenItsInitialObjectsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		release := make(chan struct{})
		h.before = func(string) { <-release }
		s := r.add(h, handlerConfig)
		defer r.start()()
		r.feed("[ =a@1 =b@1 ]@2")
		release <- struct{}{}
		synctest.Wait()
		if !r.HasSynced() || s.HasSynced() {
			t.Errorf("after one of two callbacks: informer synced %v, handler synced %v; want true, false", r.HasSynced(), s.HasSynced())
		}
		r.feed("~a@3") // waits behind the initial objects
		release <- struct{}{}
		synctest.Wait()
		if !s.HasSynced() {
			t.Error("the handler has not synced after both callbacks")
		}
		close(release)
	})
}

func byName() *store.Index[object.Object, string] {
	return store.NewIndex("ByName", func(obj object.Object, keys []string) []string { return append(keys, obj.GetName()) })
}

func TestAddIndexes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, third := byName(), store.NewIndex("ByUID", func(obj object.Object, keys []string) []string {
			return append(keys, string(obj.GetUID()))
		}), store.NewIndex("Nothing", func(_ object.Object, keys []string) []string { return keys })
		r := newRig(t, first)
		defer r.start()()
		has := func(names ...string) {
			t.Helper()
			for _, index := range []*store.Index[object.Object, string]{first, second, third} {
				_, got := r.Table().Version().IndexKeys(index.Bind().ID())
				if want := slices.Contains(names, index.Name()); got != want {
					t.Errorf("the table has index %s: %v, want %v", index.Name(), got, want)
				}
			}
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		fails := func(want string, err error) {
			t.Helper()
			if err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		has("ByName")
		must(r.AddIndexes(first, first))
		fails(`two indexes have the name "ByName"`, r.AddIndexes(second, byName()))
		fails("index 2 is nil", r.AddIndexes(second, nil))
		fails("index 1 is nil", r.AddIndexes((*store.Index[object.Object, string])(nil)))
		has("ByName")

		// While a full state is read:
		r.feed("[ =a/7@1")
		must(r.AddIndexes(second))
		has("ByName", "ByUID")
		r.feed("!")
		has("ByName", "ByUID")
		must(r.AddIndexes(second))
		r.feed("[ =a/7@1 =b/7@2")
		must(r.AddIndexes(third))
		must(r.AddIndexes(third))
		r.feed("]@3")
		has("ByName", "ByUID", "Nothing")
		snapshot := store.View[object.Object](r.Table()).Snapshot()
		if n := second.Len(snapshot, "7"); n != 2 {
			t.Errorf("%d objects with UID 7, want 2", n)
		}
	})
}

// TestAddIndexesTakesNoLockForExistingIndexes calls AddIndexes like the generated Lister methods.
// The timeout matters only if the test fails.
func TestAddIndexesTakesNoLockForExistingIndexes(t *testing.T) {
	index := byName()
	r := newRig(t, index)
	r.mu.Lock() // a batch is being published
	defer r.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- r.AddIndexes(index, index) }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("AddIndexes waits for the batch")
	}
}

// TestAddIndexesPanicReachesTheCaller shows that a panic of an index function leaves the informer
// usable.
func TestAddIndexesPanicReachesTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 ]@2")
		bad := store.NewIndex("Bad", func(object.Object, []string) []string { panic("bad") })
		func() {
			defer func() {
				if recover() == nil {
					t.Error("AddIndexes has not panicked")
				}
			}()
			_ = r.AddIndexes(bad)
		}()
		r.feed("~a@3")
		r.wantStored("a@3 at 3")
	})
}
