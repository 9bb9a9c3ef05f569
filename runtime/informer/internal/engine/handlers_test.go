// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestCallbacksOfOneHandlerNeverOverlap has many goroutines give work to handlers, outside of
// a bubble: the race detector looks at fields that only the callbacks use.
func TestCallbacksOfOneHandlerNeverOverlap(t *testing.T) {
	r := newRig(t)
	type alone struct {
		*recorder
		running bool
		calls   int
		last    chan struct{} // closed when it is told of the last change
	}
	all := make([]*alone, 8)
	for n := range all {
		a := &alone{recorder: record(t), last: make(chan struct{})}
		a.before = func(event string) {
			if a.running {
				t.Error("two callbacks at once")
			}
			a.running = true
			if a.calls++; a.calls%(n+2) == 0 {
				runtime.Gosched()
			}
			a.running = false
			if event == "~3@2999" {
				close(a.last)
			}
		}
		all[n] = a
		r.add(a.recorder, fanout.HandlerConfig{Threshold: 1 << n})
	}
	l, err := r.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		r.reader.do(func(s *intake.Sink) error {
			_ = s.BeginReplace()
			return s.EndReplace("1")
		})
		for version := 2; version < 3000; version++ {
			r.reader.do(func(s *intake.Sink) error { return s.Update(thing(fmt.Sprintf("%d@%d", version%7, version))) })
		}
	})
	group.Go(func() { // others come and go
		for range 200 {
			s, err := r.AddHandler(count(0), lately)
			if err != nil {
				t.Error(err)
				return
			}
			runtime.Gosched()
			s.Remove()
		}
	})
	group.Wait()
	for _, a := range all {
		<-a.last
	}
	if err := l.Release(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRemoveEndsWhatBelongsToTheRun removes handlers during a run and after it: their recorders and
// timers end in both cases.
func TestRemoveEndsWhatBelongsToTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &metered{}
		r := newRigOf(t, Config{Metrics: m}, "")
		config := fanout.HandlerConfig{Name: "one", Threshold: 1024, Resync: time.Minute}
		h := record(t)
		s := r.add(h, config)
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		h.sees("=a@1")
		m.take()
		s.Remove()
		synctest.Wait()
		if got := m.take(); got != "end handler one" {
			t.Errorf("told %s", got)
		}
		time.Sleep(5 * time.Minute)
		h.sees("")
		config.Name = "two"
		other := record(t)
		two := r.add(other, config)
		synctest.Wait()
		stop()
		if got := m.take(); !strings.Contains(got, "begin handler two") || !strings.Contains(got, "end handler two") {
			t.Errorf("told %s", got)
		}
		other.sees("=a@1")
		time.Sleep(5 * time.Minute) // nothing resyncs while nothing runs
		two.Remove()
		stop = r.start()
		time.Sleep(5 * time.Minute)
		other.sees("")
		stop()
		if got := m.take(); strings.Contains(got, "handler") {
			t.Errorf("told %s", got)
		}
	})
}

// TestRemoveFromAnotherHandlersCallback has a callback remove another handler, whose callback is
// running.
func TestRemoveFromAnotherHandlersCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first, second, g := record(t), record(t), newGate()
		s := r.add(first, lately)
		r.add(second, lately)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		removed := make(chan struct{})
		began := make(chan struct{})
		first.before = func(string) { close(began); g.wait("") }
		second.before = func(string) { <-began; s.Remove(); close(removed) }
		r.feed("~a@2")
		if outcome.Closed(removed) {
			t.Error("Remove did not wait for the callback of another handler")
		}
		g.open()
		<-removed
		synctest.Wait()
		first.sees("=a@1 ~a@2")
		second.sees("=a@1 ~a@2")
	})
}

// TestEventsWhileTheHandlerFallsAsleepAreNotLost sends events one at a time, and sometimes a
// second one while the handlers' goroutines wake up or begin to wait, outside of a bubble: each
// handler gets each of them, in order.
func TestEventsWhileTheHandlerFallsAsleepAreNotLost(t *testing.T) {
	const last = 3999
	f := newFeed(someObjects(7, 1))
	all := make([]*inOrder, 5)
	handlers := make([]fanout.Handler, len(all))
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
func (h *inOrder) OnDelete(fanout.Deleted)   {}

func (h *inOrder) OnUpdate(_, obj object.Object) {
	version := obj.GetResourceVersion()
	if len(version) < len(h.last) || len(version) == len(h.last) && version <= h.last {
		h.t.Errorf("%s after %s", version, h.last)
	}
	h.last = version
	h.got <- version
}

// TestRemoveWaitsForTheCallback removes a handler while it is called, by another goroutine and by
// the callback itself; only the first waits.
func TestRemoveWaitsForTheCallback(t *testing.T) {
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
		if outcome.Closed(removed) {
			t.Error("Remove has not waited for the callback")
		}
		g.open()
		<-removed
		r.feed("~a@3")
		h.sees("=a@1 ~a@2")
		own.sees("")
	})
}

// TestGoexitLosesNoEvent has a handler end its goroutine again and again: it gets each
// event.
func TestGoexitLosesNoEvent(t *testing.T) {
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
		g := h.hold()
		r.feed("[ ]@1 +b@2 +a@3")
		l.end(errReleased) // a waits, and b is being delivered
		g.open()
		<-l.Done()
		h.sees("+b@2")
		m.take()
		time.Sleep(time.Hour)
		g = h.hold()
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
