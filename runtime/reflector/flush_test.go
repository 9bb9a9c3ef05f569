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

// flushingSink is a Sink with the method Flush.
type flushingSink struct{ *recorder }

func (f flushingSink) Flush() error { return f.note("flush") }

// TestFlushAfterTheLastReadyEvent: a Sink is flushed after a list, after the last ready event, when
// the watch ends before an announced event, and after 128 events at the latest. Status has the
// flushed version.
func TestFlushAfterTheLastReadyEvent(t *testing.T) {
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
		"an announced event is missing": {events{event(source.Added, true), event(source.Modified, true)}, "add b, update b, flush"},
		"many at once":                  {many, strings.Repeat("update b, ", 128) + "flush, update b, update b, flush"},
	} {
		t.Run(name, func(t *testing.T) {
			sink := flushingSink{&recorder{}}
			src := &fake{list: listOf("1", newThing("a", "1")), watch: script(scriptedWatch{events: tc.events, ends: true})}
			bubble(t, src, Config[thing]{Sink: sink, Tuning: Tuning{DisableWatchList: true}}, func(g *rig) {
				if got, want := sink.String(), "begin, replace a, flush, end 1, "+tc.want; got != want {
					t.Errorf("sink calls %s\nwant       %s", got, want)
				}
				if got := g.Status().ResourceVersion; got != "2" {
					t.Errorf("Status().ResourceVersion = %s, want 2", got)
				}
			})
		})
	}
}

// TestSilenceEndsASeries: the source announces an event that never comes. The silence ends the
// watch, the sink gets the events before, and a new watch is opened.
func TestSilenceEndsASeries(t *testing.T) {
	src := &fake{list: func(n int, _ source.ListOptions, _ func(thing) error) (source.ListResult, error) {
		return source.ListResult{ResourceVersion: fmt.Sprint(n)}, nil // at 1, and a probe at 2
	}}
	src.watch = func(ctx context.Context, n int, opts source.WatchOptions, opened func(), event func(source.Event[thing]) error) error {
		opened()
		if n == 1 {
			sleep(ctx, 50*time.Second) // the limit is a minute
			e := ev(source.Added, "b", "2")
			e.More = true
			if err := event(e); err != nil {
				return err
			}
		}
		return stayOpen(ctx, opened)
	}
	bubble(t, src, Config[thing]{Tuning: Tuning{DisableWatchList: true, SilenceTimeout: time.Minute}}, func(g *rig) {
		g.pass(109 * time.Second)
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=1")
		g.pass(time.Minute + time.Second)
		g.wantRequests("list rv=0 limit=500 token=", "watch rv=1", "probe rv= limit=1 token=", "watch rv=2")
		if s := g.Status(); s.ResourceVersion != "2" || reason.Of(s.LastError) != reason.Silent {
			t.Errorf("Status() = %v", s)
		}
		g.wantContent("b@2")
	})
}
