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

// The tests of this file reproduce situations in which client-go's runtime is at fault, and show
// what this one does. None measures time: a test blocks one part, and then calls the other part,
// which must not wait for it.

// gated is an index whose function waits at the gate for each object of that name.
func gated(g gate, name string) *store.Index[object.Object, string] {
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
						t.Errorf("%s: %d, want 4", index.Name(), n)
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
			r.tell(0, fmt.Sprintf("~a@%d", version))
		}
		group.Wait()
	})
}

// TestFaultW08RemoveWithWaitingEvents removes a handler for which 500 events wait: none of them is
// delivered after Remove has returned, and until then Status has their number. The end of a run
// drops none: the next run delivers them.
func TestFaultW08RemoveWithWaitingEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, kept, g := record(t), record(t), newGate()
		h.before, kept.before = g.wait, g.wait
		s, keptSub := r.add(h, lately), r.add(kept, lately)
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		for version := 2; version <= 501; version++ {
			r.tell(0, fmt.Sprintf("~a@%d", version))
		}
		synctest.Wait()
		if got := s.Status(); got.Backlog != 500 || got.Callback != "OnAdd" {
			t.Errorf("status %+v, want a backlog of 500", got)
		}
		removed := make(chan struct{})
		go func() { s.Remove(); close(removed) }()
		synctest.Wait()
		if outcome.Closed(removed) {
			t.Error("Remove returned while a callback runs")
		}
		go stop()
		synctest.Wait()
		g.open()
		<-removed
		synctest.Wait()
		h.sees("=a@1")
		kept.sees("=a@1")
		if s.Status().Backlog != 0 || keptSub.Status().Backlog != 500 {
			t.Errorf("%d and %d events wait, want 0 and 500", s.Status().Backlog, keptSub.Status().Backlog)
		}
		defer r.start()()
		synctest.Wait()
		if events := strings.Fields(kept.take()); len(events) != 500 || events[499] != "~a@501" {
			t.Errorf("%d events after the stop, the last one %s", len(events), events[len(events)-1])
		}
		h.sees("")
	})
}

// TestFaultW09StalledHandler updates 10 objects 300,000 times under a handler that stands still.
// What waits for it is bounded by the number of objects, and so is the memory that this takes.
func TestFaultW09StalledHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var stalled atomic.Pointer[gate]
		g := newGate()
		stalled.Store(&g)
		h := record(t)
		h.before = func(string) { stalled.Load().wait("") }
		s := r.add(h, lately)
		defer r.start()()
		r.feed("[ =0@1 =1@1 =2@1 =3@1 =4@1 =5@1 =6@1 =7@1 =8@1 =9@1 ]@1")
		before := heap()
		r.reader.do(func(s *intake.Sink) error {
			for version := range 300_000 {
				obj := thing(fmt.Sprintf("%d@%d", version%10, version+2))
				obj.Annotations = map[string]string{"text": strings.Repeat("x", 1000)}
				if err := s.Update(obj); err != nil {
					return err
				}
			}
			return nil
		})
		synctest.Wait()
		if grown := heap() - before; grown > 2<<20 {
			t.Errorf("the heap has grown by %d kB", grown>>10)
		}
		if got := s.Status(); got.Backlog > 9+2*10 || !got.Merging {
			t.Errorf("status %+v", got)
		}
		g.open()
		synctest.Wait()
		h.agrees(r)
		if events := strings.Fields(h.take()); len(events) > 2*10 {
			t.Errorf("%d events", len(events))
		}
		if got := s.Status(); got.Backlog != 0 || got.Merging {
			t.Errorf("status %+v", got)
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
		r := newServed(t, Config{}, s)
		defer r.start()()
		r.want("a@5 at 5")
		s.feed("|@77")
		r.want("a@5 at 77")
		if at := r.Streams()[0]; at.ResourceVersion != "77" || at.Reflector.ResourceVersion != "77" {
			t.Errorf("the store stands at %s, the reflector at %s", at.ResourceVersion, at.Reflector.ResourceVersion)
		}
	})
}

// TestFaultW12IndexFunctionPanics has an index function that panics for an object: the object is
// stored, and only lookups by that index don't find it; OnError gets the panic; nothing else is
// disturbed.
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
		h := record(t)
		r.add(h, lately)
		defer r.start()()
		keys := func(want string, objects int) {
			t.Helper()
			got := slices.Sorted(index.Keys(r.snapshot()))
			if strings.Join(got, " ") != want || index.Len(r.snapshot(), "all") != objects {
				t.Errorf("keys %q, %d objects under all", got, index.Len(r.snapshot(), "all"))
			}
		}
		r.feed("[ =a@1 =b@2 =c@3 ]@4 ~a@5 ~b@6") // b in a full state, and in a change
		r.want("a@5 b@6 c@3 at 6")
		h.sees("=a@1 =b@2 =c@3 ~a@5 ~b@6")
		keys("a5 all c3", 2)
		want := `informer things: the function of index "Weak" panicked for ns/b, which this index lacks now: no b`
		if len(reported) != 2 || reported[0].Error() != want || reported[1].Error() != want {
			t.Errorf("reported %q", reported)
		}
		r.feed("~b@7") // it comes back
		keys("a5 all b7 c3", 3)
		r.feed("~b@8") // and goes again
		keys("a5 all c3", 2)
		r.feed("-b@9 -a@10") // a deletion has nothing to report
		keys("all c3", 1)
		r.want("c@3 at 10")
		if len(reported) != 3 {
			t.Errorf("%d reports", len(reported))
		}
		h.agrees(r)
	})
}

// TestFaultW12SlowIndexFunction has an index function that does not return: readers, new handlers
// and deliveries go on.
func TestFaultW12SlowIndexFunction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		index := gated(g, "slow")
		r := newRig(t, index)
		h, hold := record(t), newGate()
		h.before = hold.wait
		r.add(h, lately)
		stop := r.start()
		r.feed("[ =a@1 =b@1 ]@1 ~a@2")
		r.feed("+slow@3 ~b@4")
		r.want("a@2 b@1 at 2")
		if n := index.Len(r.snapshot(), "a"); n != 1 {
			t.Errorf("%d objects", n)
		}
		late := record(t)
		r.add(late, lately)
		synctest.Wait()
		late.sees("=a@2 =b@1")
		hold.open()
		synctest.Wait()
		h.sees("=a@1 =b@1 ~a@2")
		_, _, _ = r.Handlers(), r.Streams(), r.Claimed()
		g.open()
		synctest.Wait()
		late.sees("+slow@3 ~b@4")
		stop()
	})
}

// TestAnIndexFunctionWithAKeyThatCanNotBeOne shows that an object has no keys at all in an index if
// one of its keys can't be hashed.
func TestAnIndexFunctionWithAKeyThatCanNotBeOne(t *testing.T) {
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
