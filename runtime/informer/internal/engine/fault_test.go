// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// These tests reproduce faults of client-go's runtime, and show that this one does not have them.
// None measures time: a test blocks one part, and then calls another part, which must not wait.

// gatedIndex returns an index whose function waits at the gate for each object of that name.
func gatedIndex(g gate, name string) *store.Index[object.Object, string] {
	return store.NewIndex("Gated", func(obj object.Object, keys []string) []string {
		if obj.GetName() == name {
			g.wait("")
		}
		return append(keys, obj.GetName())
	})
}

func (r *rig) snapshot() *store.Snapshot[object.Object] {
	return store.View[object.Object](r.Table()).Snapshot()
}

// TestFaultW07AddIndexesWhileReading adds indexes while other goroutines query them and objects
// change. A reader gets the same answer before, while and after the index is added.
func TestFaultW07AddIndexesWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 =b@2 =c@3 ]@4")
		indexes := make([]*store.Index[object.Object, string], 40)
		for n := range indexes {
			indexes[n] = store.NewIndex(fmt.Sprint("By", n), func(obj object.Object, keys []string) []string { return append(keys, obj.GetName()) })
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				for _, index := range indexes {
					s := r.snapshot()
					if n := index.Len(s, "a") + len(slices.Collect(index.Keys(s))); n != 4 {
						t.Errorf("index %s: %d objects and keys, want 4", index.Name(), n)
					}
				}
			})
		}
		for part := range slices.Chunk(indexes, 10) {
			group.Go(func() {
				for _, index := range part {
					if err := r.AddIndexes(index); err != nil {
						t.Error(err)
					}
				}
			})
		}
		for version := 5; version < 50; version++ {
			r.sendTo(0, fmt.Sprintf("~a@%d", version))
		}
		group.Wait()
	})
}

// TestFaultW08RemoveWithWaitingEvents removes a handler for which 500 events wait. None of them is
// delivered after Remove has returned, and until then Status counts them. The end of a run drops no
// events: the next run delivers them.
func TestFaultW08RemoveWithWaitingEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, kept, g := newRecorder(t), newRecorder(t), newGate()
		h.before, kept.before = g.wait, g.wait
		s, keptSub := r.add(h, handlerConfig), r.add(kept, handlerConfig)
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		for version := 2; version <= 501; version++ {
			r.sendTo(0, fmt.Sprintf("~a@%d", version))
		}
		synctest.Wait()
		if got := s.Status(); got.Backlog != 500 || got.Callback != "OnAdd" {
			t.Errorf("status %+v, want a backlog of 500", got)
		}
		removed := make(chan struct{})
		go func() { s.Remove(); close(removed) }()
		synctest.Wait()
		if outcome.Closed(removed) {
			t.Error("Remove has returned during a callback")
		}
		go stop()
		synctest.Wait()
		g.open()
		<-removed
		synctest.Wait()
		h.wantEvents("=a@1")
		kept.wantEvents("=a@1")
		if s.Status().Backlog != 0 || keptSub.Status().Backlog != 500 {
			t.Errorf("%d events wait for the removed handler, %d for the other; want 0 and 500", s.Status().Backlog, keptSub.Status().Backlog)
		}
		defer r.start()()
		synctest.Wait()
		if events := strings.Fields(kept.take()); len(events) != 500 || events[499] != "~a@501" {
			t.Errorf("%d events in the next run, the last one %s; want 500, ~a@501", len(events), events[len(events)-1])
		}
		h.wantEvents("")
	})
}

// TestFaultW09StalledHandler updates 10 objects 300,000 times during one callback. The handler's
// backlog is bounded by the number of objects, and so is the memory.
func TestFaultW09StalledHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var stalled atomic.Pointer[gate]
		g := newGate()
		stalled.Store(&g)
		h := newRecorder(t)
		h.before = func(string) { stalled.Load().wait("") }
		s := r.add(h, handlerConfig)
		defer r.start()()
		r.feed("[ =0@1 =1@1 =2@1 =3@1 =4@1 =5@1 =6@1 =7@1 =8@1 =9@1 ]@1")
		before := heap()
		r.reader.do(func(s *intake.Sink) error {
			for version := range 300_000 {
				obj := newObject(fmt.Sprintf("%d@%d", version%10, version+2))
				obj.Annotations = map[string]string{"text": strings.Repeat("x", 1000)}
				if err := s.Update(obj); err != nil {
					return err
				}
			}
			return nil
		})
		synctest.Wait()
		if grown := heap() - before; grown > 2<<20 {
			t.Errorf("the heap has grown by %d kB, want at most 2048", grown>>10)
		}
		if got := s.Status(); got.Backlog > 9+2*10 || !got.Merging {
			t.Errorf("Status() = %+v, want at most 29 waiting events, merging", got)
		}
		g.open()
		synctest.Wait()
		h.wantTable(r)
		if events := strings.Fields(h.take()); len(events) > 2*10 {
			t.Errorf("%d events, want at most 20", len(events))
		}
		if got := s.Status(); got.Backlog != 0 || got.Merging {
			t.Errorf("Status() after catching up = %+v", got)
		}
	})
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestFaultW11BookmarkReachesTheStore shows that bookmarks move the store's version in the order of
// the stream.
func TestFaultW11BookmarkReachesTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("ns")
		s.has("a@5")
		r := newSourceRig(t, Config{}, s)
		defer r.start()()
		r.wantStored("a@5 at 5")
		s.feed("|@77")
		r.wantStored("a@5 at 77")
		if at := r.Streams()[0]; at.ResourceVersion != "77" || at.Reflector.ResourceVersion != "77" {
			t.Errorf("the store is at %s, the reflector at %s; want 77", at.ResourceVersion, at.Reflector.ResourceVersion)
		}
	})
}

// TestFaultW12IndexFunctionPanics has an index function that panics for an object. The object is
// stored, and only lookups by that index miss it. OnError gets the panic.
func TestFaultW12IndexFunctionPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := store.NewIndex("Weak", func(obj object.Object, keys []string) []string {
			if obj.GetName() == "b" && obj.GetResourceVersion() != "7" {
				panic("no b")
			}
			return append(keys, obj.GetName()+obj.GetResourceVersion(), "all")
		})
		var reported []error
		r := newRigOf(t, Config{Indexes: []intake.Indexer{index, byName()}, OnError: func(_ string, err error) { reported = append(reported, err) }}, "")
		h := newRecorder(t)
		r.add(h, handlerConfig)
		defer r.start()()
		keys := func(want string, objects int) {
			t.Helper()
			got := slices.Sorted(index.Keys(r.snapshot()))
			if strings.Join(got, " ") != want || index.Len(r.snapshot(), "all") != objects {
				t.Errorf("keys %q, %d objects under all; want %q, %d", got, index.Len(r.snapshot(), "all"), want, objects)
			}
		}
		r.feed("[ =a@1 =b@2 =c@3 ]@4 ~a@5 ~b@6") // b in a full state, and in a change
		r.wantStored("a@5 b@6 c@3 at 6")
		h.wantEvents("=a@1 =b@2 =c@3 ~a@5 ~b@6")
		keys("a5 all c3", 2)
		want := `informer things: the function of index "Weak" panicked for ns/b, so the index lacks this object: no b`
		if len(reported) != 2 || reported[0].Error() != want || reported[1].Error() != want {
			t.Errorf("OnError got %q, want %q twice", reported, want)
		}
		r.feed("~b@7") // the function returns a key
		keys("a5 all b7 c3", 3)
		r.feed("~b@8") // it panics again
		keys("a5 all c3", 2)
		r.feed("-b@9 -a@10") // no panic is reported for a deletion
		keys("all c3", 1)
		r.wantStored("c@3 at 10")
		if len(reported) != 3 {
			t.Errorf("OnError was called %d times, want 3", len(reported))
		}
		h.wantTable(r)
	})
}

// TestFaultW12SlowIndexFunction has an index function that does not return. Readers, new handlers
// and deliveries do not wait for it.
func TestFaultW12SlowIndexFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		index := gatedIndex(g, "slow")
		r := newRig(t, index)
		h, hold := newRecorder(t), newGate()
		h.before = hold.wait
		r.add(h, handlerConfig)
		stop := r.start()
		r.feed("[ =a@1 =b@1 ]@1 ~a@2")
		r.feed("+slow@3 ~b@4")
		r.wantStored("a@2 b@1 at 2")
		if n := index.Len(r.snapshot(), "a"); n != 1 {
			t.Errorf("the index has %d objects under a, want 1", n)
		}
		lateHandler := newRecorder(t)
		r.add(lateHandler, handlerConfig)
		synctest.Wait()
		lateHandler.wantEvents("=a@2 =b@1")
		hold.open()
		synctest.Wait()
		h.wantEvents("=a@1 =b@1 ~a@2")
		_, _, _ = r.Handlers(), r.Streams(), r.Running()
		g.open()
		synctest.Wait()
		lateHandler.wantEvents("+slow@3 ~b@4")
		stop()
	})
}

// TestIndexFunctionReturnsUnhashableKey shows that an object has no keys in an index if one of them
// can't be hashed.
func TestIndexFunctionReturnsUnhashableKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		index := store.NewIndex("any", func(obj object.Object, keys []any) []any {
			if obj.GetResourceVersion() == "2" {
				return append(keys, "first", []string{"second"})
			}
			return append(keys, obj.GetName())
		})
		r := newRig(t, index)
		defer r.start()()
		keys := func(want ...any) {
			t.Helper()
			got := slices.Collect(index.Keys(store.View[object.Object](r.Table()).Snapshot()))
			if len(got) != len(want) || len(got) > 0 && got[0] != want[0] {
				t.Errorf("keys %v, want %v", got, want)
			}
		}
		r.feed("[ =a@1 ]@1")
		keys("a")
		r.feed("~a@2")
		keys()
		r.feed("~a@3")
		keys("a")
		r.feed("~a@2 -a@4")
		keys()
	})
}
