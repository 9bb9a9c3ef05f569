// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestListsReplaceForbiddenWatches: the account may list but not watch, and later both.
func TestListsReplaceForbiddenWatches(t *testing.T) {
	const first, later = "list rv=0 limit=500 token=", "list rv=5NotOlderThan limit=0 token="
	for name, tc := range map[string]struct {
		lists bool
		want  []string // until the watch is allowed
	}{
		"watch-lists": {false, []string{"watch-list rv=", first, "watch rv=5", later, "watch rv=5", later, "watch rv=5"}},
		"lists":       {true, []string{first, "watch rv=5", "watch rv=5", later, "watch rv=5", later, "watch rv=5"}},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("5", newThing("a", "3"))}
			var allowed atomic.Bool
			src.watch = func(ctx context.Context, _ int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
				if !allowed.Load() {
					return statusError(403, 0)
				}
				return stayOpen(ctx, opened)
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: tc.lists, SilenceTimeout: time.Hour, Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
				g.pass(3 * time.Second) // the waits are 0.8 s, 1.6 s, 3.2 s and so on
				if tc.lists {
					g.pass(3 * time.Second)
				}
				g.wantRequests(tc.want...)
				g.wantContent("a@3")
				s := g.Status()
				if !s.Synced || s.State != StateWaiting || s.Reason != reason.WatchForbidden || s.Reason.Lasting() {
					t.Errorf("Status() = %+v", s)
				}
				if reason.Of(s.LastError) != reason.WatchForbidden || !apierrors.IsForbidden(s.LastError) {
					t.Errorf("Status().LastError = %v, want WatchForbidden", s.LastError)
				}
				allowed.Store(true)
				g.pass(time.Minute)
				if s := g.Status(); s.State != StateWatching || s.Reason != reason.None {
					t.Errorf("Status() = %+v", s)
				}
				g.wantRequests(append(tc.want, later, "watch rv=5")...)
			})
		})
	}
}

// TestForbiddenListsAndWatches: if the account may neither list nor watch, the reason is Forbidden
// from the second request on.
func TestForbiddenListsAndWatches(t *testing.T) {
	src := &fake{list: func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
		return source.ListResult{}, statusError(403, 0)
	}}
	src.watch = func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error {
		return statusError(403, 0)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
		const list = "list rv=0 limit=500 token="
		for range 3 {
			if s := g.Status(); s.Synced || s.State != StateWaiting || s.Reason != reason.Forbidden || !s.Reason.Lasting() {
				t.Errorf("Status() = %+v", s)
			}
			g.pass(time.Minute)
		}
		if calls := g.src.requests(); calls[0] != "watch-list rv=" || calls[1] != list || calls[len(calls)-1] != list || len(calls) > 16 {
			t.Errorf("requests %q", calls)
		}
	})
}
