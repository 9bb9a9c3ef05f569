// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestStuckWatchCausesRelist: every watch from one version fails at the next event. API servers
// accept such a watch, and then fail if the state before the next change is compacted, or an object
// can't be read. Only another full state helps.
func TestStuckWatchCausesRelist(t *testing.T) {
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
				return stayOpen(ctx, opened)
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				g.pass(20 * time.Second)
				g.wantRequests("list rv=0 limit=500 token=", "watch rv=5", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=9")
			})
		})
	}
}

func TestSinkErrorEndsRun(t *testing.T) {
	for _, at := range []string{"begin", "replace a", "end 5", "add b", "bookmark 7", "abort"} {
		sink := &recorder{fails: map[string]error{at: errors.New("full")}}
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
			return send(event, ev(source.Added, "b", "6"), bookmark("7", false), bookmark("8", false))
		}
		r, err := New(Config[thing]{Source: src, Sink: sink, Tuning: Tuning{DisableWatchList: true}})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Run(silent())
		if !errors.Is(err, sink.fails[at]) {
			t.Errorf("%s: Run() = %v, want %v", at, err, sink.fails[at])
		}
		want := at
		if at == "replace a" {
			want = "abort"
		}
		if got := sink.calls[len(sink.calls)-1]; got != at && got != want {
			t.Errorf("%s: the last call to the sink is %s, want %s", at, got, want)
		}
	}
}

func TestOneRunAtATime(t *testing.T) {
	src := &fake{list: listOf("5"), watch: quiet}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		const running = "reflector things: the reflector is running already; wait until Run has returned"
		if err := g.Run(context.Background()); err == nil || err.Error() != running {
			t.Errorf("Run() while running = %v, want %s", err, running)
		}
		var none context.Context
		if err := g.Run(none); err == nil || err.Error() == running {
			t.Errorf("Run(nil) = %v, want another error", err)
		}
		g.rerun()
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=5", "list rv=5NotOlderThan limit=0 token=", "watch rv=5")
		g.wantSinkCalls("begin, end 5, begin, end 5")
		if s := g.Status(); s.Relists != 1 || s.RelistsBy[reason.None] != 1 || !s.Synced {
			t.Errorf("Status() = %+v", s)
		}
	})
}

func TestNewRefusesInvalidConfig(t *testing.T) {
	good := Config[thing]{Source: &fake{}, Sink: &recorder{}}
	for want, spoil := range map[string]func(*Config[thing]){
		"Config.Source is nil":              func(c *Config[thing]) { c.Source = nil },
		"Config.Sink is nil":                func(c *Config[thing]) { c.Sink = nil },
		"Tuning.PageSize -1":                func(c *Config[thing]) { c.PageSize = -1 },
		"Tuning.InitialEventsTimeout -1ns":  func(c *Config[thing]) { c.InitialEventsTimeout = -1 },
		"Tuning.WatchTimeout -1ns":          func(c *Config[thing]) { c.WatchTimeout = -1 },
		"Tuning.SilenceTimeout -1ns":        func(c *Config[thing]) { c.SilenceTimeout = -1 },
		"Tuning.Backoff.Initial -1ns":       func(c *Config[thing]) { c.Backoff.Initial = -1 },
		"Tuning.Backoff.Max -1ns":           func(c *Config[thing]) { c.Backoff.Max = -1 },
		"Tuning.Backoff.ResetAfter -1ns":    func(c *Config[thing]) { c.Backoff.ResetAfter = -1 },
		"Backoff.Max 1ns, is shorter":       func(c *Config[thing]) { c.Backoff = Backoff{Initial: 2, Max: 1} },
		"Backoff.Jitter 1.5 is more than 1": func(c *Config[thing]) { c.Backoff.Jitter = 1.5 },
	} {
		c := good
		spoil(&c)
		_, err := New(c)
		if err == nil || !strings.HasPrefix(err.Error(), "reflector.New") || !strings.Contains(err.Error(), want) {
			t.Errorf("New() = %v, want an error with %q", err, want)
		}
		if wrong := !strings.HasPrefix(want, "Config."); (c.Tuning.Validate() != nil) != wrong {
			t.Errorf("%s: Validate() = %v", want, c.Tuning.Validate())
		}
	}
	r, err := New(good)
	if err != nil || r.config.Name != "*reflector.fake" {
		t.Errorf("New() has the name %q, %v, want *reflector.fake", r.config.Name, err)
	}
}

func TestBackoffWait(t *testing.T) {
	var b Backoff // the defaults
	for i := range 1000 {
		longest := min(30*time.Second, 800*time.Millisecond<<min(i, 20))
		if got := b.Wait(i + 1); got < longest/2 || got > longest {
			t.Fatalf("Wait(%d) = %v, want %v to %v", i+1, got, longest/2, longest)
		}
	}
	var waits []time.Duration
	for range 50 {
		waits = append(waits, b.Wait(9))
	}
	slices.Sort(waits)
	if len(slices.Compact(waits)) < 10 {
		t.Error("Wait(9) has fewer than 10 results, want jitter")
	}
	b = Backoff{Initial: time.Second, Max: time.Minute, Jitter: -1}
	for n, want := range map[int]time.Duration{-1: time.Second, 0: time.Second, 1: time.Second, 2: 2 * time.Second, 4: 8 * time.Second, 7: time.Minute, math.MaxInt: time.Minute} {
		if got := b.Wait(n); got != want {
			t.Errorf("Wait(%d) = %v, want %v", n, got, want)
		}
	}
}

func TestStateNames(t *testing.T) {
	seen := map[string]bool{}
	for s := StateStopped; int(s) < len(stateNames); s++ {
		if name := s.String(); name == "" || seen[name] {
			t.Errorf("State(%d).String() = %q, want a name of its own", s, name)
		}
		seen[s.String()] = true
	}
	if State(200).String() != "unknown" {
		t.Errorf("State(200).String() = %q, want unknown", State(200))
	}
}
