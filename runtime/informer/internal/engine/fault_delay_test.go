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

// TestFaultW16RunsAtOnce calls Run and Acquire from many goroutines. There is one run at a time,
// and no goroutine is left.
func TestFaultW16RunsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		r.add(h, handlerConfig)
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
			t.Errorf("%d of 20 concurrent calls of Run have returned, want 19", len(ended))
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
		r.wantRunning(true)
		r.feed("[ =a@1 ]@1")
		h.wantEvents("=a@1")
		r.reader.steps <- func(*intake.Sink) error { return errStop }
		synctest.Wait()
		if ran.Load() != 1 || len(ended) != 20 {
			t.Errorf("%d of 20 calls of Run have run, %d have returned; want 1, 20", ran.Load(), len(ended))
		}
		r.wantRunning(false) // the bubble would not end if a goroutine were left
	})
}

// smallObject is an object that takes little memory: all share one embedded object.
type smallObject struct {
	object.Object
	name string
}

func (s *smallObject) GetName() string { return s.name }

func smallObjects(n int) []object.Object {
	shared := newObject("shared@1")
	all := make([]object.Object, n)
	for i := range all {
		all[i] = &smallObject{shared, fmt.Sprint("name-", i)}
	}
	return all
}

// TestFaultW17LateHandlers adds handlers to 500,000 objects. AddHandler doesn't wait for the
// replays, and takes no more memory than without objects. Other handlers and readers of the status
// don't wait either.
func TestFaultW17LateHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first := newCounter(500_000)
		r.add(first, handlerConfig)
		stop := r.start()
		addHandler := func() float64 {
			return testing.AllocsPerRun(20, func() { r.add(newCounter(0), handlerConfig).Remove() })
		}
		allocs := addHandler()
		objects := smallObjects(500_000)
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
		if got := addHandler(); got > allocs+5 { // 5 for the goroutine's own
			t.Errorf("%v allocations to add a handler to 500,000 objects, %v to none", got, allocs)
		}
		var lateSubs []*fanout.Subscription
		g := newGate()
		for range 3 {
			h := newRecorder(t)
			h.before = g.wait
			lateSubs = append(lateSubs, r.add(h, handlerConfig)) // stuck in its first object
		}
		other := newCounter(500_000)
		otherSub := r.add(other, handlerConfig)
		<-other.done
		other.left, other.done = 2, make(chan struct{})
		r.feed("+new@2 ~new@3")
		if !outcome.Closed(other.done) || !otherSub.HasSynced() {
			t.Error("another handler has not got two changes")
		}
		r.wantObjects(500_001, "3")
		for _, s := range lateSubs {
			if got := s.Status(); got.Backlog != 499_999+2 || got.Synced {
				t.Errorf("Status() = %+v, want all but one object waiting", got)
			}
			go s.Remove()
		}
		synctest.Wait()
		g.open()
		stop()
	})
}

func (r *rig) wantObjects(objects int, version string) {
	r.t.Helper()
	if v := r.Table().Version(); v.Len() != objects || v.ResourceVersion() != version {
		r.t.Errorf("the table has %d objects at %s, want %d at %s", v.Len(), v.ResourceVersion(), objects, version)
	}
}

// TestFaultW18StuckHandlerDelaysNoOther has a stuck handler and a stuck index function. Other
// handlers get every published event, and the stream is read until its queue is full.
func TestFaultW18StuckHandlerDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, gatedIndex(g, "slow"))
		stuck, other := newRecorder(t), newRecorder(t)
		stuck.before = g.wait
		r.add(stuck, handlerConfig)
		r.add(other, handlerConfig)
		stop := r.start()
		r.feed("[ =a@1 ]@1 ~a@2 ~a@3")
		other.wantEvents("=a@1 ~a@2 ~a@3")
		r.feed("+slow@4")
		for version := 5; version < 1000; version++ {
			r.sendTo(0, fmt.Sprintf("~a@%d", version)) // would block if the reader had to wait
		}
		other.wantEvents("")
		g.open()
		synctest.Wait()
		other.wantTable(r)
		r.wantStored("a@999 slow@4 at 999")
		stop()
	})
}

// TestFaultW19ReadersDoNotStopTheWriter stops readers in the middle of lists of all objects.
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
						t.Errorf("object %s in a list begun at version 1", show(obj))
					}
				}
				if n != 3 {
					t.Errorf("a list has %d objects, want 3", n)
				}
			})
		}
		synctest.Wait()
		for version := 2; version < 1000; version++ {
			r.sendTo(0, fmt.Sprintf("~a@%d", version))
		}
		r.feed("-b@1000 [ =a@999 ]@1001")
		r.wantStored("a@999 at 1001")
		g.open()
		group.Wait()
	})
}

// TestFaultW20RelistOfUnchangedObjects relists unchanged objects. No handler gets an event, and the
// new copies are garbage before the list is complete.
func TestFaultW20RelistOfUnchangedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		r.add(h, handlerConfig)
		defer r.start()()
		var text strings.Builder
		const n = 2000
		for i := range n {
			fmt.Fprintf(&text, "=%d@%d ", i, i+1)
		}
		r.feed("[ " + text.String() + "]@5000")
		if events := strings.Count(h.take(), "="); events != n {
			t.Errorf("%d initial events, want %d", events, n)
		}
		old := r.Table().Version()
		var copies []weak.Pointer[metav1.PartialObjectMetadata]
		r.reader.do(func(s *intake.Sink) error {
			if err := s.BeginReplace(); err != nil {
				return err
			}
			for i := range n {
				obj := newObject(fmt.Sprintf("%d@%d", i, i+1))
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
			t.Errorf("%d of %d copies of unchanged objects are alive before the end of the relist, want 0", alive, n)
		}
		r.feed("]@6000")
		h.wantEvents("")
		for obj := range r.Table().Version().All {
			if before, _ := old.Get(object.KeyOf(obj)); before != obj {
				t.Fatalf("object %s is another object after the relist", show(obj))
			}
		}
		r.wantObjects(n, "6000")
	})
}

// TestFaultW20ResyncDelaysOnlyItsHandler has a handler that is stuck in the middle of a resync.
func TestFaultW20ResyncDelaysOnlyItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		resynced, other, g := newRecorder(t), newRecorder(t), newGate()
		var stuck atomic.Bool
		resynced.before = func(string) {
			if stuck.Load() {
				g.wait("")
			}
		}
		r.add(resynced, fanout.HandlerConfig{Resync: time.Minute, Threshold: 1024})
		r.add(other, handlerConfig)
		defer r.start()()
		r.feed("[ =a@1 =b@1 ]@1")
		resynced.take()
		other.take()
		stuck.Store(true)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		r.feed("~a@2 ~a@3 -b@4")
		other.wantEvents("~a@2 ~a@3 -b@4")
		r.wantStored("a@3 at 4")
		g.open()
		synctest.Wait()
		resynced.wantEvents("~a@1 ~b@1 ~a@2 ~a@3 -b@4")
		resynced.wantTable(r)
	})
}

// TestFaultW21AddIndexesDelaysNoReader has a new index whose function is stuck while the index is
// filled.
func TestFaultW21AddIndexesDelaysNoReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r := newRig(t, byName())
		h := newRecorder(t)
		r.add(h, handlerConfig)
		stop := r.start()
		r.feed("[ =a@1 =slow@1 ]@1")
		added := make(chan error, 1)
		index := gatedIndex(g, "slow")
		go func() { added <- r.AddIndexes(index) }()
		synctest.Wait()
		r.wantStored("a@1 slow@1 at 1")
		if n := r.snapshot().NamespaceLen("ns"); n != 2 {
			t.Errorf("the namespace has %d objects, want 2", n)
		}
		lateHandler := newRecorder(t)
		r.add(lateHandler, handlerConfig)
		synctest.Wait()
		lateHandler.wantEvents("=a@1 =slow@1")
		r.sendTo(0, "~a@2") // waits for the index
		r.wantStored("a@1 slow@1 at 1")
		g.open()
		if err := <-added; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		r.wantStored("a@2 slow@1 at 2")
		if n := index.Len(r.snapshot(), "slow"); n != 1 {
			t.Errorf("the new index has %d objects under slow, want 1", n)
		}
		stop()
	})
}

// TestFaultW22KeysAreNotFormatted delivers events of an object with a long name, and of one with a
// short name. Both take the same memory, so keys are not formatted as text.
func TestFaultW22KeysAreNotFormatted(t *testing.T) {
	bytes := func(name string) uint64 {
		const events = 10_000
		f, counter := newStepSource([]object.Object{newObject(name + "@1")}), newCounter(1+events)
		f.start(t, counter)
		both := []object.Object{newObject(name + "@2"), newObject(name + "@3")}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f.do(func(send func(source.Event[object.Object]) error) error {
			for n := range events {
				e := source.Event[object.Object]{Type: source.Modified, Object: both[n%2], ResourceVersion: f.version, More: n < events-1}
				if err := send(e); err != nil {
					return err
				}
			}
			return nil
		})
		<-counter.done
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / events
	}
	short, long := bytes("a"), bytes(strings.Repeat("long-", 50))
	if long > short+100 {
		t.Errorf("an event with a short name allocates %d bytes, with a name of 250 bytes %d", short, long)
	}
}
