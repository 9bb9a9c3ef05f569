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

// TestFaultW04WatchListWithoutBookmark: the server never ends the initial events. It is silent, or
// sends other events.
func TestFaultW04WatchListWithoutBookmark(t *testing.T) {
	for name, sendMore := range map[string]func(event func(source.Event[thing]) error) error{
		"silent":    func(func(source.Event[thing]) error) error { return nil },
		"bookmarks": func(event func(source.Event[thing]) error) error { return send(event, bookmark("5", false)) },
		"changes":   func(event func(source.Event[thing]) error) error { return send(event, ev(source.Modified, "a", "5")) },
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{list: listOf("5", newThing("a", "1"))}
			src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
				if !opts.SendInitialEvents {
					return stayOpen(ctx, opened)
				}
				opened()
				send(event, ev(source.Added, "a", "1"))
				for ctx.Err() == nil {
					select {
					case <-ctx.Done():
					case <-time.After(time.Second):
						sendMore(event)
					}
				}
				return context.Cause(ctx)
			}
			bubble(t, src, Config[thing]{}, func(g *rig) {
				g.pass(10*time.Second + time.Millisecond)
				g.wantRequests("watch-list rv=", "list rv=0 limit=500 token=", "watch rv=5")
				if s := g.Status(); !s.Synced || s.State != StateWatching || reason.Of(s.LastError) != reason.NoBookmark {
					t.Errorf("Status() = %v", s)
				}
				if got := g.sink.String(); !strings.HasSuffix(got, "abort, begin, replace a, end 5") {
					t.Errorf("sink calls: %s", got)
				}
			})
		})
	}
}

// TestFaultW05OutageStaysAtTheCap: the server is unreachable for ten minutes, before the first list
// or during a watch.
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
				return event(bookmark("5", true))
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
				g.pass(10*time.Minute + time.Second)
				if got := g.src.requests(); watching && (src.lists != 0 || got[len(got)-1] != "watch rv=5") {
					t.Errorf("requests %v", got)
				}
				gaps := g.src.gaps(g.start)[1:]
				if watching && gaps[0] == 0 {
					gaps = gaps[1:] // the first watch begins at once, after a normal end
				}
				want := []time.Duration{800, 1600, 3200, 6400, 12800, 25600}
				for i, gap := range gaps {
					w := 30 * time.Second
					if i < len(want) {
						w = want[i] * time.Millisecond
					}
					if gap != w {
						t.Fatalf("wait %d is %v, want %v; all waits: %v", i, gap, w, gaps)
					}
				}
				if len(gaps) < 20 {
					t.Errorf("%d attempts, want at least 20", len(gaps))
				}
				s := g.Status()
				if s.State != StateWaiting || s.Reason != reason.Unreachable || s.LastError != refused || s.Attempts < 20 || s.RetryAt.Before(time.Now()) {
					t.Errorf("Status() = %+v", s)
				}
				if len(g.errs) < 20 {
					t.Errorf("OnError was called %d times, want at least 20", len(g.errs))
				}
			})
		})
	}
}

// TestFaultW03CancelIsImmediateInEveryState: Run returns at once in every state, by the bubble's
// clock.
func TestFaultW03CancelIsImmediateInEveryState(t *testing.T) {
	noAnswer := func(ctx context.Context, _ int, _ source.WatchOptions, _ func(), _ func(source.Event[thing]) error) error {
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
		calls string
	}{
		"backing off":   {failing(io.ErrUnexpectedEOF), false, StateWaiting, "begin, abort"},
		"retry after":   {failing(statusError(429, 3600)), false, StateWaiting, "begin, abort"},
		"streaming":     {quiet, false, StateStreaming, "begin, abort"},
		"not connected": {noAnswer, true, StateConnecting, "begin, end 5"},
		"watching":      {quiet, true, StateWatching, "begin, end 5"},
	} {
		t.Run(name, func(t *testing.T) {
			var sink *recorder
			bubble(t, &fake{list: listOf("5"), watch: tc.watch}, Config[thing]{Tuning: Tuning{DisableWatchList: tc.list}}, func(g *rig) {
				sink = g.sink
				if s := g.Status(); s.State != tc.state {
					t.Errorf("Status() = %v, want %v", s, tc.state)
				}
			})
			if got := sink.String(); got != tc.calls {
				t.Errorf("sink calls %s, want %s", got, tc.calls)
			}
		})
	}
}

// TestFaultW02EndlessExpiriesArePaced: every version is expired, too new, or closed at once.
func TestFaultW02EndlessExpiriesArePaced(t *testing.T) {
	stream := func(err error) watchFunc {
		return func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
			opened()
			if opts.SendInitialEvents {
				if err := send(event, ev(source.Added, "a", "1"), bookmark("5", true)); err != nil {
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
		"closed, lists expired":    {list: failingList(errGone), watch: script(slices.Repeat([]scriptedWatch{{events: []source.Event[thing]{ev(source.Added, "a", "1")}, ends: true}}, 100)...)},
	} {
		for _, noWatchList := range []bool{false, true} {
			t.Run(fmt.Sprint(name, noWatchList), func(t *testing.T) {
				bubble(t, &fake{list: src.list, watch: src.watch}, Config[thing]{Tuning: Tuning{DisableWatchList: noWatchList, Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
					g.pass(time.Second)
					if n := len(g.src.requests()); n > 9 {
						t.Errorf("%d requests in a second, want at most 9: %v", n, g.src.requests())
					}
					g.pass(10 * time.Minute)
					if n := len(g.src.requests()); n > 80 || n < 20 {
						t.Errorf("%d requests in ten minutes, want 20 to 80; the first are %v", n, g.src.requests()[:min(n, 10)])
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
					t.Errorf("Status() = %+v", s)
				}
				g.pass(time.Minute)
				for i, gap := range g.src.gaps(g.start)[2:] {
					if gap < 7*time.Second || gap > 7700*time.Millisecond {
						t.Errorf("wait %d is %v, want 7s to 7.7s", i, gap)
					}
				}
				if src.lists != 1 || src.watches < 8 {
					t.Errorf("%d lists and %d watches, want 1 and at least 8", src.lists, src.watches)
				}
			})
		})
	}
}

// TestFaultW06NoRelist: after a refused watch or a broken stream, the next watch starts at the same
// version, without a list.
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
				return stayOpen(ctx, opened)
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				g.pass(20 * time.Second)
				g.wantRequests("list rv=0 limit=500 token=", "watch rv=5", "watch rv=6", "watch rv=6", "watch rv=6", "watch rv=6")
				if s := g.Status(); s.State != StateWatching || s.Reason != reason.None || s.LastError == nil {
					t.Errorf("Status() = %+v", s)
				}
			})
		})
	}
}

// TestFaultW05AttemptsAgreeWithTheWaits: Status.Attempts is reset when the waits are, not before.
func TestFaultW05AttemptsAgreeWithTheWaits(t *testing.T) {
	var duration atomic.Int64
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, _ source.WatchOptions, opened func(), _ func(source.Event[thing]) error) error {
		if n <= 4 {
			return errBusy
		}
		opened()
		sleep(ctx, time.Duration(duration.Load()))
		return errBusy
	}
	duration.Store(int64(2*time.Minute - time.Second)) // not enough
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, Backoff: Backoff{Jitter: -1}}}, func(g *rig) {
		g.pass(12 * time.Second) // 0.8 + 1.6 + 3.2 + 6.4
		if s := g.Status(); s.State != StateWatching || s.Attempts != 4 || s.Reason != reason.None {
			t.Errorf("Status() after four failures = %+v", s)
		}
		g.pass(2*time.Minute - time.Second)
		if s := g.Status(); s.State != StateWaiting || s.Attempts != 5 || time.Until(s.RetryAt) != 12800*time.Millisecond {
			t.Errorf("Status() after a short watch = %+v", s)
		}
		duration.Store(int64(2*time.Minute + 30*time.Second))
		g.pass(13*time.Second + 2*time.Minute)
		if s := g.Status(); s.State != StateWatching || s.Attempts != 0 {
			t.Errorf("Status() after two minutes of a watch = %+v", s)
		}
		g.pass(30 * time.Second)
		if s := g.Status(); s.State != StateWaiting || s.Attempts != 1 || s.RetryAt.Sub(s.Since) != 800*time.Millisecond {
			t.Errorf("Status() after a healthy watch = %+v", s)
		}
		if src.lists != 1 {
			t.Errorf("%d lists, want 1", src.lists)
		}
	})
}

// slowSink takes ten minutes for an added object.
type slowSink struct{ *recorder }

func (s slowSink) Add(obj thing) error {
	time.Sleep(10 * time.Minute)
	return s.recorder.Add(obj)
}

// TestFaultW15ResourceVersionIsTheSinks: Status.ResourceVersion is the last version passed to the
// sink, not the last one read. A sink busy for longer than SilenceTimeout is no silence.
func TestFaultW15ResourceVersionIsTheSinks(t *testing.T) {
	src := &fake{watch: script(scriptedWatch{events: []source.Event[thing]{ev(source.Added, "slow", "6")}})}
	src.list = func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
		return source.ListResult{ResourceVersion: fmt.Sprint(4 + n)}, nil // at 5, and a probe at 6
	}
	bubble(t, src, Config[thing]{Sink: slowSink{&recorder{}}, Tuning: Tuning{DisableWatchList: true, SilenceTimeout: time.Minute}}, func(g *rig) {
		g.pass(9 * time.Minute)
		if s := g.Status(); s.ResourceVersion != "5" {
			t.Errorf("Status() while the sink is busy = %+v", s)
		}
		g.pass(time.Minute + 59*time.Second)
		if s := g.Status(); s.ResourceVersion != "6" || s.State != StateWatching || s.LastError != nil {
			t.Errorf("Status() after the sink has the object = %+v", s)
		}
		g.pass(2 * time.Second) // now it is silence
		if s := g.Status(); reason.Of(s.LastError) != reason.Silent {
			t.Errorf("Status() = %v", s)
		}
	})
}

// TestFaultW14NameSaysWhatIsRead: a reflector without a name has its source's name in errors and
// logs.
func TestFaultW14NameSaysWhatIsRead(t *testing.T) {
	r, err := New(Config[thing]{Source: &namedSource{}, Sink: &recorder{fails: map[string]error{"begin": errors.New("full")}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(silent()); err == nil || !strings.HasPrefix(err.Error(), "reflector widgets.samples.io/v1: ") {
		t.Errorf("Run() = %v", err)
	}
}

type namedSource struct{ fake }

func (*namedSource) String() string { return "widgets.samples.io/v1" }
