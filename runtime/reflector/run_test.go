// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/source"
)

// watchFunc is the type of fake.watch.
type watchFunc = func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error

// quiet is a watch that opens and brings nothing.
func quiet(ctx context.Context, _ int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
	return hold(ctx, opened)
}

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
		if s.State != StateWatching || !s.Synced || s.ResourceVersion != "20" || s.Reason != ReasonNone || s.LastError != nil ||
			s.LastEvent != g.start || s.LastBookmark != g.start || s.Relists != 0 {
			t.Errorf("status %+v", s)
		}
		if got := fmt.Sprint(g.states); got != "[streaming the present objects watching]" {
			t.Errorf("states %s", got)
		}
	})
}

func TestListThenWatch(t *testing.T) {
	src := &fake{list: listOf("5", newThing("a", "1"), newThing("b", "2")), watch: quiet}
	bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=5")
		g.wantTold("begin, replace a, replace b, end 5")
	})
}

func TestPageSize(t *testing.T) {
	src := &fake{watch: quiet}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		item(newThing(fmt.Sprint("p", n), "1"))
		next := map[string]string{"": "x", "x": "y"}[opts.Continue]
		return source.ListResult{ResourceVersion: "5", Continue: next}, nil
	}
	bubble(t, src, Config[thing]{DisableWatchList: true, PageSize: 7}, func(g *rig) {
		g.wantCalls("list rv= limit=7 token=", "list rv= limit=7 token=x", "list rv= limit=7 token=y", "watch rv=5")
		g.wantTold("begin, replace p1, replace p2, replace p3, end 5")
	})
}

func TestExpiredTokenListsFromTheStart(t *testing.T) {
	src := &fake{watch: quiet}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		if opts.Continue != "" {
			return source.ListResult{}, errGone
		}
		item(newThing("a", "1"))
		if opts.Limit == 0 {
			return source.ListResult{ResourceVersion: "6"}, nil
		}
		return source.ListResult{ResourceVersion: "5", Continue: "x"}, nil
	}
	bubble(t, src, Config[thing]{DisableWatchList: true, PageSize: 7}, func(g *rig) {
		g.wantCalls("list rv= limit=7 token=", "list rv= limit=7 token=x", "list rv= limit=0 token=", "watch rv=6")
		g.wantTold("begin, replace a, abort, begin, replace a, end 6")
	})
}

func TestEndlessListBacksOff(t *testing.T) {
	src := &fake{watch: quiet}
	src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		item(newThing("a", "1"))
		return source.ListResult{ResourceVersion: "5", Continue: "x"}, nil
	}
	bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
		s := g.Status()
		if s.State != StateWaiting || s.Reason != ReasonEndlessList || !errors.Is(s.LastError, ErrEndlessList) {
			t.Errorf("status %v", s)
		}
		g.pass(10 * time.Minute)
		if n := len(g.src.asked()); n > 100 {
			t.Errorf("%d requests in ten minutes", n)
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
	bubble(t, src, Config[thing]{SilenceTimeout: time.Hour}, func(g *rig) {
		g.pass(4 * time.Minute)
		g.wantCalls("stream rv=", "list rv=0 limit=500 token=", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=5")
		if s := g.Status(); s.Relists != 1 || s.State != StateWatching {
			t.Errorf("status %+v", s)
		}
	})
}

// TestWatchListWithoutBookmark has servers that never end the initial events: silent ones, and ones that talk on.
func TestWatchListWithoutBookmark(t *testing.T) {
	for name, talk := range map[string]func(event func(source.Event[thing]) error) error{
		"silent":    func(func(source.Event[thing]) error) error { return nil },
		"bookmarks": func(event func(source.Event[thing]) error) error { return send(event, mark("5", false)) },
		"changes":   func(event func(source.Event[thing]) error) error { return send(event, ev(source.Modified, "a", "5")) },
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("5", newThing("a", "1"))}
			src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
				if !opts.SendInitialEvents {
					return hold(ctx, opened)
				}
				opened()
				send(event, ev(source.Added, "a", "1"))
				for ctx.Err() == nil {
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
						talk(event)
					}
				}
				return context.Cause(ctx)
			}
			bubble(t, src, Config[thing]{}, func(g *rig) {
				g.pass(10*time.Second + time.Millisecond)
				g.wantCalls("stream rv=", "list rv=0 limit=500 token=", "watch rv=5")
				if s := g.Status(); !s.Synced || s.State != StateWatching || !errors.Is(s.LastError, ErrNoBookmark) {
					t.Errorf("status %v", s)
				}
				if got := g.sink.String(); !strings.HasSuffix(got, "abort, begin, replace a, end 5") {
					t.Errorf("told %s", got)
				}
			})
		})
	}
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
		if len(g.errs) != 1 || !errors.Is(g.errs[0], ErrSilent) {
			t.Errorf("errors %v", g.errs)
		}
	})
}

// TestSlowWatchList has initial events that take longer than the timeout together, but not each.
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

// TestWatchListThatTalksOn has a server that adds objects for ever and never comes to the bookmark.
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
	bubble(t, src, Config[thing]{WatchTimeout: time.Minute}, func(g *rig) {
		g.pass(2*time.Minute + 12*time.Second)
		g.wantCalls("stream rv=", "list rv=0 limit=500 token=", "watch rv=5")
	})
}

// TestOutageStaysAtTheCap has a server that is away for ten minutes, before the first list and in the middle of watching.
func TestOutageStaysAtTheCap(t *testing.T) {
	for _, watching := range []bool{false, true} {
		t.Run(fmt.Sprint("watching ", watching), func(t *testing.T) {
			refused := errors.New("connection refused")
			src := &fake{}
			src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
				if !watching || n > 1 {
					return refused
				}
				opened()
				return event(mark("5", true))
			}
			bubble(t, src, Config[thing]{Backoff: Backoff{Jitter: -1}}, func(g *rig) {
				g.pass(10*time.Minute + time.Second)
				if got := g.src.asked(); src.lists != 0 || watching && got[len(got)-1] != "watch rv=5" {
					t.Errorf("asked %v", got)
				}
				gaps := g.src.gaps(g.start)[1:]
				if watching && gaps[0] == 0 {
					gaps = gaps[1:] // the first watch was at once, after one that ended well
				}
				want := []time.Duration{800, 1600, 3200, 6400, 12800, 25600}
				for i, gap := range gaps {
					w := 30 * time.Second
					if i < len(want) {
						w = want[i] * time.Millisecond
					}
					if gap != w {
						t.Fatalf("wait %d is %v, want %v: %v", i, gap, w, gaps)
					}
				}
				if len(gaps) < 20 {
					t.Errorf("only %d attempts", len(gaps))
				}
				s := g.Status()
				if s.State != StateWaiting || s.Reason != ReasonUnreachable || s.LastError != refused || s.Attempts < 20 || s.RetryAt.Before(time.Now()) {
					t.Errorf("status %+v", s)
				}
				if len(g.errs) < 20 {
					t.Errorf("OnError was called %d times", len(g.errs))
				}
			})
		})
	}
}

func TestBackoffIsResetByAHealthyWatchOnly(t *testing.T) {
	src := &fake{list: listOf("5")}
	var open atomic.Int64
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		sleep(ctx, time.Duration(open.Load()))
		return errBusy
	}
	bubble(t, src, Config[thing]{DisableWatchList: true, SilenceTimeout: time.Hour, Backoff: Backoff{Jitter: -1}}, func(g *rig) {
		open.Store(int64(119 * time.Second)) // not enough
		g.pass(30 * time.Minute)
		gaps := g.src.gaps(g.start)
		if last := gaps[len(gaps)-1]; last != 149*time.Second {
			t.Errorf("after short watches %v pass, want 119 s + 30 s", last)
		}
		open.Store(int64(2 * time.Minute))
		g.pass(10 * time.Minute)
		gaps = g.src.gaps(g.start)
		if last := gaps[len(gaps)-1]; last != 2*time.Minute+800*time.Millisecond {
			t.Errorf("after healthy watches %v pass, want 2 min + 0.8 s", last)
		}
		if src.lists != 1 {
			t.Errorf("%d lists, want 1", src.lists)
		}
	})
}

// TestCancelIsImmediate cancels in every state; the bubble's clock shows that no time passes.
func TestCancelIsImmediate(t *testing.T) {
	stuck := func(ctx context.Context, _ int, _ source.WatchOptions, _ func(), _ func(source.Event[thing]) error) error {
		<-ctx.Done()
		return ctx.Err()
	}
	failing := func(err error) watchFunc {
		return func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error {
			return err
		}
	}
	for name, tc := range map[string]struct {
		watch watchFunc
		list  bool
		state State
		told  string
	}{
		"backing off":   {failing(io.ErrUnexpectedEOF), false, StateWaiting, "begin, abort"},
		"retry after":   {failing(statusError(429, 3600)), false, StateWaiting, "begin, abort"},
		"streaming":     {quiet, false, StateStreaming, "begin, abort"},
		"not connected": {stuck, true, StateConnecting, "begin, end 5"},
		"watching":      {quiet, true, StateWatching, "begin, end 5"},
	} {
		t.Run(name, func(t *testing.T) {
			var sink *record
			bubble(t, &fake{list: listOf("5"), watch: tc.watch}, Config[thing]{DisableWatchList: tc.list}, func(g *rig) {
				sink = g.sink
				if s := g.Status(); s.State != tc.state {
					t.Errorf("status %v, want %v", s, tc.state)
				}
			})
			if got := sink.String(); got != tc.told {
				t.Errorf("told %s, want %s", got, tc.told)
			}
		})
	}
}

// TestExpiriesAreThrottled has servers whose every version is expired, in all places.
func TestExpiriesAreThrottled(t *testing.T) {
	stream := func(err error) watchFunc {
		return func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
			opened()
			if opts.SendInitialEvents {
				if err := send(event, ev(source.Added, "a", "1"), mark("5", true)); err != nil {
					return err
				}
			}
			return err
		}
	}
	failingList := func(err error) func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
		return func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
			return source.ListResult{}, err
		}
	}
	refuse := func(err error) watchFunc {
		return func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error {
			return err
		}
	}
	for name, src := range map[string]*fake{
		"in the stream":            {list: listOf("5"), watch: stream(errGone)},
		"as an answer":             {list: listOf("5"), watch: refuse(errGone)},
		"everywhere":               {list: failingList(errGone), watch: refuse(errGone)},
		"too new":                  {list: listOf("5"), watch: refuse(errTooNew)},
		"too new everywhere":       {list: failingList(errTooNew), watch: refuse(errTooNew)},
		"closed":                   {list: listOf("5"), watch: refuse(nil)},
		"closed after the initial": {list: listOf("5"), watch: stream(nil)},
	} {
		for _, noStream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, noStream), func(t *testing.T) {
				bubble(t, &fake{list: src.list, watch: src.watch}, Config[thing]{DisableWatchList: noStream}, func(g *rig) {
					g.pass(10 * time.Minute)
					if n := len(g.src.asked()); n > 120 || n < 20 {
						t.Errorf("%d requests in ten minutes; the first ones: %v", n, g.src.asked()[:min(n, 10)])
					}
				})
			})
		}
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	for name, err := range map[string]error{"429": statusError(429, 7), "503": statusError(503, 7)} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("5")}
			src.watch = func(context.Context, int, source.WatchOptions, func(), func(source.Event[thing]) error) error {
				return err
			}
			bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
				if s := g.Status(); s.State != StateWaiting || s.Reason != ReasonThrottled || time.Until(s.RetryAt) < 7*time.Second {
					t.Errorf("status %+v", s)
				}
				g.pass(time.Minute)
				for i, gap := range g.src.gaps(g.start)[2:] {
					if gap < 7*time.Second || gap > 7700*time.Millisecond {
						t.Errorf("wait %d is %v, want 7 s and at most a tenth", i, gap)
					}
				}
				if src.lists != 1 || src.watches < 8 {
					t.Errorf("%d lists and %d watches", src.lists, src.watches)
				}
			})
		})
	}
}

// TestNoRelist has failures of a watch that are answered by another watch from the same version: statuses in the place of
// a watch, and streams that break.
func TestNoRelist(t *testing.T) {
	for name, err := range map[string]error{
		"500": statusError(500, 0), "503": errBusy, "504": statusError(504, 0), "429": statusError(429, 0), "401": statusError(401, 0),
		"403": statusError(403, 0), "404": statusError(404, 0), "reset": errors.New("connection reset by peer"), "cut": io.ErrUnexpectedEOF,
		"closed at once": nil,
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("5")}
			src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
				var status apierrors.APIStatus
				switch {
				case n == 1:
					opened()
					event(ev(source.Added, "a", "6"))
					return err
				case n <= 4:
					if !errors.As(err, &status) {
						opened()
					}
					return err
				}
				return hold(ctx, opened)
			}
			bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
				g.pass(20 * time.Second)
				g.wantCalls("list rv=0 limit=500 token=", "watch rv=5", "watch rv=6", "watch rv=6", "watch rv=6", "watch rv=6")
				if s := g.Status(); s.State != StateWatching || s.Reason != ReasonNone || s.Attempts != 0 || s.LastError == nil {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}

// TestStuckWatch has a server whose watches from one version never get past what comes next: API servers accept them and
// fail when the state before the next change is compacted, and an object that can't be read stays so until it is changed.
// Only another full state leads past that.
func TestStuckWatch(t *testing.T) {
	for name, err := range map[string]error{
		"500":      statusError(500, 0),
		"bad data": &source.DecodeError{Err: source.ErrWrongKind},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
				return source.ListResult{ResourceVersion: []string{"5", "9"}[n-1]}, nil
			}}
			src.watch = func(ctx context.Context, _ int, opts source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
				opened()
				if opts.ResourceVersion == "5" {
					return err
				}
				return hold(ctx, opened)
			}
			bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
				g.pass(20 * time.Second)
				g.wantCalls("list rv=0 limit=500 token=", "watch rv=5", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=9")
			})
		})
	}
}

func TestDeniedSaysSo(t *testing.T) {
	for code, reason := range map[int]Reason{401: ReasonUnauthorized, 403: ReasonForbidden, 404: ReasonNotFound} {
		src := &fake{}
		src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
			if n < 5 {
				return statusError(code, 0)
			}
			opened()
			event(mark("5", true))
			return hold(ctx, opened)
		}
		bubble(t, src, Config[thing]{}, func(g *rig) {
			if s := g.Status(); s.State != StateWaiting || s.Reason != reason || s.Synced || !strings.Contains(s.String(), reason.String()) {
				t.Errorf("status %v", s)
			}
			g.pass(time.Minute) // until it is allowed
			if s := g.Status(); s.State != StateWatching || !s.Synced {
				t.Errorf("status %v", s)
			}
		})
	}
}

func TestCleanEndWatchesAgainAtOnce(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		sleep(ctx, time.Second)
		return event(mark(fmt.Sprint(5+n), false))
	}
	bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
		g.pass(5*time.Second + 1)
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=5", "watch rv=6", "watch rv=7", "watch rv=8", "watch rv=9", "watch rv=10")
		if len(g.errs) != 0 {
			t.Errorf("errors %v", g.errs)
		}
	})
}

// TestSilence has a collection in which nothing happens: its watch is replaced by another one, without a pause and without
// alarm, until the server doesn't answer any more.
func TestSilence(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if n < 4 {
			return quiet(ctx, n, opts, opened, event)
		}
		<-ctx.Done() // half-open: the request gets no answer
		return context.Cause(ctx)
	}
	logged := &logbook{}
	config := Config[thing]{DisableWatchList: true, Backoff: Backoff{Jitter: -1}, Logger: textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(logged)))}
	bubble(t, src, config, func(g *rig) {
		for range 2 {
			g.pass(3 * time.Minute)
			if s := g.Status(); s.State != StateWatching || s.Reason != ReasonNone || !errors.Is(s.LastError, ErrSilent) {
				t.Errorf("status %v", s)
			}
		}
		g.pass(3 * time.Minute)
		if s := g.Status(); s.State != StateConnecting || s.Reason != ReasonSilent {
			t.Errorf("status %v", s)
		}
		if text := logged.String(); text != "" {
			t.Errorf("a quiet collection alarms: %s", text)
		}
		g.pass(3*time.Minute + time.Second)
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=5", "watch rv=5", "watch rv=5", "watch rv=5", "watch rv=5")
		if s := g.Status(); s.State != StateConnecting || s.Attempts != 2 || !strings.Contains(logged.String(), ErrSilent.Error()) {
			t.Errorf("status %v, logged %q", s, logged.String())
		}
	})
}

// TestBusySinkIsNotSilence has a sink that takes longer than the silence that a server is granted.
func TestBusySinkIsNotSilence(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		if err := event(ev(source.Added, "slow", "6")); err != nil {
			return err
		}
		return hold(ctx, opened)
	}
	synctest.Test(t, func(t *testing.T) {
		sink := &slowSink{record: &record{}}
		r, err := New(Config[thing]{Source: &fake{list: src.list, watch: src.watch}, Sink: sink, DisableWatchList: true, SilenceTimeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(silent())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		time.Sleep(10*time.Minute + 59*time.Second)
		if s := r.Status(); s.State != StateWatching || s.LastError != nil {
			t.Errorf("status %v", s)
		}
		time.Sleep(2 * time.Second) // now it is silence
		if s := r.Status(); !errors.Is(s.LastError, ErrSilent) {
			t.Errorf("status %v", s)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

type slowSink struct{ *record }

func (s *slowSink) Add(obj thing) error {
	time.Sleep(10 * time.Minute)
	return s.record.Add(obj)
}

func TestVersionsGoBack(t *testing.T) {
	src := &fake{list: func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
		if n == 1 {
			return source.ListResult{ResourceVersion: "100"}, nil
		}
		item(newThing("old", "3"))
		return source.ListResult{ResourceVersion: "4"}, nil
	}}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		if n == 1 {
			return event(ev(source.Added, "back", "4"))
		}
		return hold(ctx, opened)
	}
	bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=100", "list rv= limit=500 token=", "watch rv=4")
		g.wantTold("begin, end 100, begin, replace old, end 4")
		if len(g.errs) != 1 || !errors.Is(g.errs[0], ErrWentBack) {
			t.Errorf("errors %v", g.errs)
		}
		if s := g.Status(); s.ResourceVersion != "4" || s.Relists != 1 {
			t.Errorf("status %+v", s)
		}
	})
}

func TestSinkErrorEndsRun(t *testing.T) {
	for _, at := range []string{"begin", "replace a", "end 5", "add b", "bookmark 7", "abort"} {
		sink := &record{fails: map[string]error{at: errors.New("full")}}
		src := &fake{list: func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
			if err := item(newThing("a", "1")); err != nil {
				return source.ListResult{}, err
			}
			if at == "abort" {
				return source.ListResult{}, errBusy
			}
			return source.ListResult{ResourceVersion: "5"}, nil
		}}
		src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
			return send(event, ev(source.Added, "b", "6"), mark("7", false), mark("8", false))
		}
		r, err := New(Config[thing]{Source: src, Sink: sink, DisableWatchList: true})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Run(silent())
		if !errors.Is(err, sink.fails[at]) {
			t.Errorf("%s: Run returns %v", at, err)
		}
		want := at
		if at == "replace a" {
			want = "abort"
		}
		if got := sink.told[len(sink.told)-1]; got != at && got != want {
			t.Errorf("%s: the sink is told %s after its error", at, got)
		}
	}
}

func TestRunTwice(t *testing.T) {
	src := &fake{list: listOf("5"), watch: quiet}
	bubble(t, src, Config[thing]{DisableWatchList: true}, func(g *rig) {
		if err := g.Run(context.Background()); !errors.Is(err, ErrRunning) {
			t.Errorf("Run while running: %v", err)
		}
		var none context.Context
		if err := g.Run(none); err == nil {
			t.Error("Run takes a nil context")
		}
		g.cancel()
		if err := <-g.done; err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(silent())
		g.cancel = cancel
		go func() { g.done <- g.Run(ctx) }()
		synctest.Wait()
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=5")
		g.wantTold("begin, end 5, begin, end 5")
		if s := g.Status(); s.Relists != 1 || !s.Synced {
			t.Errorf("status %+v", s)
		}
		cancel()
	})
}

func TestStatusIsRaceFree(t *testing.T) {
	i := 5
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		for ctx.Err() == nil {
			i++
			if err := event(ev(source.Modified, "a", fmt.Sprint(i))); err != nil {
				return err
			}
		}
		return context.Cause(ctx)
	}
	r, err := New(Config[thing]{Source: src, Sink: &record{}, DisableWatchList: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(silent())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	for range 10_000 {
		_ = r.Status()
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	good := Config[thing]{Source: &fake{}, Sink: &record{}}
	for name, spoil := range map[string]func(*Config[thing]){
		"source":  func(c *Config[thing]) { c.Source = nil },
		"sink":    func(c *Config[thing]) { c.Sink = nil },
		"pages":   func(c *Config[thing]) { c.PageSize = -1 },
		"timeout": func(c *Config[thing]) { c.SilenceTimeout = -1 },
		"initial": func(c *Config[thing]) { c.Backoff.Initial = -1 },
		"max":     func(c *Config[thing]) { c.Backoff = Backoff{Initial: 2, Max: 1} },
		"factor":  func(c *Config[thing]) { c.Backoff.Factor = 0.5 },
		"jitter":  func(c *Config[thing]) { c.Backoff.Jitter = 1.5 },
	} {
		c := good
		spoil(&c)
		if _, err := New(c); err == nil || !strings.HasPrefix(err.Error(), "reflector.New") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	r, err := New(good)
	if err != nil || r.Name() != "*reflector.fake" {
		t.Errorf("got %q, %v", r.Name(), err)
	}
}

func TestDelays(t *testing.T) {
	d := delays{backoff: Backoff{}.withDefaults()}
	for i := range 1000 {
		whole := min(30*time.Second, 800*time.Millisecond<<min(i, 20))
		if got := d.take(); got < whole/2 || got > whole {
			t.Fatalf("wait %d is %v, want between half of %v and all of it", i, got, whole)
		}
	}
	var waits []time.Duration
	for range 50 {
		waits = append(waits, d.take())
	}
	slices.Sort(waits)
	if len(slices.Compact(waits)) < 10 {
		t.Error("there is no jitter")
	}
}
