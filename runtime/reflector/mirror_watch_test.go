// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestMirrorBackoffOfConnections: client-go's TestReflectorListAndWatchInitConnBackoff and
// TestNewReflectorWithCustomBackoff. Its jitter prolongs waits, ours shortens them; the waits here
// have none.
func TestMirrorBackoffOfConnections(t *testing.T) {
	for name, tc := range map[string]struct {
		backoff Backoff
		fails   int
		want    time.Duration
	}{
		"5 failures":     {Backoff{Initial: time.Millisecond, Max: 50 * time.Millisecond}, 5, 31 * time.Millisecond},
		"40 failures":    {Backoff{Initial: time.Millisecond, Max: 50 * time.Millisecond}, 40, (63 + 34*50) * time.Millisecond},
		"custom backoff": {Backoff{Initial: 10 * time.Millisecond, Max: 100 * time.Millisecond}, 5, 250 * time.Millisecond},
		"the defaults":   {Backoff{}, 2, 2400 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			var all []scriptedWatch
			for range tc.fails {
				all = append(all, scriptedWatch{refuse: syscall.ECONNREFUSED})
			}
			tc.backoff.Jitter = -1
			src := &fake{list: listOf("1"), watch: script(all...)}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, Backoff: tc.backoff}}, func(g *rig) {
				g.pass(tc.want)
				s := g.Status()
				if s.State != StateWatching || s.Since.Sub(g.start) != tc.want || s.Attempts != tc.fails || src.lists != 1 {
					t.Errorf("Status() after %v = %+v", s.Since.Sub(g.start), s)
				}
			})
		})
	}
}

// TestMirrorWatchTimeout: client-go's TestWatchTimeout. Unlike there, a timeout below 5
// minutes is used.
func TestMirrorWatchTimeout(t *testing.T) {
	for set, want := range map[time.Duration]time.Duration{0: 5 * time.Minute, time.Minute: time.Minute, 30 * time.Minute: 30 * time.Minute} {
		for _, noWatchList := range []bool{false, true} {
			var got time.Duration
			src := &fake{list: listOf("10")}
			src.watch = func(ctx context.Context, _ int, opts source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
				got = opts.Timeout
				return stayOpen(ctx, opened)
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: noWatchList, WatchTimeout: set}}, func(*rig) {
				if got < want || got > 2*want {
					t.Errorf("WatchTimeout %v: WatchOptions.Timeout = %v, want %v to %v", set, got, want, 2*want)
				}
			})
		}
	}
}

// TestMirrorUnsafeDelete: client-go's TestReflectorReplacesStoreOnUnsafeDelete. An object
// that the server could not read was deleted from its storage by force. The watch reports it, and
// the next full state lacks the object.
func TestMirrorUnsafeDelete(t *testing.T) {
	corrupt := &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonStoreReadError,
		Message: "failed to prepare current and previous objects: corrupt object has been deleted",
	}}
	pods := []thing{newThing("foo-1", "1"), newThing("foo-2", "2"), newThing("foo-3", "3")}
	src := &fake{watch: script(scriptedWatch{events: []source.Event[thing]{ev(source.Added, "foo", "4")}, ends: true, err: corrupt})}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		return listOf([]string{"3", "5"}[n-1], pods...)(n, opts, item)
	}
	bubble(t, src, listsOnly, func(g *rig) {
		g.wantSinkCalls("begin, replace foo-1, replace foo-2, replace foo-3, end 3, add foo, begin, replace foo-1, replace foo-2, replace foo-3, end 5")
		g.wantContent("foo-1@1 foo-2@2 foo-3@3")
		if s := g.Status(); reason.Of(s.LastError) != reason.Unreadable || s.ResourceVersion != "5" || s.Relists != 1 {
			t.Errorf("Status() = %+v", s)
		}
	})
}

// TestMirrorWatchClosed: client-go's TestReflectorHandleWatchResultChanClosedBefore and …After. A
// watch closed within a second is reported as a failure, but needs no list.
func TestMirrorWatchClosed(t *testing.T) {
	for _, after := range []time.Duration{0, 10 * time.Millisecond} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			src := &fake{list: listOf("1"), watch: script(scriptedWatch{ends: true, after: after})}
			bubble(t, src, listsOnly, func(g *rig) {
				g.pass(time.Second)
				g.wantRequests("list rv=0 limit=500 token=", "watch rv=1", "watch rv=1")
				if s := g.Status(); reason.Of(s.LastError) != reason.ShortWatch || s.State != StateWatching {
					t.Errorf("Status() = %+v", s)
				}
			})
		})
	}
}

// TestMirrorStoppedBefore: client-go's TestReflectorWatchStoppedBefore, …HandleWatchStoppedBefore
// and …StopWatch. No request is sent, and the sink is not called.
func TestMirrorStoppedBefore(t *testing.T) {
	src, sink := &fake{}, &recorder{}
	r, err := New(Config[thing]{Source: src, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(silent())
	cancel(errors.New("don't run"))
	if err := r.Run(ctx); err != nil {
		t.Errorf("Run() = %v", err)
	}
	if requests, calls := src.requests(), sink.String(); len(requests) != 0 || calls != "" {
		t.Errorf("requests %q, sink calls %q, want none", requests, calls)
	}
}

// TestMirrorStoppedAfter: client-go's TestReflectorWatchStoppedAfter, …HandleWatchStoppedAfter and
// TestRunUntil. The watch is cancelled, and ends before Run returns. Its events after the
// cancellation are not passed on.
func TestMirrorStoppedAfter(t *testing.T) {
	var ended atomic.Bool
	src := &fake{list: listOf("1")}
	src.watch = func(ctx context.Context, _ int, _ source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		<-ctx.Done()
		time.Sleep(time.Millisecond)
		event(ev(source.Added, "late", "2"))
		ended.Store(true)
		return context.Cause(ctx)
	}
	bubble(t, src, listsOnly, func(g *rig) {
		g.pass(10 * time.Millisecond)
		g.cancel()
		g.pass(0)
		if ended.Load() {
			t.Error("the watch ended too early")
		}
		g.pass(time.Millisecond)
		if s := g.Status(); !ended.Load() || s.State != StateStopped {
			t.Errorf("Status() = %+v", s)
		}
		if len(g.errs) != 0 {
			t.Errorf("OnError got %v after the cancellation", g.errs)
		}
		if got := g.sink.String(); strings.Contains(got, "abort") || strings.Contains(got, "late") {
			t.Errorf("sink calls: %s", got)
		}
	})
}
