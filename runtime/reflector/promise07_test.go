// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/klog/v2/textlogger"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// TestPromise07SilenceIsBounded: the watch of an unchanged collection is replaced by another one,
// without a wait and without a failure in Status, until the server no longer answers.
func TestPromise07SilenceIsBounded(t *testing.T) {
	src := &fake{list: listOf("5")}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		if n < 4 {
			return quiet(ctx, n, opts, opened, event)
		}
		<-ctx.Done() // half-open: the request gets no answer
		return context.Cause(ctx)
	}
	logged := &logBuffer{}
	config := Config[thing]{Tuning: Tuning{DisableWatchList: true, Backoff: Backoff{Jitter: -1}}, Logger: textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(logged)))}
	bubble(t, src, config, func(g *rig) {
		for range 2 {
			g.pass(3 * time.Minute)
			if s := g.Status(); s.State != StateWatching || s.Reason != reason.None || reason.Of(s.LastError) != reason.Silent {
				t.Errorf("Status() = %v", s)
			}
		}
		g.pass(3 * time.Minute)
		if s := g.Status(); s.State != StateConnecting || s.Reason != reason.Silent {
			t.Errorf("Status() = %v", s)
		}
		if text := logged.String(); text != "" {
			t.Errorf("logged about an unchanged collection: %s", text)
		}
		g.pass(3*time.Minute + time.Second)
		const probe = "probe rv= limit=1 token="
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=5", probe, "watch rv=5", probe, "watch rv=5", probe, "watch rv=5", "watch rv=5")
		if s := g.Status(); s.State != StateConnecting || s.Attempts != 2 || !strings.Contains(logged.String(), (&reason.Error{Reason: reason.Silent}).Error()) {
			t.Errorf("Status() = %v, logged %q", s, logged.String())
		}
	})
}

func TestPromise07VersionsThatGoBackReplaceEverything(t *testing.T) {
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
		return stayOpen(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=100", "list rv= limit=500 token= anew", "watch rv=4")
		g.wantSinkCalls("begin, end 100, begin, replace old, end 4")
		if len(g.errs) != 1 || reason.Of(g.errs[0]) != reason.WentBack {
			t.Errorf("OnError got %v", g.errs)
		}
		if s := g.Status(); s.ResourceVersion != "4" || s.Relists != 1 {
			t.Errorf("Status() = %+v", s)
		}
	})
}

// TestPromise07RestoredBackupIsNoticed: the server is restored to an older state while no watch is
// open. API servers accept a watch from a version they have not reached, and send nothing until
// they have.
func TestPromise07RestoredBackupIsNoticed(t *testing.T) {
	for name, noWatchList := range map[string]bool{"watch-list": false, "lists": true} {
		t.Run(name, func(t *testing.T) {
			src := &fake{}
			restored := func() bool { return src.watches > 1 }
			src.list = func(_ int, _ source.ListOptions, item func(thing) error) (source.ListResult, error) {
				if restored() {
					return source.ListResult{ResourceVersion: "50"}, item(newThing("a", "10"))
				}
				return source.ListResult{ResourceVersion: "100"}, item(newThing("b", "90"))
			}
			src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
				opened()
				if opts.SendInitialEvents {
					events := []source.Event[thing]{ev(source.Added, "b", "90"), bookmark("100", true)}
					if restored() {
						events = []source.Event[thing]{ev(source.Added, "a", "10"), bookmark("50", true)}
					}
					if err := send(event, events...); err != nil {
						return err
					}
				}
				if n == 1 {
					sleep(ctx, time.Minute)
					return errors.New("connection reset by peer")
				}
				return stayOpen(ctx, opened)
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: noWatchList}}, func(g *rig) {
				g.wantContent("b@90")
				g.pass(4*time.Minute + 2*time.Second)
				g.wantContent("a@10")
				if s := g.Status(); s.State != StateWatching || s.ResourceVersion != "50" || s.Relists != 1 || reason.Of(s.LastError) != reason.WentBack {
					t.Errorf("Status() = %+v", s)
				}
			})
		})
	}
}

// TestPromise07EverySignOfVersionsThatWentBack: after each sign, the most recent full state is
// read, and replaces everything.
func TestPromise07EverySignOfVersionsThatWentBack(t *testing.T) {
	type events = []source.Event[thing]
	for name, second := range map[string]scriptedWatch{
		"an event":                    {events: events{ev(source.Added, "c", "51")}},
		"a deletion":                  {events: events{ev(source.Deleted, "b", "51")}},
		"a bookmark":                  {events: events{bookmark("51", false)}},
		"an event after newer ones":   {events: events{ev(source.Added, "c", "101"), ev(source.Added, "d", "51")}},
		"too new, as an answer":       {refuse: errTooNew},
		"too new, in the stream":      {ends: true, err: errTooNew},
		"silence":                     {},
		"silence after a newer event": {events: events{ev(source.Added, "c", "101")}},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{watch: script(scriptedWatch{ends: true, after: time.Second, err: errors.New("connection reset by peer")}, second)}
			src.list = func(n int, opts source.ListOptions, item func(thing) error) (source.ListResult, error) {
				if n == 1 {
					return source.ListResult{ResourceVersion: "100"}, item(newThing("b", "90"))
				}
				if !opts.VersionOnly && (opts.ResourceVersion != "" || !opts.NoReuse) {
					t.Errorf("ListOptions.ResourceVersion = %q, NoReuse = %v, want the most recent state and NoReuse", opts.ResourceVersion, opts.NoReuse)
				}
				return source.ListResult{ResourceVersion: "50"}, item(newThing("a", "10"))
			}
			bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				g.pass(3*time.Minute + 3*time.Second)
				g.wantContent("a@10")
				if s := g.Status(); s.State != StateWatching || s.ResourceVersion != "50" || s.Relists != 1 {
					t.Errorf("Status() = %+v", s)
				}
				// The failure of the first watch caused no list.
				if by := g.Status().RelistsBy; len(by) != 1 || by[reason.WentBack]+by[reason.TooNew] != 1 {
					t.Errorf("Status().RelistsBy = %v, want one relist", by)
				}
			})
		})
	}
}

// TestNothingIsReusedAfterVersionsWentBack: lists, their further pages and watch-lists have the
// option NoReuse until a full state has been read, also in a later Run. After an expired version,
// an older most recent state is used only with NoReuse.
func TestNothingIsReusedAfterVersionsWentBack(t *testing.T) {
	// back is a watch whose event shows that the versions went back.
	back := scriptedWatch{events: []source.Event[thing]{ev(source.Added, "c", "51")}}
	for name, tc := range map[string]struct {
		tuning Tuning
		watch  watchFunc
		list   func(n int, opts source.ListOptions) (source.ListResult, error)
		again  bool
		want   []string
	}{
		"pages": {
			Tuning{DisableWatchList: true, PageSize: 1}, script(back),
			func(_ int, opts source.ListOptions) (source.ListResult, error) {
				switch {
				case !opts.NoReuse:
					return source.ListResult{ResourceVersion: "100"}, nil
				case opts.Continue == "":
					return source.ListResult{ResourceVersion: "50", Continue: "next"}, nil
				}
				return source.ListResult{ResourceVersion: "50"}, nil
			}, false,
			[]string{"list rv= limit=1 token=", "watch rv=100", "list rv= limit=1 token= anew", "list rv= limit=1 token=next anew", "watch rv=50"},
		},
		"watch-list": {
			Tuning{}, script(scriptedWatch{events: []source.Event[thing]{bookmark("100", true), ev(source.Added, "c", "51")}}, scriptedWatch{events: []source.Event[thing]{bookmark("50", true)}}),
			nil, false,
			[]string{"watch-list rv=", "watch-list rv= anew"},
		},
		"after a 410": {
			Tuning{DisableWatchList: true}, script(scriptedWatch{refuse: errGone}),
			func(n int, opts source.ListOptions) (source.ListResult, error) {
				switch {
				case n == 1:
					return source.ListResult{ResourceVersion: "100"}, nil
				case opts.ResourceVersion != "":
					return source.ListResult{}, errGone
				}
				return source.ListResult{ResourceVersion: "50"}, nil
			}, false,
			[]string{
				"list rv=0 limit=500 token=", "watch rv=100", "list rv=100NotOlderThan limit=0 token=", "list rv= limit=500 token=",
				"list rv= limit=500 token= anew", "watch rv=50",
			},
		},
		"in a later Run": {
			Tuning{DisableWatchList: true}, script(back),
			func(n int, _ source.ListOptions) (source.ListResult, error) {
				switch n {
				case 1:
					return source.ListResult{ResourceVersion: "100"}, nil
				case 2:
					return source.ListResult{}, errBusy
				}
				return source.ListResult{ResourceVersion: "101"}, nil
			}, true,
			[]string{"list rv=0 limit=500 token=", "watch rv=100", "list rv= limit=500 token= anew", "list rv= limit=500 token= anew", "watch rv=101"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{watch: tc.watch, list: func(n int, opts source.ListOptions, _ func(thing) error) (source.ListResult, error) {
				return tc.list(n, opts)
			}}
			tc.tuning.SilenceTimeout = time.Hour
			bubble(t, src, Config[thing]{Tuning: tc.tuning}, func(g *rig) {
				if tc.again {
					g.rerun()
				}
				g.pass(20 * time.Second)
				g.wantRequests(tc.want...)
			})
		})
	}
}

// TestSilentServerWithUnknownVersion: if the probe for the server's version fails, another watch is
// opened.
func TestSilentServerWithUnknownVersion(t *testing.T) {
	type list = func(int, source.ListOptions, func(thing) error) (source.ListResult, error)
	for name, answer := range map[string]list{
		"fails": func(int, source.ListOptions, func(thing) error) (source.ListResult, error) {
			return source.ListResult{}, statusError(403, 0)
		},
		"ignores the limit":               listOf("3", newThing("a", "1"), newThing("b", "2")),
		"has a version that is no number": listOf("x"),
	} {
		t.Run(name, func(t *testing.T) {
			src := &fake{watch: script(scriptedWatch{events: []source.Event[thing]{bookmark("5", true)}}), list: answer}
			bubble(t, src, Config[thing]{}, func(g *rig) {
				g.pass(3 * time.Minute)
				g.wantRequests("watch-list rv=", "probe rv= limit=1 token=", "watch rv=5")
				if s := g.Status(); s.State != StateWatching || len(g.errs) != 1 || reason.Of(g.errs[0]) != reason.Silent {
					t.Errorf("Status() = %+v, OnError got %v", s, g.errs)
				}
			})
		})
	}
}
