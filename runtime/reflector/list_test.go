// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestWatchList(t *testing.T) {
	src := &fake{watch: func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if opts.Timeout < 5*time.Minute || opts.Timeout >= 10*time.Minute {
			t.Errorf("WatchOptions.Timeout = %v, want 5 to 10 minutes", opts.Timeout)
		}
		opened()
		if err := send(event, ev(source.Added, "a", "3"), ev(source.Added, "b", "2"), ev(source.Modified, "a", "7"), ev(source.Deleted, "b", "8"),
			bookmark("8", false), bookmark("8", true), ev(source.Added, "c", "9"), ev(source.Modified, "c", "10"), ev(source.Deleted, "a", "11"), bookmark("20", false)); err != nil {
			return err
		}
		return stayOpen(ctx, opened)
	}}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.wantRequests("watch-list rv=")
		g.wantSinkCalls("begin, replace a, replace b, replace a, delete b, end 8, add c, update c, delete a, bookmark 20")
		s := g.Status()
		if s.State != StateWatching || !s.Synced || s.ResourceVersion != "20" || s.Reason != reason.None || s.LastError != nil ||
			s.LastEvent != g.start || s.LastBookmark != g.start || s.Relists != 0 {
			t.Errorf("Status() = %+v", s)
		}
		if got := fmt.Sprint(g.states); got != "[streaming the present objects watching]" {
			t.Errorf("OnState got %s", got)
		}
	})
}

func TestEndlessListBacksOff(t *testing.T) {
	src := &fake{watch: quiet}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		item(newThing("a", "1"))
		return source.ListResult{ResourceVersion: "5", Continue: "x"}, nil
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		s := g.Status()
		if s.State != StateWaiting || s.Reason != reason.EndlessList || reason.Of(s.LastError) != reason.EndlessList {
			t.Errorf("Status() = %v", s)
		}
		g.pass(10 * time.Minute)
		if n := len(g.src.requests()); n > 100 {
			t.Errorf("%d requests in ten minutes, want at most 100", n)
		}
	})
}

// TestListWithPagesOfSkippedObjects: a source that selects objects itself, as for a shard, may have
// many pages in a row without an object for the sink.
func TestListWithPagesOfSkippedObjects(t *testing.T) {
	src := &fake{watch: quiet}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		if n <= 100 {
			return source.ListResult{ResourceVersion: "5", Continue: fmt.Sprint("page", n), Skipped: 500}, nil
		}
		return source.ListResult{ResourceVersion: "5"}, item(newThing("a", "1"))
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.wantSinkCalls("begin, replace a, end 5")
	})
}

// lateSource is a Source whose lists hand over an object after their context is done, and return
// their own error.
type lateSource struct{ *fake }

func (lateSource) List(ctx context.Context, _ source.ListOptions, item func(thing) error) (source.ListResult, error) {
	<-ctx.Done()
	item(newThing("late", "2"))
	return source.ListResult{}, errors.New("interrupted")
}

func TestInterruptedList(t *testing.T) {
	inBubble(t, Config[thing]{Source: lateSource{}, Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.pass(3 * time.Minute)
		if s := g.Status(); s.Reason != reason.Silent || reason.Of(s.LastError) != reason.Silent {
			t.Errorf("Status() after silence = %v", s)
		}
		g.pass(time.Minute)
		g.sink.calls, g.errs = nil, nil
		g.cancel()
		g.pass(0)
		if len(g.errs) != 0 {
			t.Errorf("OnError got %v after the cancellation", g.errs)
		}
		g.wantSinkCalls("abort")
	})
}

// TestHealthyWatchListResetsTheBackoff: after its bookmark, a watch-list is like any other watch.
func TestHealthyWatchListResetsTheBackoff(t *testing.T) {
	denied := statusError(http.StatusUnauthorized, 0)
	src := &fake{}
	src.watch = func(ctx context.Context, n int, _ source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if n == 3 {
			opened()
			event(bookmark("5", true))
			sleep(ctx, 2*time.Minute)
		}
		return denied
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
		g.pass(3 * time.Minute)
		gaps := g.src.gaps(g.start)
		for i, want := range []time.Duration{0, 800 * time.Millisecond, 1600 * time.Millisecond, 2*time.Minute + 800*time.Millisecond} {
			if gaps[i] != want {
				t.Errorf("the wait before request %d is %v, want %v", i+1, gaps[i], want)
			}
		}
	})
}

func TestUnsupportedWatchListIsNotRetried(t *testing.T) {
	src := &fake{list: listOf("5", newThing("a", "1"))}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if opts.SendInitialEvents {
			return errInvalid
		}
		if n == 2 {
			opened()
			time.Sleep(3 * time.Minute)
			return errGone
		}
		return stayOpen(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{SilenceTimeout: time.Hour}}, func(g *rig) {
		g.pass(4 * time.Minute)
		g.wantRequests("watch-list rv=", "list rv=0 limit=500 token=", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=5")
		if s := g.Status(); s.Relists != 1 || s.State != StateWatching {
			t.Errorf("Status() = %+v", s)
		}
	})
}

// TestWatchListWithoutAnswer: the server does not accept the watch.
func TestWatchListWithoutAnswer(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if n == 1 {
			<-ctx.Done()
			return ctx.Err() // not the cause
		}
		return stayOpen(ctx, opened)
	}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.pass(10 * time.Second)
		g.wantRequests("watch-list rv=", "list rv=0 limit=500 token=", "watch rv=5")
		if len(g.errs) != 1 || reason.Of(g.errs[0]) != reason.Silent {
			t.Errorf("OnError got %v", g.errs)
		}
	})
}

// TestSlowWatchList: the timeout is for the pause before each initial event, not for all together.
func TestSlowWatchList(t *testing.T) {
	src := &fake{watch: func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		for i := range 20 {
			time.Sleep(9 * time.Second)
			if err := event(ev(source.Added, fmt.Sprint(i), "1")); err != nil {
				return err
			}
		}
		if err := event(bookmark("5", true)); err != nil {
			return err
		}
		return stayOpen(ctx, opened)
	}}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.pass(181 * time.Second)
		g.wantRequests("watch-list rv=")
		if s := g.Status(); s.State != StateWatching || s.LastError != nil {
			t.Errorf("Status() = %v", s)
		}
	})
}

// TestWatchListWithoutEnd: the server adds objects all the time, and never sends the bookmark.
func TestWatchListWithoutEnd(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if !opts.SendInitialEvents {
			return stayOpen(ctx, opened)
		}
		opened()
		for ctx.Err() == nil {
			time.Sleep(time.Second)
			event(ev(source.Added, "a", "1"))
		}
		return context.Cause(ctx)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{WatchTimeout: time.Minute}}, func(g *rig) {
		g.pass(2*time.Minute + 12*time.Second)
		g.wantRequests("watch-list rv=", "list rv=0 limit=500 token=", "watch rv=5")
	})
}

func TestLongestWatchTimeoutDoesNotOverflow(t *testing.T) {
	src := &fake{}
	src.watch = func(ctx context.Context, _ int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if opts.Timeout < math.MaxInt64/4 {
			t.Errorf("WatchOptions.Timeout = %v, want at least %v", opts.Timeout, time.Duration(math.MaxInt64/4))
		}
		opened()
		time.Sleep(time.Second)
		if err := send(event, bookmark("5", true)); err != nil {
			return err
		}
		return stayOpen(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{WatchTimeout: math.MaxInt64, InitialEventsTimeout: math.MaxInt64}}, func(g *rig) {
		g.pass(time.Minute)
		g.wantRequests("watch-list rv=")
	})
}
