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
			t.Errorf("asks for a watch of %v, want between 5 and 10 minutes", opts.Timeout)
		}
		opened()
		if err := send(event, ev(source.Added, "a", "3"), ev(source.Added, "b", "2"), ev(source.Modified, "a", "7"), ev(source.Deleted, "b", "8"),
			mark("8", false), mark("8", true), ev(source.Added, "c", "9"), ev(source.Modified, "c", "10"), ev(source.Deleted, "a", "11"), mark("20", false)); err != nil {
			return err
		}
		return hold(ctx, opened)
	}}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.wantCalls("stream rv=")
		g.wantTold("begin, replace a, replace b, replace a, delete b, end 8, add c, update c, delete a, bookmark 20")
		s := g.Status()
		if s.State != StateWatching || !s.Synced || s.ResourceVersion != "20" || s.Reason != reason.None || s.LastError != nil ||
			s.LastEvent != g.start || s.LastBookmark != g.start || s.Relists != 0 {
			t.Errorf("status %+v", s)
		}
		if got := fmt.Sprint(g.states); got != "[streaming the present objects watching]" {
			t.Errorf("states %s", got)
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
			t.Errorf("status %v", s)
		}
		g.pass(10 * time.Minute)
		if n := len(g.src.asked()); n > 100 {
			t.Errorf("%d requests in ten minutes", n)
		}
	})
}

// TestPagesOfObjectsOfOthers has a source that selects objects itself, as that of a shard may have
// to: many pages in a row have no object for the sink.
func TestPagesOfObjectsOfOthers(t *testing.T) {
	src := &fake{watch: quiet}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		if n <= 100 {
			return source.ListResult{ResourceVersion: "5", Continue: fmt.Sprint("page", n), Skipped: 500}, nil
		}
		return source.ListResult{ResourceVersion: "5"}, item(newThing("a", "1"))
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.wantTold("begin, replace a, end 5")
	})
}

// late is a Source whose lists bring objects only after their context is done, and return an error
// of their own.
type late struct{ *fake }

func (late) List(ctx context.Context, _ source.ListOptions, item func(thing) error) (source.ListResult, error) {
	<-ctx.Done()
	item(newThing("late", "2"))
	return source.ListResult{}, errors.New("interrupted")
}

func TestListThatIsInterrupted(t *testing.T) {
	inBubble(t, Config[thing]{Source: late{}, Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.pass(3 * time.Minute)
		if s := g.Status(); s.Reason != reason.Silent || reason.Of(s.LastError) != reason.Silent {
			t.Errorf("after silence: %v", s)
		}
		g.pass(time.Minute)
		g.sink.told, g.errs = nil, nil
		g.cancel()
		g.pass(0)
		if len(g.errs) != 0 {
			t.Errorf("stopping is called a failure: %v", g.errs)
		}
		g.wantTold("abort")
	})
}

// TestHealthyWatchListResetsTheBackoff shows that a watch-list is a watch like any other after its
// bookmark.
func TestHealthyWatchListResetsTheBackoff(t *testing.T) {
	denied := statusError(http.StatusUnauthorized, 0)
	src := &fake{}
	src.watch = func(ctx context.Context, n int, _ source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if n == 3 {
			opened()
			event(mark("5", true))
			sleep(ctx, 2*time.Minute)
		}
		return denied
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
		g.pass(3 * time.Minute)
		gaps := g.src.gaps(g.start)
		for i, want := range []time.Duration{0, 800 * time.Millisecond, 1600 * time.Millisecond, 2*time.Minute + 800*time.Millisecond} {
			if gaps[i] != want {
				t.Errorf("request %d comes after %v, want %v", i+1, gaps[i], want)
			}
		}
	})
}

func TestWatchListUnknownToTheServerIsRemembered(t *testing.T) {
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
		return hold(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{SilenceTimeout: time.Hour}}, func(g *rig) {
		g.pass(4 * time.Minute)
		g.wantCalls("stream rv=", "list rv=0 limit=500 token=", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=5")
		if s := g.Status(); s.Relists != 1 || s.State != StateWatching {
			t.Errorf("status %+v", s)
		}
	})
}

// TestWatchListWithoutAnswer has a server that does not even accept the watch.
func TestWatchListWithoutAnswer(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if n == 1 {
			<-ctx.Done()
			return ctx.Err() // not the cause
		}
		return hold(ctx, opened)
	}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.pass(10 * time.Second)
		g.wantCalls("stream rv=", "list rv=0 limit=500 token=", "watch rv=5")
		if len(g.errs) != 1 || reason.Of(g.errs[0]) != reason.Silent {
			t.Errorf("errors %v", g.errs)
		}
	})
}

// TestSlowWatchList has initial events that together take longer than the timeout, but not one by
// one.
func TestSlowWatchList(t *testing.T) {
	src := &fake{watch: func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		for i := range 20 {
			time.Sleep(9 * time.Second)
			if err := event(ev(source.Added, fmt.Sprint(i), "1")); err != nil {
				return err
			}
		}
		if err := event(mark("5", true)); err != nil {
			return err
		}
		return hold(ctx, opened)
	}}
	bubble(t, src, Config[thing]{}, func(g *rig) {
		g.pass(181 * time.Second)
		g.wantCalls("stream rv=")
		if s := g.Status(); s.State != StateWatching || s.LastError != nil {
			t.Errorf("status %v", s)
		}
	})
}

// TestWatchListThatTalksOn has a server that goes on adding objects and never sends the bookmark.
func TestWatchListThatTalksOn(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if !opts.SendInitialEvents {
			return hold(ctx, opened)
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
		g.wantCalls("stream rv=", "list rv=0 limit=500 token=", "watch rv=5")
	})
}

// TestTheLongestWatchTimeout: no sum with it overflows.
func TestTheLongestWatchTimeout(t *testing.T) {
	src := &fake{}
	src.watch = func(ctx context.Context, _ int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if opts.Timeout < math.MaxInt64/4 {
			t.Errorf("asks for a watch of %v", opts.Timeout)
		}
		opened()
		time.Sleep(time.Second)
		if err := send(event, mark("5", true)); err != nil {
			return err
		}
		return hold(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{WatchTimeout: math.MaxInt64, InitialEventsTimeout: math.MaxInt64}}, func(g *rig) {
		g.pass(time.Minute)
		g.wantCalls("stream rv=")
	})
}
