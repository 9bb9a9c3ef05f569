// SPDX-License-Identifier: Apache-2.0

package reflector

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/source"
)

type flushed struct{ calls []string }

func (f *flushed) note(call string) error { f.calls = append(f.calls, call); return nil }

func (f *flushed) BeginReplace() error                             { return f.note("[") }
func (f *flushed) Replace(obj *metav1.PartialObjectMetadata) error { return f.note("=" + obj.Name) }
func (f *flushed) EndReplace(string) error                         { return f.note("]") }
func (f *flushed) AbortReplace() error                             { return f.note("!") }
func (f *flushed) Add(obj *metav1.PartialObjectMetadata) error     { return f.note("+" + obj.Name) }
func (f *flushed) Update(obj *metav1.PartialObjectMetadata) error  { return f.note("~" + obj.Name) }
func (f *flushed) Delete(obj *metav1.PartialObjectMetadata) error  { return f.note("-" + obj.Name) }
func (f *flushed) Bookmark(string) error                           { return f.note("|") }
func (f *flushed) Flush() error                                    { return f.note("F") }

// flushSource lists one object, then has a watch with these events, which ends.
type flushSource struct {
	events []source.Event[*metav1.PartialObjectMetadata]
	opened int
}

func (s *flushSource) List(_ context.Context, _ source.ListOptions, item func(*metav1.PartialObjectMetadata) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "1"}, item(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
}

func (s *flushSource) Watch(ctx context.Context, _ source.WatchOptions, opened func(), event func(source.Event[*metav1.PartialObjectMetadata]) error) error {
	opened()
	if s.opened++; s.opened == 1 {
		for _, e := range s.events {
			if err := event(e); err != nil {
				return err
			}
		}
		return nil
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestFlushesWhenNothingIsAtHand flushes a Sink when the source has nothing more at hand: after a
// list, after the last event of those that came at once, when the watch ends too early, and after
// 128 events at the latest. Status has what was flushed.
func TestFlushesWhenNothingIsAtHand(t *testing.T) {
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "b"}}
	event := func(typ source.EventType, more bool) source.Event[*metav1.PartialObjectMetadata] {
		e := source.Event[*metav1.PartialObjectMetadata]{Type: typ, ResourceVersion: "2", More: more}
		if typ != source.Bookmark {
			e.Object = obj
		}
		return e
	}
	many := make([]source.Event[*metav1.PartialObjectMetadata], 130)
	for i := range many {
		many[i] = event(source.Modified, i < 129)
	}
	for _, test := range []struct {
		name   string
		events []source.Event[*metav1.PartialObjectMetadata]
		want   string
	}{
		{"one", []source.Event[*metav1.PartialObjectMetadata]{event(source.Added, false)}, "+b F"},
		{"several at once", []source.Event[*metav1.PartialObjectMetadata]{event(source.Added, true), event(source.Modified, true), event(source.Bookmark, false), event(source.Deleted, false)}, "+b ~b | F -b F"},
		{"a promise that is not kept", []source.Event[*metav1.PartialObjectMetadata]{event(source.Added, true), event(source.Modified, true)}, "+b ~b F"},
		{"many at once", many, strings.Repeat("~b ", 128) + "F ~b ~b F"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sink := &flushed{}
				r, err := New(Config[*metav1.PartialObjectMetadata]{Source: &flushSource{events: test.events}, Sink: sink, Tuning: Tuning{DisableWatchList: true}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- r.Run(ctx) }()
				synctest.Wait()
				if got, want := strings.Join(sink.calls, " "), "[ =a F ] "+test.want; got != want {
					t.Errorf("calls %s\nwant  %s", got, want)
				}
				if got := r.Status().ResourceVersion; got != "2" {
					t.Errorf("status speaks of version %s", got)
				}
				cancel()
				if err := <-done; err != nil {
					t.Error(err)
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
