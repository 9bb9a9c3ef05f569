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

// checkRecovered asserts that the informer has recovered: it watches without a failure, and has the
// server's state.
func (g *rig) checkRecovered(when string) {
	g.t.Helper()
	synctest.Wait()
	g.checkState(when)
	status := g.informer.Status()
	if !status.Synced || status.Reflector.State != reflector.StateWatching || status.Reflector.Reason != reason.None {
		g.t.Errorf("%s: synced %v, %v; want synced and watching", when, status.Synced, status.Reflector)
	}
}

// expected returns the server's objects that the informer selects.
func (g *rig) expected() map[object.Key]id {
	want := map[object.Key]id{}
	for _, pod := range g.pods.All() {
		if !g.selects || selected(pod) {
			want[object.KeyOf(pod)] = idOf(pod)
		}
	}
	return want
}

// checkState asserts that the store and all handlers have the server's objects, and that the
// histories are legal.
func (g *rig) checkState(when string) {
	g.t.Helper()
	want := g.expected()
	got := map[object.Key]id{}
	for pod := range g.informer.Store().Snapshot().All() {
		got[object.KeyOf(pod)] = idOf(pod)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(id{})); diff != "" {
		g.t.Errorf("%s: %d objects in the store, %d on the server (-server +store):\n%s", when, len(got), len(want), short(diff))
	}
	for _, h := range g.handlers {
		if violations := h.violations(want); violations != nil {
			g.t.Errorf("%s: handler %s: %s", when, h.name, short(strings.Join(violations, "; ")))
		}
	}
	media := g.media
	if g.jsonOnly.Load() {
		media = sourcetest.JSON
	}
	if got, _ := g.contentType.Load().(string); !strings.HasPrefix(got, media) {
		g.t.Errorf("%s: the Content-Type of the last answer is %v, want %s", when, got, media)
	}
}

// short truncates a long text.
func short(text string) string {
	if len(text) > 300 {
		return text[:300] + " …"
	}
	return text
}

func (g *rig) checkReasons() {
	g.t.Helper()
	g.checkReasonsAnd(nil)
}

// checkReasonsAnd asserts that the status has had all reasons of the fault, and no others except
// the allowed ones.
func (g *rig) checkReasonsAnd(allowed []reason.Reason) {
	g.t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	want := map[reason.Reason]bool{}
	for _, reason := range g.fault.reasons {
		want[reason] = true
		if g.reasonCounts[reason] == 0 {
			g.t.Errorf("the status never had the reason %q", reason)
		}
	}
	for reason, times := range g.reasonCounts {
		if !want[reason] && !slices.Contains(allowed, reason) {
			g.t.Errorf("the status had the reason %q %d times, want 0", reason, times)
		}
	}
	if g.t.Failed() {
		g.t.Logf("failures: %q", g.errs)
	}
}

func (g *rig) checkRequests() {
	g.t.Helper()
	requests := g.server.Requests()[g.before:]
	if len(requests) <= g.fault.requests && !g.t.Failed() {
		return
	}
	if len(requests) > g.fault.requests {
		g.t.Errorf("%d requests within %v, want at most %d", len(requests), g.fault.within, g.fault.requests)
	}
	for i, r := range requests {
		if i == 30 {
			g.t.Logf("… and %d more", len(requests)-i)
			break
		}
		g.t.Logf("%8v %v", r.Time.Sub(g.begun), r)
	}
}

// checkMemory asserts, after the end of the informer, that only the store's objects are referenced.
func (g *rig) checkMemory() {
	g.t.Helper()
	if g.t.Failed() {
		return
	}
	stored := int64(g.informer.Store().Snapshot().Len())
	g.handlers = nil
	for began := time.Now(); time.Since(began) < patience; {
		runtime.GC()
		if g.decoded.Load() <= stored+2 {
			return
		}
		time.Sleep(time.Millisecond) // the garbage collector runs cleanups on its own goroutine
	}
	g.t.Errorf("%d objects are referenced, want those of the store, %d", g.decoded.Load(), stored)
	runtime.KeepAlive(g.informer)
}
