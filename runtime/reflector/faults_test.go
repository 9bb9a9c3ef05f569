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
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestFaultW04WatchListWithoutBookmark has servers that never end the initial events: silent ones,
// and ones that go on sending.
func TestFaultW04WatchListWithoutBookmark(t *testing.T) {
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
				if s := g.Status(); !s.Synced || s.State != StateWatching || reason.Of(s.LastError) != reason.NoBookmark {
					t.Errorf("status %v", s)
				}
				if got := g.sink.String(); !strings.HasSuffix(got, "abort, begin, replace a, end 5") {
					t.Errorf("told %s", got)
				}
			})
		})
	}
}

// TestFaultW05OutageStaysAtTheCap has a server that is away for ten minutes, before the first list
// and in the middle of watching.
func TestFaultW05OutageStaysAtTheCap(t *testing.T) {
	for _, watching := range []bool{false, true} {
		t.Run(fmt.Sprint("watching ", watching), func(t *testing.T) {
			refused := errors.New("connection refused")
			src := &fake{list: func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
				return source.ListResult{}, refused
			}}
			src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
				if !watching || n > 1 {
					return refused
				}
				opened()
				return event(mark("5", true))
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
				g.pass(10*time.Minute + time.Second)
				if got := g.src.asked(); watching && (src.lists != 0 || got[len(got)-1] != "watch rv=5") {
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
				if s.State != StateWaiting || s.Reason != reason.Unreachable || s.LastError != refused || s.Attempts < 20 || s.RetryAt.Before(time.Now()) {
					t.Errorf("status %+v", s)
				}
				if len(g.errs) < 20 {
					t.Errorf("OnError was called %d times", len(g.errs))
				}
			})
		})
	}
}

// TestFaultW03CancelIsImmediateInEveryState cancels in every state; the bubble's clock shows that
// no time passes.
func TestFaultW03CancelIsImmediateInEveryState(t *testing.T) {
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
			bubble(t, &fake{list: listOf("5"), watch: tc.watch}, Config[thing]{Tuning: Tuning{DisableWatchList: tc.list}}, func(g *rig) {
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

// TestFaultW02EndlessExpiriesArePaced has servers whose every version is expired, in all places.
func TestFaultW02EndlessExpiriesArePaced(t *testing.T) {
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
		"too new, lists expired":   {list: failingList(errGone), watch: refuse(errTooNew)},
		"closed, lists expired":    {list: failingList(errGone), watch: turns(slices.Repeat([]turn{{events: []source.Event[thing]{ev(source.Added, "a", "1")}, ends: true}}, 100)...)},
	} {
		for _, noStream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, noStream), func(t *testing.T) {
				bubble(t, &fake{list: src.list, watch: src.watch}, Config[thing]{Tuning: Tuning{DisableWatchList: noStream, Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
					g.pass(time.Second)
					if n := len(g.src.asked()); n > 9 {
						t.Errorf("%d requests in a second: %v", n, g.src.asked())
					}
					g.pass(10 * time.Minute)
					if n := len(g.src.asked()); n > 80 || n < 20 {
						t.Errorf("%d requests in ten minutes; the first ones: %v", n, g.src.asked()[:min(n, 10)])
					}
				})
			})
		}
	}
}

func TestFaultW06RetryAfterIsObeyed(t *testing.T) {
	for name, err := range map[string]error{"429": statusError(429, 7), "503": statusError(503, 7)} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("5")}
			src.watch = func(_ context.Context, n int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
				if n%2 == 0 { // as an answer, and in a stream
					opened()
				}
				return err
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				if s := g.Status(); s.State != StateWaiting || s.Reason != reason.Throttled || time.Until(s.RetryAt) < 7*time.Second {
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

// TestFaultW06NoRelist has failures of a watch that are answered by another watch from the same
// version: statuses instead of a watch, and streams that break.
func TestFaultW06NoRelist(t *testing.T) {
	for name, err := range map[string]error{
		"500": statusError(500, 0), "503": errBusy, "504": statusError(504, 0), "429": statusError(429, 0), "401": statusError(401, 0),
		"404": statusError(404, 0), "reset": errors.New("connection reset by peer"), "cut": io.ErrUnexpectedEOF,
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
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				g.pass(20 * time.Second)
				g.wantCalls("list rv=0 limit=500 token=", "watch rv=5", "watch rv=6", "watch rv=6", "watch rv=6", "watch rv=6")
				if s := g.Status(); s.State != StateWatching || s.Reason != reason.None || s.LastError == nil {
					t.Errorf("status %+v", s)
				}
			})
		})
	}
}

// TestFaultW05AttemptsAgreeWithTheWaits shows that Status.Attempts begins anew when the waits do,
// and not before.
func TestFaultW05AttemptsAgreeWithTheWaits(t *testing.T) {
	var lasts atomic.Int64
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
		if n <= 4 {
			return errBusy
		}
		opened()
		sleep(ctx, time.Duration(lasts.Load()))
		return errBusy
	}
	lasts.Store(int64(2*time.Minute - time.Second)) // not enough
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
		g.pass(12 * time.Second) // 0.8 + 1.6 + 3.2 + 6.4
		if s := g.Status(); s.State != StateWatching || s.Attempts != 4 || s.Reason != reason.None {
			t.Errorf("after four failures: %+v", s)
		}
		g.pass(2*time.Minute - time.Second)
		if s := g.Status(); s.State != StateWaiting || s.Attempts != 5 || time.Until(s.RetryAt) != 12800*time.Millisecond {
			t.Errorf("after a short watch: %+v", s)
		}
		lasts.Store(int64(2*time.Minute + 30*time.Second))
		g.pass(13*time.Second + 2*time.Minute)
		if s := g.Status(); s.State != StateWatching || s.Attempts != 0 {
			t.Errorf("after two minutes of a watch: %+v", s)
		}
		g.pass(30 * time.Second)
		if s := g.Status(); s.State != StateWaiting || s.Attempts != 1 || s.RetryAt.Sub(s.Since) != 800*time.Millisecond {
			t.Errorf("after a healthy watch: %+v", s)
		}
		if src.lists != 1 {
			t.Errorf("%d lists, want 1", src.lists)
		}
	})
}

// slowSink takes ten minutes for an object of a watch.
type slowSink struct{ *record }

func (s slowSink) Add(obj thing) error {
	time.Sleep(10 * time.Minute)
	return s.record.Add(obj)
}

// TestFaultW15ResourceVersionIsTheSinks shows that Status.ResourceVersion is the version that the
// sink has got, not the one that was read, and that a sink that is busy for longer than
// SilenceTimeout does not count as silence.
func TestFaultW15ResourceVersionIsTheSinks(t *testing.T) {
	src := &fake{watch: turns(turn{events: []source.Event[thing]{ev(source.Added, "slow", "6")}})}
	src.list = func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
		return source.ListResult{ResourceVersion: fmt.Sprint(4 + n)}, nil // at 5, and a probe at 6
	}
	bubble(t, src, Config[thing]{Sink: slowSink{&record{}}, Tuning: Tuning{DisableWatchList: true, SilenceTimeout: time.Minute}}, func(g *rig) {
		g.pass(9 * time.Minute)
		if s := g.Status(); s.ResourceVersion != "5" {
			t.Errorf("while the sink is busy: %+v", s)
		}
		g.pass(time.Minute + 59*time.Second)
		if s := g.Status(); s.ResourceVersion != "6" || s.State != StateWatching || s.LastError != nil {
			t.Errorf("after the sink has taken it: %+v", s)
		}
		g.pass(2 * time.Second) // now it is silence
		if s := g.Status(); reason.Of(s.LastError) != reason.Silent {
			t.Errorf("status %v", s)
		}
	})
}

// TestFaultW14NameSaysWhatIsRead shows that a reflector without a name gets that of its source, in
// errors and logs, and never that of a file of the library.
func TestFaultW14NameSaysWhatIsRead(t *testing.T) {
	r, err := New(Config[thing]{Source: &named{}, Sink: &record{fails: map[string]error{"begin": errors.New("full")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(silent()); err == nil || !strings.HasPrefix(err.Error(), "reflector widgets.samples.io/v1: ") {
		t.Errorf("Run: %v", err)
	}
}

type named struct{ fake }

func (*named) String() string { return "widgets.samples.io/v1" }
