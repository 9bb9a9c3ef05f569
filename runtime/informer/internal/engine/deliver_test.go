// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// gate lets callbacks through one by one, or all once it is open.
type gate struct{ release chan struct{} }

func newGate() gate { return gate{make(chan struct{})} }

// hold makes the handler's callbacks wait for a gate.
func (h *recorder) hold() gate {
	g := newGate()
	h.before = g.wait
	return g
}

func (g gate) wait(string) { <-g.release }
func (g gate) open()       { close(g.release) }

// pass lets one callback return, and waits until the handler is in the next or idle.
func (g gate) pass() {
	g.release <- struct{}{}
	synctest.Wait()
}

func TestAddedHandlerGetsTheObjectsFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 =b@2 =c@3 ]@5 ~a@6 -b@7")
		h := newRecorder(t)
		g := h.hold()
		s := r.add(h, handlerConfig)
		synctest.Wait()
		r.feed("~a@8 ~c@9 +d@10 ~a@11") // while it is in its first callback
		if s.HasSynced() {
			t.Error("the handler has synced before its first callback has returned")
		}
		if got := s.Status(); got.Backlog != 5 || got.Callback != "OnAdd" || got.Merging {
			t.Errorf("status %+v; want a backlog of 1 initial object and 4 changes", got)
		}
		g.open()
		synctest.Wait()
		h.wantEvents("=a@6 =c@3 ~a@8 ~c@9 +d@10 ~a@11")
		h.wantTable(r)
		if !s.HasSynced() {
			t.Error("the handler has not synced")
		}
	})
}

func TestRemovedHandlerGetsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		before, after := newRecorder(t), newRecorder(t)
		r.add(before, handlerConfig).Remove()
		stop := r.start()
		h := newRecorder(t)
		g := h.hold()
		s := r.add(h, handlerConfig)
		r.feed("[ =a@1 =b@2 ]@5")

		removed := false
		go func() { s.Remove(); removed = true }()
		synctest.Wait()
		if removed {
			t.Error("Remove has returned during a callback")
		}
		go s.Remove()
		synctest.Wait()
		g.open()
		synctest.Wait()
		if !removed {
			t.Error("Remove has not returned")
		}
		r.feed("~a@6")
		h.wantEvents("=a@1")
		s.Remove()
		if s.HasSynced() || s.Status().Backlog != 0 {
			t.Errorf("a removed handler: HasSynced() = %v, Status() = %+v", s.HasSynced(), s.Status())
		}

		afterwards := r.add(after, handlerConfig)
		stop()
		afterwards.Remove()
		before.wantEvents("")
		if got := r.Handlers(); len(got) != 0 {
			t.Errorf("%d subscriptions, want 0", len(got))
		}
	})
}

func TestRemoveFromCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h, other := newRecorder(t), newRecorder(t)
		var s, o *fanout.Subscription
		h.before = func(string) { s.Remove(); o.Remove() }
		s, o = r.add(h, handlerConfig), r.add(other, handlerConfig)
		defer r.start()()
		r.feed("[ =a@1 =b@2 ]@5 ~a@6")
		h.wantEvents("=a@1")
	})
}

// TestPromise03SlowHandlerMerges sends 300,000 updates of ten objects to a stuck handler.
func TestPromise03SlowHandlerMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const objects, updates = 10, 300_000
		r := newRig(t)
		defer r.start()()
		stuck, quick := newRecorder(t), newRecorder(t)
		g := stuck.hold()
		s := r.add(stuck, handlerConfig)
		quickSub := r.add(quick, handlerConfig)
		r.feed("[ ]@1")
		for n := range updates {
			obj := newObject(fmt.Sprintf("%c@%d", 'a'+n%objects, n+2))
			r.reader.steps <- func(s *intake.Sink) error { return s.Update(obj) }
			if n%500 == 0 { // the other handler keeps up
				time.Sleep(patience)
				if got := s.Status(); n > 2000 && (!got.Merging || got.Backlog > 2*objects) {
					t.Errorf("after %d updates: %+v", n, got)
				}
			}
		}
		synctest.Wait()
		if got := quickSub.Status(); got.Backlog != 0 || len(quick.events) != updates {
			t.Errorf("the other handler: %+v, %d events", got, len(quick.events))
		}
		g.open()
		synctest.Wait()
		if got := s.Status(); got.Backlog != 0 || got.Merging {
			t.Errorf("Status() after catching up = %+v", got)
		}
		if n := len(stuck.events); n > 1+2*objects {
			t.Errorf("%d events for the stuck handler, want at most %d", n, 1+2*objects)
		}
		stuck.wantTable(r)
		stuck.take()
		r.feed("~a@400000 ~a@400001") // it keeps up again, and gets every event
		stuck.wantEvents("~a@400000 ~a@400001")
	})
}

func TestChangesOfAKeyMerge(t *testing.T) {
	for _, test := range []struct{ name, feed, events string }{
		{"updates become one", "~a@6 ~a@7 ~a@8", "~a@8"},
		{"ordered by the first change", "~b@6 ~a@7 ~b@8", "~b@8 ~a@7"},
		{"an object added and deleted vanishes", "+c@6 ~c@7 -c@8", ""},
		{"an object deleted and added again comes last", "+c@6 -c@7 ~a@8 +c@9", "~a@8 +c@9"},
		{"an addition has the latest state", "+c@6 ~c@7", "+c@7"},
		{"a deletion replaces updates", "~a@6 -a@7", "-a@7"},
		{"deleted and added", "-a@6 +a@7 ~a@8", "-a@6 +a@8"},
		{"deleted, added, deleted", "-a@6 +a@7 -a@8", "-a@6"},
		{"deleted, added, deleted, added", "-a@6 +a@7 -a@8 +a@9", "-a@6 +a@9"},
		{"a change of UID", "~u/2@6 ~u/3@7 ~u/3@8", "-u/1@1? +u/3@8"},
	} {
		bubble(t, test.name, func(t *testing.T) {
			r := newRig(t)
			h := newRecorder(t)
			r.add(h, fanout.HandlerConfig{Threshold: 0})
			defer r.start()()
			r.feed("[ =a@1 =b@1 =u/1@1 =z@1 ]@5")
			h.take()
			g := h.hold()
			r.feed("~z@5")
			r.feed(test.feed)
			g.open()
			synctest.Wait()
			h.wantEvents(strings.TrimSpace("~z@5 " + test.events))
			h.wantTable(r)
		})
	}
}

// TestMergingBetweenDeletionAndAddition has a deletion and an addition of a key wait. During the
// callback of the deletion, the object is deleted again, so the addition vanishes.
func TestMergingBetweenDeletionAndAddition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		h := newRecorder(t)
		s := r.add(h, fanout.HandlerConfig{Threshold: 0})
		defer r.start()()
		r.feed("[ =a@1 =z@1 ]@5")
		h.take()
		g := h.hold()
		r.feed("~z@5 -a@6 +a@7")
		g.pass() // z; the handler is in a's deletion now
		if got := s.Status(); got.Callback != "OnDelete" || got.Backlog != 1 {
			t.Fatalf("Status() = %+v, want 1 waiting event, in OnDelete", got)
		}
		r.feed("-a@8")
		if got := s.Status(); got.Backlog != 0 {
			t.Errorf("Status() = %+v, want no backlog", got)
		}
		r.feed("+a@9")
		g.open()
		synctest.Wait()
		h.wantEvents("~z@5 -a@6 +a@9")
	})
}

func TestMergesBeyondTheThreshold(t *testing.T) {
	for _, test := range []struct {
		threshold, updates int
		merges             bool
	}{{3, 3, false}, {3, 4, true}, {0, 1, true}, {fanout.Never, 5000, false}} {
		bubble(t, fmt.Sprintf("%d of %d", test.updates, test.threshold), func(t *testing.T) {
			r := newRig(t)
			h := newRecorder(t)
			s := r.add(h, fanout.HandlerConfig{Threshold: test.threshold})
			defer r.start()()
			r.feed("[ =a@1 ]@1")
			g := h.hold()
			r.feed("~a@2")
			for n := range test.updates {
				r.feed(fmt.Sprintf("~a@%d", n+3))
			}
			want := test.updates
			if test.merges {
				want = 1
			}
			if got := s.Status(); got.Merging != test.merges || got.Backlog != want {
				t.Errorf("Status() = %+v; want a backlog of %d", got, want)
			}
			g.open()
		})
	}
}

func TestPromise03StuckHandlerDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		stuck, other := newRecorder(t), newRecorder(t)
		g := stuck.hold()
		r.add(stuck, handlerConfig)
		r.add(other, handlerConfig)
		defer r.start()()
		r.feed("[ =a@1 ]@1 ~a@2 [ ]@3 +b@4")
		other.wantEvents("=a@1 ~a@2 -a@2? +b@4")
		r.wantStored("b@4 at 4")
		lateHandler := newRecorder(t)
		r.add(lateHandler, handlerConfig)
		synctest.Wait()
		lateHandler.wantEvents("=b@4")
		if got := r.Handlers()[0]; got.Callback != "OnAdd" || got.Key != (object.Key{Namespace: "ns", Name: "a"}) || got.Backlog != 3 {
			t.Errorf("status of the stuck handler: %+v", got)
		}
		g.open()
		synctest.Wait()
		stuck.wantEvents("=a@1 ~a@2 -a@2? +b@4")
	})
}

func TestPromise11PanicsAreLogged(t *testing.T) {
	for _, how := range []string{"panic", "nil panic", "Goexit", "Goexit with Crash"} {
		bubble(t, how, func(t *testing.T) {
			r := newRig(t)
			var logged strings.Builder
			logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logged)))
			r.config.Logger = &logger
			h, other := newRecorder(t), newRecorder(t)
			h.before = func(event string) {
				switch {
				case event == "=c@1":
				case how == "panic":
					panic("no " + event)
				case how == "nil panic":
					panic(nil)
				default:
					runtime.Goexit()
				}
			}
			config := handlerConfig
			config.Crash = how == "Goexit with Crash"
			s := r.add(h, config)
			r.add(other, handlerConfig)
			defer r.start()()
			r.feed("[ =a@1 =b@1 =c@1 ]@5 ~c@6")
			other.wantEvents("=a@1 =b@1 =c@1 ~c@6")
			h.wantEvents("=c@1") // the other callbacks failed before the recorder
			if !s.HasSynced() {
				t.Error("the handler has not synced: a failed callback counts as delivered")
			}
			want := []string{`handler="recorder"`, `informer="things"`, `key="ns/a"`, `callback="OnAdd"`, `callback="OnUpdate"`}
			if how == "panic" {
				want = append(want, "no =a@1", "deliver_test.go")
			}
			for _, part := range want {
				if !strings.Contains(logged.String(), part) {
					t.Errorf("the log lacks %s: %s", part, logged.String())
				}
			}
		})
	}
}
