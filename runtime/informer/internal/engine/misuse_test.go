// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/outcome"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestAddIndexesGoexit has an index function that ends the caller's goroutine. No index is added,
// and no lock stays held.
func TestAddIndexesGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		bad := store.NewIndex("Bad", func(object.Object, []string) []string { runtime.Goexit(); return nil })
		go func() { _ = r.AddIndexes(bad) }()
		synctest.Wait()
		r.feed("~a@2")
		r.wantStored("a@2 at 2")
		if err := r.AddIndexes(byName()); err != nil {
			t.Error(err)
		}
	})
}

// TestUserFunctionGoexitEndsTheRun has a user's function call runtime.Goexit, as t.Fatal does, on a
// goroutine of a stream. Run returns an error that says so, nothing of the batch is applied, and
// another run may follow.
func TestUserFunctionGoexitEndsTheRun(t *testing.T) {
	for _, namespaces := range [][]string{{"ns"}, {"other", "ns"}} {
		for name, newConfig := range map[string]func(exit func()) Config{
			"transform": func(exit func()) Config {
				return Config{Transform: func(obj object.Object) (object.Object, error) { exit(); return obj, nil }}
			},
			"index": func(exit func()) Config {
				return Config{Indexes: []intake.Indexer{store.NewIndex("Bad", func(_ object.Object, keys []string) []string { exit(); return keys })}}
			},
			"OnError": func(exit func()) Config {
				return Config{OnError: func(string, error) { exit() }, Indexes: []intake.Indexer{store.NewIndex("Weak", func(object.Object, []string) []string { panic("no") })}}
			},
		} {
			bubble(t, name+" "+strings.Join(namespaces, " "), func(t *testing.T) {
				var servers []*server
				var sources []testSource
				for _, namespace := range namespaces {
					servers = append(servers, newServer(namespace))
					sources = append(sources, servers[len(servers)-1])
				}
				servers[len(servers)-1].has("a@1")
				bad := true
				r := newSourceRig(t, newConfig(func() {
					if bad {
						runtime.Goexit()
					}
				}), sources...)
				h := newRecorder(t)
				r.add(h, handlerConfig)
				if err := r.Run(t.Context()); !errors.Is(err, outcome.ErrGoexit) {
					t.Errorf("Run() = %v, want ErrGoexit", err)
				}
				if name != "OnError" { // OnError is called after the publication
					h.wantEvents("")
				}
				bad = false
				defer r.start()()
				h.wantEvents("=a@1")
				servers[len(servers)-1].feed("~a@2")
				h.wantEvents("~a@2")
				h.wantTable(r)
			})
		}
	}
}

// TestMutationReportGoexit has a report function that calls runtime.Goexit, as t.Fatal does. The
// run ends nevertheless.
func TestMutationReportGoexit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		r := newRigOf(t, Config{Mutations: mutation.New("things", func(mutation.Mutation) { reports++; runtime.Goexit() })}, "")
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		obj, _ := r.Table().Version().Get(keyOf("ns", "a"))
		obj.SetFinalizers([]string{"f"})
		stop()
		if reports != 1 {
			t.Errorf("%d reports, want 1", reports)
		}
	})
}

// badObjectSource is a Source of one bad object.
type badObjectSource struct {
	*server
	bad object.Object
}

func (s badObjectSource) List(_ context.Context, _ source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "1"}, item(s.bad)
}

func (s badObjectSource) Watch(_ context.Context, _ source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	opened()
	return event(source.Event[object.Object]{Type: source.Added, Object: s.bad, ResourceVersion: "2"})
}

// TestWrongObjectsAreBadData has a user's Source send values that are no valid objects. They are
// bad data, and nothing panics.
func TestWrongObjectsAreBadData(t *testing.T) {
	for name, bad := range map[string]object.Object{"nil": nil, "nil pointer": (*otherType)(nil), "without name": newObject("@1")} {
		for _, how := range []string{"list", "watch-list"} {
			bubble(t, name+" in a "+how, func(t *testing.T) {
				r := newSourceRig(t, Config{Tuning: reflector.Tuning{DisableWatchList: how == "list"}}, badObjectSource{newServer("ns"), bad})
				defer r.start()()
				status := r.Streams()[0].Reflector
				var decodeErr *source.DecodeError
				if status.Reason != reason.BadData || !errors.As(status.LastError, &decodeErr) {
					t.Errorf("status: %v: %v, want bad data", status.Reason, status.LastError)
				}
				t.Log(status.LastError)
				r.wantStored(" at ")
			})
		}
	}
}

// badEventSource is a Source of events of unknown types.
type badEventSource struct {
	*server
	types []source.EventType
}

func (s badEventSource) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	if opts.SendInitialEvents {
		return s.server.Watch(ctx, opts, opened, event)
	}
	opened()
	for _, kind := range s.types {
		if err := event(source.Event[object.Object]{Type: kind, Object: newObject("b@2"), ResourceVersion: "2"}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestUnknownEventsAreNotStored has a Source send events of unknown types, with metrics. Nothing
// panics, and nothing is stored.
func TestUnknownEventsAreNotStored(t *testing.T) {
	for _, kind := range []source.EventType{0, source.Bookmark + 1, 255} {
		bubble(t, fmt.Sprint(uint8(kind)), func(t *testing.T) {
			m := &recordingProvider{}
			s := newServer("ns")
			s.has("a@1")
			r := newSourceRig(t, Config{Metrics: m, Tuning: reflector.Tuning{DisableWatchList: true}}, badEventSource{s, []source.EventType{kind}})
			defer r.start()()
			r.wantStored("a@1 at 1")
			if got := m.read().Events; got != (metrics.EventTotals{}) {
				t.Errorf("counted events: %+v, want none", got)
			}
			if got := r.Streams()[0].Reflector; got.Reason == reason.None {
				t.Errorf("status without a failure: %+v", got)
			}
		})
	}
}
