// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestFaultW16RunsAtOnce calls Run and Acquire from many goroutines: at any time there is one run,
// and nothing is left.
func TestFaultW16RunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := record(t)
		r.add(h, lately)
		var ran atomic.Int32
		ended := make(chan error, 20)
		for range 20 {
			go func() {
				err := r.Run(t.Context())
				if err != ErrRunning {
					ran.Add(1)
				}
				ended <- err
			}()
		}
		synctest.Wait()
		if len(ended) != 19 {
			t.Errorf("%d of 20 Runs at once have ended, want all but one", len(ended))
		}
		var group sync.WaitGroup
		for range 20 {
			group.Go(func() {
				l, err := r.Acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if err := l.Release(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		r.runs(true)
		r.feed("[ =a@1 ]@1")
		h.sees("=a@1")
		r.reader.steps <- func(*intake.Sink) error { return errStop }
		synctest.Wait()
		if ran.Load() != 1 || len(ended) != 20 {
			t.Errorf("%d of 20 Runs have run", ran.Load())
		}
		r.runs(false) // and the bubble would not end if a goroutine were left
	})
}

// small is an object that takes little memory.
type small struct {
	object.Object
	name string
}

func (s *small) GetName() string { return s.name }

func manySmall(n int) []object.Object {
	shared := thing("shared@1")
	all := make([]object.Object, n)
	for i := range all {
		all[i] = &small{shared, fmt.Sprint("name-", i)}
	}
	return all
}

// TestFaultW17LateHandlers adds handlers to 500,000 objects. AddHandler doesn't wait for their
// replays, and takes no more steps and memory than for ten objects. Neither does another handler
// wait for them, nor a reader of the status.
func TestFaultW17LateHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first := count(500_000)
		r.add(first, lately)
		stop := r.start()
		few := func() float64 {
			return testing.AllocsPerRun(20, func() { r.add(count(0), lately).Remove() })
		}
		allocs := few()
		objects := manySmall(500_000)
		r.reader.do(func(s *intake.Sink) error {
			if err := s.BeginReplace(); err != nil {
				return err
			}
			for _, obj := range objects {
				if err := s.Replace(obj); err != nil {
					return err
				}
			}
			return s.EndReplace("1")
		})
		<-first.done
		if got := few(); got > allocs+5 { // 5 for the goroutine's own
			t.Errorf("%v allocations to add a handler to 500,000 objects, %v to none", got, allocs)
		}
		var late []*fanout.Subscription
		g := newGate()
		for range 3 {
			h := record(t)
			h.before = g.wait
			late = append(late, r.add(h, lately)) // stands in its first object
		}
		other := count(500_000)
		otherSub := r.add(other, lately)
		<-other.done
		other.left, other.done = 2, make(chan struct{})
		r.feed("+new@2 ~new@3")
		if !outcome.Closed(other.done) || !otherSub.HasSynced() {
			t.Error("the handler beside them was not told of two changes")
		}
		r.holds(500_001, "3")
		for _, s := range late {
			if got := s.Status(); got.Backlog != 499_999+2 || got.Synced {
				t.Errorf("status %+v", got)
			}
			go s.Remove()
		}
		synctest.Wait()
		g.open()
		stop()
	})
}

func (r *rig) holds(objects int, version string) {
	r.t.Helper()
	if v := r.Table().Version(); v.Len() != objects || v.ResourceVersion() != version {
		r.t.Errorf("%d objects at %s, want %d at %s", v.Len(), v.ResourceVersion(), objects, version)
	}
}

// TestFaultW18OneThatHangsHoldsUpNoOther has a handler and an index function stand still: the other
// handlers get all that is published, and the stream is read on until its queue is full.
func TestFaultW18OneThatHangsHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, gated(g, "slow"))
		stuck, other := record(t), record(t)
		stuck.before = g.wait
		r.add(stuck, lately)
		r.add(other, lately)
		stop := r.start()
		r.feed("[ =a@1 ]@1 ~a@2 ~a@3")
		other.sees("=a@1 ~a@2 ~a@3")
		r.feed("+slow@4")
		for version := 5; version < 1000; version++ {
			r.tell(0, fmt.Sprintf("~a@%d", version)) // would block if the reader had to wait
		}
		other.sees("")
		g.open()
		synctest.Wait()
		other.agrees(r)
		r.want("a@999 slow@4 at 999")
		stop()
	})
}

// TestFaultW19ReadersDoNotStopTheWriter has readers stand in the middle of lists of everything.
func TestFaultW19ReadersDoNotStopTheWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, byName())
		defer r.start()()
		r.feed("[ =a@1 =b@1 =c@1 ]@1")
		g := newGate()
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				n := 0
				for obj := range r.snapshot().All() {
					g.wait("")
					n++
					if obj.GetResourceVersion() != "1" {
						t.Errorf("%s in a list that was begun at version 1", show(obj))
					}
				}
				if n != 3 {
					t.Errorf("%d objects", n)
				}
			})
		}
		synctest.Wait()
		for version := 2; version < 1000; version++ {
			r.tell(0, fmt.Sprintf("~a@%d", version))
		}
		r.feed("-b@1000 [ =a@999 ]@1001")
		r.want("a@999 at 1001")
		g.open()
		group.Wait()
	})
}

// TestFaultW20RelistOfUnchangedObjects relists objects that have not changed: no handler gets an
// event, and the new copies are garbage before the list is complete.
func TestFaultW20RelistOfUnchangedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := record(t)
		r.add(h, lately)
		defer r.start()()
		var text strings.Builder
		const n = 2000
		for i := range n {
			fmt.Fprintf(&text, "=%d@%d ", i, i+1)
		}
		r.feed("[ " + text.String() + "]@5000")
		if events := strings.Count(h.take(), "="); events != n {
			t.Errorf("%d events", events)
		}
		old := r.Table().Version()
		var copies []weak.Pointer[metav1.PartialObjectMetadata]
		r.reader.do(func(s *intake.Sink) error {
			if err := s.BeginReplace(); err != nil {
				return err
			}
			for i := range n {
				obj := thing(fmt.Sprintf("%d@%d", i, i+1))
				copies = append(copies, weak.Make(obj))
				if err := s.Replace(obj); err != nil {
					return err
				}
			}
			return nil
		})
		synctest.Wait()
		runtime.GC()
		alive := 0
		for _, c := range copies {
			if c.Value() != nil {
				alive++
			}
		}
		if alive > 0 {
			t.Errorf("%d of %d copies of unchanged objects are alive before the relist ends", alive, n)
		}
		r.feed("]@6000")
		h.sees("")
		for obj := range r.Table().Version().All {
			if was, _ := old.Get(object.KeyOf(obj)); was != obj {
				t.Fatalf("%s is another object after the relist", show(obj))
			}
		}
		r.holds(n, "6000")
	})
}

// TestFaultW20ResyncDelaysOnlyItsHandler has a handler stand in the middle of a resync.
func TestFaultW20ResyncDelaysOnlyItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		resynced, other, g := record(t), record(t), newGate()
		var standing atomic.Bool
		resynced.before = func(string) {
			if standing.Load() {
				g.wait("")
			}
		}
		r.add(resynced, fanout.HandlerConfig{Resync: time.Minute, Threshold: 1024})
		r.add(other, lately)
		defer r.start()()
		r.feed("[ =a@1 =b@1 ]@1")
		resynced.take()
		other.take()
		standing.Store(true)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.feed("~a@2 ~a@3 -b@4")
		other.sees("~a@2 ~a@3 -b@4")
		r.want("a@3 at 4")
		g.open()
		synctest.Wait()
		resynced.sees("~a@1 ~b@1 ~a@2 ~a@3 -b@4")
		resynced.agrees(r)
	})
}

// TestFaultW21AddIndexesDelaysNoReader has the new index's function stand still while the index is
// filled.
func TestFaultW21AddIndexesDelaysNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, byName())
		h := record(t)
		r.add(h, lately)
		stop := r.start()
		r.feed("[ =a@1 =slow@1 ]@1")
		added := make(chan error, 1)
		index := gated(g, "slow")
		go func() { added <- r.AddIndexes(index) }()
		synctest.Wait()
		r.want("a@1 slow@1 at 1")
		if n := r.snapshot().NamespaceLen("ns"); n != 2 {
			t.Errorf("%d objects", n)
		}
		late := record(t)
		r.add(late, lately)
		synctest.Wait()
		late.sees("=a@1 =slow@1")
		r.tell(0, "~a@2") // waits for the index
		r.want("a@1 slow@1 at 1")
		g.open()
		if err := <-added; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		r.want("a@2 slow@1 at 2")
		if n := index.Len(r.snapshot(), "slow"); n != 1 {
			t.Errorf("%d objects in the new index", n)
		}
		stop()
	})
}

// TestFaultW22KeysAreNotBuilt applies and delivers events about an object with a long name and one
// with a short name: it takes the same memory, so no text is made of the key.
func TestFaultW22KeysAreNotBuilt(t *testing.T) {
	bytes := func(name string) uint64 {
		const events = 10_000
		f, told := newFeed([]object.Object{thing(name + "@1")}), count(1+events)
		f.start(t, told)
		both := []object.Object{thing(name + "@2"), thing(name + "@3")}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f.do(func(tell func(source.Event[object.Object]) error) error {
			for n := range events {
				e := source.Event[object.Object]{Type: source.Modified, Object: both[n%2], ResourceVersion: f.version, More: n < events-1}
				if err := tell(e); err != nil {
					return err
				}
			}
			return nil
		})
		<-told.done
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / events
	}
	short, long := bytes("a"), bytes(strings.Repeat("long-", 50))
	if long > short+100 {
		t.Errorf("an event with a short name allocates %d bytes, with a name of 250 bytes %d", short, long)
	}
}
