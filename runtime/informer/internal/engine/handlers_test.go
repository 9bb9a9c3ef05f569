// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestRemoveStopsRecorderAndResync removes handlers during a run, and after it. Their recorders and
// timers end in both cases.
func TestRemoveStopsRecorderAndResync(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &recordingProvider{}
		r := newRigOf(t, Config{Metrics: m}, "")
		config := fanout.HandlerConfig{Name: "one", Threshold: 1024, Resync: time.Minute}
		h := newRecorder(t)
		s := r.add(h, config)
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		h.wantEvents("=a@1")
		m.take()
		s.Remove()
		synctest.Wait()
		if got := m.take(); got != "end handler one" {
			t.Errorf("calls of the metrics provider: %s", got)
		}
		time.Sleep(5 * time.Minute)
		h.wantEvents("")
		config.Name = "two"
		other := newRecorder(t)
		two := r.add(other, config)
		synctest.Wait()
		stop()
		if got := m.take(); !strings.Contains(got, "begin handler two") || !strings.Contains(got, "end handler two") {
			t.Errorf("calls of the metrics provider: %s", got)
		}
		other.wantEvents("=a@1")
		time.Sleep(5 * time.Minute) // no resync without a run
		two.Remove()
		stop = r.start()
		time.Sleep(5 * time.Minute)
		other.wantEvents("")
		stop()
		if got := m.take(); strings.Contains(got, "handler") {
			t.Errorf("calls of the metrics provider: %s", got)
		}
	})
}

// TestNoEventIsLostWhileAHandlerGoesIdle sends events one at a time, and sometimes a second one
// while the handlers' goroutines wake up or begin to wait, outside of a bubble. Each handler gets
// each event, in order.
func TestNoEventIsLostWhileAHandlerGoesIdle(t *testing.T) {
	const last = 3999
	f := newStepSource(someObjects(7, 1))
	all := make([]*orderChecker, 5)
	handlers := make([]fanout.Handler, len(all))
	for n := range all {
		all[n] = &orderChecker{t: t, got: make(chan string, last)}
		handlers[n] = all[n]
	}
	i := f.start(t, handlers...)
	for version := 1; version <= last; version++ {
		obj := someObjects(7, 1_000_000*(version+1))[version%7]
		for range version % 13 {
			runtime.Gosched()
		}
		f.do(func(send func(source.Event[object.Object]) error) error {
			return send(source.Event[object.Object]{Type: source.Modified, Object: obj, ResourceVersion: obj.GetResourceVersion()})
		})
		if version%3 != 0 {
			continue // the next event comes during this delivery
		}
		for _, h := range all {
			for range 3 {
				<-h.got // the test hangs if an event is lost
			}
			if h.last != obj.GetResourceVersion() {
				t.Fatalf("the last event is of version %s, want %s", h.last, obj.GetResourceVersion())
			}
		}
	}
	for _, s := range i.Handlers() {
		if s.Backlog != 0 {
			t.Errorf("%+v, want no backlog", s)
		}
	}
}

// orderChecker is a handler that checks that versions grow from one event to the next.
type orderChecker struct {
	t    *testing.T
	last string
	got  chan string
}

func (h *orderChecker) OnAdd(object.Object, bool) {}
func (h *orderChecker) OnDelete(fanout.Deleted)   {}

func (h *orderChecker) OnUpdate(_, obj object.Object) {
	version := obj.GetResourceVersion()
	if len(version) < len(h.last) || len(version) == len(h.last) && version <= h.last {
		h.t.Errorf("an event of version %s after one of %s", version, h.last)
	}
	h.last = version
	h.got <- version
}
