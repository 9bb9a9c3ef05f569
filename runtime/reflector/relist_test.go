// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// slowList answers the n-th list with version n·10, after a second.
func slowList(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
	time.Sleep(time.Second)
	return source.ListResult{ResourceVersion: fmt.Sprint(10 * n)}, nil
}

// TestRelist asks for full states while the reflector watches, and while it lists: twice, which
// counts as one.
func TestRelist(t *testing.T) {
	bubble(t, &fake{list: slowList, watch: quiet}, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.pass(time.Minute)
		g.Relist()
		g.pass(500 * time.Millisecond)
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=10", "list rv=10NotOlderThan limit=0 token=")
		g.Relist()
		g.Relist()
		g.pass(time.Minute)
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=10", "list rv=10NotOlderThan limit=0 token=", "watch rv=20", "list rv=20NotOlderThan limit=0 token=", "watch rv=30")
		if s := g.Status(); s.State != StateWatching || s.Relists != 2 || s.RelistsBy[reason.None] != 2 || s.Reason != reason.None || len(g.errs) > 0 {
			t.Errorf("Status() = %v, %d relists, errors %v", s, s.Relists, g.errs)
		}
	})
}

// TestRelistByWatchList asks for a full state during the initial events of a watch-list, and after
// them.
func TestRelistByWatchList(t *testing.T) {
	src := &fake{watch: func(ctx context.Context, n int, _ source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		sleep(ctx, time.Second)
		if err := event(bookmark(fmt.Sprint(10*n), true)); err != nil {
			return err
		}
		return stayOpen(ctx, opened)
	}}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.Relist()
		g.pass(10 * time.Second)
		g.wantRequests("watch-list rv=", "watch-list rv=10")
		g.Relist()
		g.pass(10 * time.Second)
		g.wantRequests("watch-list rv=", "watch-list rv=10", "watch-list rv=20")
		g.wantSinkCalls("begin, end 10, begin, end 20, begin, end 30")
	})
}

// TestRelistWaits asks for a full state while the reflector waits after a failure. The list that
// follows counts.
func TestRelistWaits(t *testing.T) {
	src := &fake{watch: quiet, list: func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
		if n == 1 {
			return source.ListResult{}, errors.New("refused")
		}
		return source.ListResult{ResourceVersion: "5"}, nil
	}}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.Relist()
		g.wantRequests("list rv=0 limit=500 token=")
		g.pass(time.Minute)
		g.wantRequests("list rv=0 limit=500 token=", "list rv=0 limit=500 token=", "watch rv=5")
		g.rerun()
		g.Relist()
		g.pass(0)
		g.wantSinkCalls("begin, abort, begin, end 5, begin, end 5, begin, end 5")
	})
}

// TestRelistAfterForbiddenOnes: while lists and watches are forbidden, the reflector asks for one
// and the other. The full state is read at last, not forgotten by a watch.
func TestRelistAfterForbiddenOnes(t *testing.T) {
	start := time.Now()
	forbidden := func() bool { return time.Since(start) > time.Minute && time.Since(start) < 2*time.Minute }
	src := &fake{list: func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
		if forbidden() {
			return source.ListResult{}, statusError(403, 0)
		}
		return source.ListResult{ResourceVersion: fmt.Sprint(n)}, nil
	}}
	src.watch = func(ctx context.Context, _ int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		switch {
		case forbidden():
			return statusError(403, 0)
		case opts.SendInitialEvents:
			opened()
			if err := event(bookmark("9", true)); err != nil {
				return err
			}
		}
		return stayOpen(ctx, opened)
	}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		start = time.Now()
		g.pass(90 * time.Second)
		g.Relist()
		g.pass(10 * time.Minute)
		if s := g.Status(); s.State != StateWatching || s.Relists != 1 {
			t.Errorf("Status() = %v, %d relists, want 1; requests:\n%s", s, s.Relists, strings.Join(g.src.requests(), "\n"))
		}
	})
}
