// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// flushing is a Sink that is flushed.
type flushing struct{ *record }

func (f flushing) Flush() error { return f.note("flush") }

// TestFlushesWhenNothingIsAtHand flushes a Sink when the source has nothing more at hand: after a
// list, after the last event of those that came at once, when the watch ends too early, and after
// 128 events at the latest. Status has what was flushed.
func TestFlushesWhenNothingIsAtHand(t *testing.T) {
	type events = []source.Event[thing]
	event := func(typ source.EventType, more bool) source.Event[thing] {
		e := ev(typ, "b", "2")
		e.More = more
		return e
	}
	many := append(slices.Repeat(events{event(source.Modified, true)}, 129), event(source.Modified, false))
	for name, tc := range map[string]struct {
		events events
		want   string
	}{
		"one": {events{event(source.Added, false)}, "add b, flush"},
		"several at once": {
			events{event(source.Added, true), event(source.Modified, true), event(source.Bookmark, false), event(source.Deleted, false)},
			"add b, update b, bookmark 2, flush, delete b, flush",
		},
		"a promise that is not kept": {events{event(source.Added, true), event(source.Modified, true)}, "add b, update b, flush"},
		"many at once":               {many, strings.Repeat("update b, ", 128) + "flush, update b, update b, flush"},
	} {
		t.Run(name, func(t *testing.T) {
			sink := flushing{&record{}}
			src := &fake{list: listOf("1", newThing("a", "1")), watch: turns(turn{events: tc.events, ends: true})}
			bubble(t, src, Config[thing]{Sink: sink, Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				if got, want := sink.String(), "begin, replace a, flush, end 1, "+tc.want; got != want {
					t.Errorf("told %s\nwant %s", got, want)
				}
				if got := g.Status().ResourceVersion; got != "2" {
					t.Errorf("status speaks of version %s", got)
				}
			})
		})
	}
}

// TestSilenceEndsASeries has a source that announces an event that never comes: the events before
// it are passed on when the silence of the server ends the watch, and a new watch is opened.
func TestSilenceEndsASeries(t *testing.T) {
	src := &fake{list: func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
		return source.ListResult{ResourceVersion: fmt.Sprint(n)}, nil // at 1, and a probe at 2
	}}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		if n == 1 {
			sleep(ctx, 50*time.Second) // of the limit, which is a minute
			e := ev(source.Added, "b", "2")
			e.More = true
			if err := event(e); err != nil {
				return err
			}
		}
		return hold(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, SilenceTimeout: time.Minute}}, func(g *rig) {
		g.pass(109 * time.Second)
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=1")
		g.pass(time.Minute + time.Second)
		g.wantCalls("list rv=0 limit=500 token=", "watch rv=1", "probe rv= limit=1 token=", "watch rv=2")
		if s := g.Status(); s.ResourceVersion != "2" || reason.Of(s.LastError) != reason.Silent {
			t.Errorf("status %v", s)
		}
		g.wantContent("b@2")
	})
}
