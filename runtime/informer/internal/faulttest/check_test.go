// SPDX-License-Identifier: Apache-2.0

package faulttest

import (
	"runtime"
	"slices"
	"strings"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/testkit/sourcetest"
)

// well asserts that everything is as it has to be.
func (w *world) well(when string) {
	w.t.Helper()
	synctest.Wait()
	w.agreed(when)
	status := w.informer.Status()
	if !status.Synced || status.Reflector.State != reflector.StateWatching || status.Reflector.Reason != reason.None {
		w.t.Errorf("%s: synced %v, %v", when, status.Synced, status.Reflector)
	}
}

// expected returns what the server has for the informer.
func (w *world) expected() map[object.Key]id {
	want := map[object.Key]id{}
	for _, pod := range w.pods.All() {
		if !w.selects || selected(pod) {
			want[object.KeyOf(pod)] = idOf(pod)
		}
	}
	return want
}

// agreed asserts that the store and all handlers have the objects of the server, and that the
// histories are legal.
func (w *world) agreed(when string) {
	w.t.Helper()
	want := w.expected()
	got := map[object.Key]id{}
	for pod := range w.informer.Store().Snapshot().All() {
		got[object.KeyOf(pod)] = idOf(pod)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(id{})); diff != "" {
		w.t.Errorf("%s: %d objects in the store, %d on the server (-server +store):\n%s", when, len(got), len(want), short(diff))
	}
	for _, h := range w.handlers {
		if wrong := h.verdict(want); wrong != nil {
			w.t.Errorf("%s: handler %s: %s", when, h.name, short(strings.Join(wrong, "; ")))
		}
	}
	media := w.media
	if w.jsonOnly.Load() {
		media = sourcetest.JSON
	}
	if got, _ := w.answered.Load().(string); !strings.HasPrefix(got, media) {
		w.t.Errorf("%s: the last answer was %v, this test is about %s", when, got, media)
	}
}

// short shortens a long text.
func short(text string) string {
	if len(text) > 300 {
		return text[:300] + " …"
	}
	return text
}

func (w *world) checkReasons() {
	w.t.Helper()
	w.checkReasonsAnd(nil)
}

// checkReasonsAnd asserts that the status has said all reasons that it had to, and no others but
// those that it may.
func (w *world) checkReasonsAnd(may []reason.Reason) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	want := map[reason.Reason]bool{}
	for _, reason := range w.fault.reasons {
		want[reason] = true
		if w.said[reason] == 0 {
			w.t.Errorf("the status never said %q", reason)
		}
	}
	for reason, times := range w.said {
		if !want[reason] && !slices.Contains(may, reason) {
			w.t.Errorf("the status said %q %d times", reason, times)
		}
	}
	if w.t.Failed() {
		w.t.Logf("failures: %q", w.errs)
	}
}

func (w *world) checkRequests() {
	w.t.Helper()
	requests := w.server.Requests()[w.before:]
	if len(requests) <= w.fault.requests && !w.t.Failed() {
		return
	}
	if len(requests) > w.fault.requests {
		w.t.Errorf("%d requests within %v, want at most %d", len(requests), w.fault.within, w.fault.requests)
	}
	for i, r := range requests {
		if i == 30 {
			w.t.Logf("… and %d more", len(requests)-i)
			break
		}
		w.t.Logf("%8v %v", r.Time.Sub(w.begun), r)
	}
}

// checkMemory asserts, after the informer has ended, that no more objects are referenced than its
// store has.
func (w *world) checkMemory() {
	w.t.Helper()
	if w.t.Failed() {
		return
	}
	stored := int64(w.informer.Store().Snapshot().Len())
	w.handlers = nil
	for began := time.Now(); time.Since(began) < patience; {
		runtime.GC()
		if w.decoded.Load() <= stored+2 {
			return
		}
		time.Sleep(time.Millisecond) // cleanups run on a goroutine of the garbage collector's
	}
	w.t.Errorf("%d objects are referenced, the store has %d", w.decoded.Load(), stored)
	runtime.KeepAlive(w.informer)
}
