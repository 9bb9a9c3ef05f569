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
