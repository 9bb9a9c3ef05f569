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
)

// goroutines counts those whose stack has a function, in this bubble or not.
func goroutines(function string) int {
	buf := make([]byte, 1<<20)
	n := 0
	for trace := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(trace, function+"(") {
			n++
		}
	}
	return n
}

const workers = "engine.(*pool).work"

// TestIdleHandlersHaveFewGoroutines has 50 handlers that are quick, and nothing to do.
func TestIdleHandlersHaveFewGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		before := runtime.NumGoroutine()
		recorders := make([]*recorder, 50)
		for n := range recorders {
			recorders[n] = record(t)
			r.add(recorders[n], lately)
		}
		stop := r.start()
		if n := goroutines(workers); n > maxParked {
			t.Errorf("%d goroutines wait before anything has happened", n)
		}
		r.feed("[ =a@1 =b@1 ]@1 ~a@2 -b@3 +c@4")
		for _, h := range recorders {
			h.sees("=a@1 =b@1 ~a@2 -b@3 +c@4")
		}
		if n := goroutines(workers); n > maxParked {
			t.Errorf("%d goroutines wait for something to deliver", n)
		}
		// Run, the reader, the script's context
		if n := runtime.NumGoroutine() - before; n > 3+maxParked {
			t.Errorf("%d goroutines in all", n)
		}
		stop()
		if n := goroutines(workers); n != 0 {
			t.Errorf("%d goroutines are left", n)
		}
	})
}

// TestStuckHandlersKeepAGoroutineEach has handlers get stuck one after the other: the others get
// each event, and each stuck handler keeps one goroutine, until it is let go.
func TestStuckHandlersKeepAGoroutineEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		const handlers = 20
		recorders, gates := make([]*recorder, handlers), make([]gate, handlers)
		var stuck atomic.Int32 // handlers below are stuck
		for n := range recorders {
			gates[n] = newGate()
			recorders[n] = record(t)
			recorders[n].before = func(string) {
				if n < int(stuck.Load()) {
					gates[n].wait("")
				}
			}
			r.add(recorders[n], lately)
		}
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		for n := range handlers - 1 {
			stuck.Store(int32(n + 1))
			r.feed(fmt.Sprintf("~a@%d", n+2))
			for other := n + 1; other < handlers; other++ {
				want := fmt.Sprintf("~a@%d", n+2)
				if n == 0 {
					want = "=a@1 " + want
				}
				recorders[other].sees(want)
			}
			if got := goroutines(workers); got < n+1 || got > n+1+maxParked {
				t.Errorf("%d goroutines deliver while %d handlers are stuck", got, n+1)
			}
		}
		stuck.Store(0)
		for n := range handlers - 1 {
			gates[n].open()
		}
		synctest.Wait()
		for _, h := range recorders {
			h.agrees(r)
		}
		if got := goroutines(workers); got > maxParked {
			t.Errorf("%d goroutines are left of those that were stuck", got)
		}
	})
}

// TestCallbacksOfOneHandlerNeverOverlap has many goroutines give work to handlers that share few
// workers, outside of a bubble: the race detector looks at fields that only the callbacks use.
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
		r.add(a.recorder, HandlerConfig{Threshold: 1 << n})
	}
	l, err := r.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		r.reader.do(func(s *sink) error {
			_ = s.BeginReplace()
			return s.EndReplace("1")
		})
		for version := 2; version < 3000; version++ {
			r.reader.do(func(s *sink) error { return s.Update(thing(fmt.Sprintf("%d@%d", version%7, version))) })
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
		config := HandlerConfig{Name: "one", Threshold: 1024, Resync: time.Minute}
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

// TestRemoveFromAnotherHandlersTurn has a callback remove a handler whose turn the same goroutine
// had before.
func TestRemoveFromAnotherHandlersTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		first, second, g := record(t), record(t), newGate()
		s := r.add(first, lately)
		r.add(second, lately)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		removed := make(chan struct{})
		// it has a turn on some goroutine; the other handler has one on another
		first.before = g.wait
		second.before = func(string) { s.Remove(); close(removed) }
		r.feed("~a@2")
		if closed(removed) {
			t.Error("Remove did not wait for the callback of another handler")
		}
		g.open()
		<-removed
		synctest.Wait()
		first.sees("=a@1 ~a@2")
		second.sees("=a@1 ~a@2")
		r.feed("~a@3")
	})
}
