// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestEventsBetweenTurnsAreNotLost sends events one at a time, and sometimes a second one while the
// turns of the first begin or end, outside of a bubble: each handler gets each of them, in order,
// whether they are handed to it or in the log.
func TestEventsBetweenTurnsAreNotLost(t *testing.T) {
	const last = 3999
	f := newFeed(someObjects(7, 1))
	all := make([]*inOrder, 5)
	handlers := make([]Handler, len(all))
	for n := range all {
		all[n] = &inOrder{t: t, got: make(chan string, last)}
		handlers[n] = all[n]
	}
	i := f.start(t, handlers...)
	for version := 1; version <= last; version++ {
		obj := someObjects(7, 1_000_000*(version+1))[version%7]
		for range version % 13 {
			runtime.Gosched()
		}
		f.do(func(tell func(source.Event[object.Object]) error) error {
			return tell(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: obj.GetResourceVersion()})
		})
		if version%3 != 0 {
			continue // the next one comes while this one is being delivered
		}
		for _, h := range all {
			for range 3 {
				<-h.got // else the test does not end
			}
			if h.last != obj.GetResourceVersion() {
				t.Fatalf("told of %s last, not of %s", h.last, obj.GetResourceVersion())
			}
		}
	}
	for _, s := range i.Handlers() {
		if s.Backlog != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// inOrder is a handler whose objects' versions grow from one event to the next.
type inOrder struct {
	t    *testing.T
	last string
	got  chan string
}

func (h *inOrder) OnAdd(object.Object, bool) {}
func (h *inOrder) OnDelete(Deleted)          {}

func (h *inOrder) OnUpdate(_, obj object.Object) {
	version := obj.GetResourceVersion()
	if len(version) < len(h.last) || len(version) == len(h.last) && version <= h.last {
		h.t.Errorf("%s after %s", version, h.last)
	}
	h.last = version
	h.got <- version
}

// without keeps workers from looking at ready subscriptions until the test calls look.
func (r *rig) without() (look func()) {
	c := r.pool
	c.mu.Lock()
	defer c.mu.Unlock()
	c.searching = true
	return func() {
		c.mu.Lock()
		c.searching = false
		w := c.searchLocked()
		c.mu.Unlock()
		w.wakeUp()
		synctest.Wait()
	}
}

// TestRemoveDropsThePendingEvent removes a handler for which an event is pending, before its turn
// begins: the event isn't delivered.
func TestRemoveDropsThePendingEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first, second := record(t), record(t)
		s := r.add(first, lately)
		r.add(second, lately)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		look := r.without()
		r.feed("~a@2")
		if got := s.Status(); got.Backlog != 1 || got.Callback != "" {
			t.Errorf("status %+v", got)
		}
		s.Remove()
		look()
		first.sees("=a@1")
		second.sees("=a@1 ~a@2")
		r.feed("~a@3")
		first.sees("")
		second.sees("~a@3")
	})
}

// TestRemoveWaitsForThePendingEvent removes a handler while its pending event is being delivered,
// by another goroutine and by the callback itself; only the first waits.
func TestRemoveWaitsForThePendingEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, own, g := record(t), record(t), newGate()
		s := r.add(h, lately)
		mine := r.add(own, lately)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		own.before = func(string) { mine.Remove() }
		h.before = g.wait
		r.feed("~a@2")
		own.sees("=a@1 ~a@2")
		if got := s.Status(); got.Callback != "OnUpdate" || got.Key.Name != "a" || got.Since.IsZero() || got.Backlog != 0 {
			t.Errorf("status %+v", got)
		}
		removed := make(chan struct{})
		go func() { s.Remove(); close(removed) }()
		synctest.Wait()
		if closed(removed) {
			t.Error("Remove has not waited for the callback")
		}
		g.open()
		<-removed
		r.feed("~a@3")
		h.sees("=a@1 ~a@2")
		own.sees("")
	})
}

// TestPendingEventsComeFirst publishes more changes while an event is pending: all are delivered in
// order, also when there are so many that they are merged, or when the next run delivers them.
func TestPendingEventsComeFirst(t *testing.T) {
	for _, threshold := range []int{1, 2, 3, 1024, Never} {
		t.Run(fmt.Sprint("threshold ", threshold), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				h := record(t)
				s := r.add(h, HandlerConfig{Threshold: threshold})
				stop := r.start()
				r.feed("[ =a@1 =b@1 ]@1")
				h.take()
				look := r.without()
				r.feed("~a@2 ~b@3 +c@4")
				if got := s.Status(); got.Backlog != 3 || got.Merging != (threshold == 1 || threshold == 2) {
					t.Errorf("status %+v", got)
				}
				look()
				h.sees("~a@2 ~b@3 +c@4")

				look = r.without()
				r.feed("~a@5 ~b@6")
				r.run.cancel(errStop) // before any turn begins
				look()
				stop()
				h.sees("")
				stop = r.start()
				if got := h.take(); !strings.HasPrefix(got, "~a@5 ~b@6") {
					t.Errorf("the next run delivers %q", got)
				}
				r.feed("[ =a@5 =b@6 =c@4 ]@6 ~a@7")
				h.sees("~a@7")
				stop()
			})
		})
	}
}

// TestGoexitLosesNoPendingEvent has a handler end its goroutine again and again: it gets each
// event.
func TestGoexitLosesNoPendingEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := record(t)
		r.add(endsGoroutine{h}, lately)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		for version := 2; version < 9; version++ {
			r.feed(fmt.Sprintf("~a@%d", version))
		}
		h.sees("=a@1 ~a@2 ~a@3 ~a@4 ~a@5 ~a@6 ~a@7 ~a@8")
		if n := goroutines(workers); n > maxParked {
			t.Errorf("%d goroutines are left", n)
		}
	})
}

type endsGoroutine struct{ *recorder }

func (h endsGoroutine) OnUpdate(old, obj object.Object) {
	h.recorder.OnUpdate(old, obj)
	runtime.Goexit()
}

// TestMetricsOfAnEventThatWaitedForTheRun shows that an event that the last run has not delivered
// is measured like any other one, and that its callback has lasted since it began.
func TestMetricsOfAnEventThatWaitedForTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{}
		r := newRigOf(t, Config{Metrics: m}, "")
		h := record(t)
		s := r.add(h, lately)
		l := r.acquire(t.Context())
		r.feed("[ ]@1")
		r.reader.steps <- func(s *sink) error { // the run ends while an event is applied
			l.end(errReleased)
			return say(s, "+a@2")
		}
		<-l.Done()
		h.sees("")
		m.take()
		time.Sleep(time.Hour)
		g := h.hold()
		defer r.start()()
		time.Sleep(time.Second)
		if got := s.Status(); got.Callback != "OnAdd" || time.Since(got.Since) != time.Second {
			t.Errorf("%s since %v", got.Callback, time.Since(got.Since))
		}
		g.open()
		synctest.Wait()
		if got, want := m.take(), "begin handler recorder, begin things, recorder took 1s, panicked: false"; got != want {
			t.Errorf("told  %s\nwant %s", got, want)
		}
	})
}
