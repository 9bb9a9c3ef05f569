// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// wantKeys asserts the number of the only handler's waiting events for each key, and that no other
// events wait.
func (r *rig) wantKeys(when string, waiting map[string]int) {
	r.t.Helper()
	all := r.Handlers()[0]
	sum := 0
	var oldest time.Time
	for name, want := range waiting {
		h := r.HandlersOf(object.Key{Namespace: "ns", Name: name})[0]
		if h.Backlog != want || h.WaitingSince.IsZero() != (want == 0) {
			r.t.Errorf("%s: status of %s: %+v, want a backlog of %d", when, name, h, want)
		}
		if (h.Callback != "") != (all.Callback != "" && all.Key.Name == name) {
			r.t.Errorf("%s: the callback of %s is %q, the handler is in %+v", when, name, h.Callback, all)
		}
		if sum += h.Backlog; want > 0 && (oldest.IsZero() || h.WaitingSince.Before(oldest)) {
			oldest = h.WaitingSince
		}
	}
	if sum != all.Backlog || !oldest.Equal(all.WaitingSince) {
		r.t.Errorf("%s: all keys: %d events since %v, the handler: %+v", when, sum, oldest, all)
	}
}

// TestKeyStatusCountsWaitingEvents follows keys through the replay, the log and the merged backlog
// of a stuck handler.
func TestKeyStatusCountsWaitingEvents(t *testing.T) {
	for _, threshold := range []int{1024, 0} {
		t.Run(fmt.Sprint("threshold ", threshold), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				defer r.start()()
				r.feed("[ =a@1 =b@2 =c@3 ]@5")
				h := newRecorder(t)
				g := h.hold()
				r.add(h, fanout.HandlerConfig{Name: "recorder", Threshold: threshold})
				synctest.Wait()
				r.wantKeys("in the first callback", map[string]int{"a": 0, "b": 1, "c": 1, "d": 0})
				time.Sleep(time.Second)
				r.feed("~b@6 ~b@7 +d@8 -d@9")
				more := map[int]map[string]int{1024: {"a": 0, "b": 3, "c": 1, "d": 2}, 0: {"a": 0, "b": 2, "c": 1, "d": 0}}[threshold]
				r.wantKeys("with changes", more)
				g.pass()
				more["b"]-- // with a threshold of 0, its initial object has the newest state
				if threshold == 0 {
					more["b"]--
				}
				r.wantKeys("in the second callback", more)
				g.open()
				synctest.Wait()
				r.wantKeys("at rest", map[string]int{"a": 0, "b": 0, "c": 0, "d": 0})
				h.wantTable(r)
			})
		})
	}
}

// TestKeyStatusDistinguishesNamespaces has one name in two namespaces, each with its own replay.
func TestKeyStatusDistinguishesNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, Config{}, "ns", "other")
		h := newRecorder(t)
		g := h.hold()
		r.add(h, handlerConfig)
		defer r.start()()
		r.feed("[ =a@1 ]@5")
		r.feedTo(1, "[ =a@2 =b@3 ]@6")
		for key, want := range map[object.Key]int{{Namespace: "ns", Name: "a"}: 0, {Namespace: "other", Name: "a"}: 1, {Namespace: "other", Name: "b"}: 1, {Namespace: "ns", Name: "b"}: 0} {
			if got := r.HandlersOf(key)[0]; got.Backlog != want || (got.Callback == "OnAdd") != (key == object.Key{Namespace: "ns", Name: "a"}) {
				t.Errorf("%v: %+v, want a backlog of %d", key, got, want)
			}
		}
		g.open()
		synctest.Wait()
	})
}
