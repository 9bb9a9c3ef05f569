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

// TestAddIndexesEndsItsGoroutine has an index function that ends the caller's goroutine: no index
// is added, and no lock stays held.
func TestAddIndexesEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		defer r.start()()
		r.feed("[ =a@1 ]@1")
		bad := store.NewIndex("Bad", func(object.Object, []string) []string { runtime.Goexit(); return nil })
		go func() { _ = r.AddIndexes(bad) }()
		synctest.Wait()
		r.feed("~a@2")
		r.want("a@2 at 2")
		if err := r.AddIndexes(byName()); err != nil {
			t.Error(err)
		}
	})
}

// TestFunctionEndsItsGoroutine has a function of the user's call runtime.Goexit, as t.Fatal does,
// on a goroutine of a stream: Run returns an error that says so, nothing of the batch is applied,
// and another run may follow.
func TestFunctionEndsItsGoroutine(t *testing.T) {
	for _, namespaces := range [][]string{{"ns"}, {"other", "ns"}} {
		for name, who := range map[string]func(exit func()) Config{
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
				var sources []served
				for _, namespace := range namespaces {
					servers = append(servers, newServer(namespace))
					sources = append(sources, servers[len(servers)-1])
				}
				servers[len(servers)-1].has("a@1")
				bad := true
				r := newServed(t, who(func() {
					if bad {
						runtime.Goexit()
					}
				}), sources...)
				h := record(t)
				r.add(h, lately)
				if err := r.Run(t.Context()); !errors.Is(err, outcome.ErrGoexit) {
					t.Errorf("Run returned %v", err)
				}
				if name != "OnError" { // which is called after the batch is published
					h.sees("")
				}
				bad = false
				defer r.start()()
				h.sees("=a@1")
				servers[len(servers)-1].feed("~a@2")
				h.sees("~a@2")
				h.agrees(r)
			})
		}
	}
}

// TestMutationReportEndsItsGoroutine has a report of a mutation that calls runtime.Goexit, as
// t.Fatal does: the run ends.
func TestMutationReportEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reports := 0
		r := newRigOf(t, Config{Mutations: mutation.New("things", func(mutation.Mutation) { reports++; runtime.Goexit() })}, "")
		stop := r.start()
		r.feed("[ =a@1 ]@1")
		obj, _ := r.Table().Version().Get(in("ns", "a"))
		obj.SetFinalizers([]string{"f"})
		stop()
		if reports != 1 {
			t.Errorf("%d reports", reports)
		}
	})
}

// faulty is a Source that hands over a wrong object.
type faulty struct {
	*server
	wrong object.Object
}

func (s faulty) List(_ context.Context, _ source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	return source.ListResult{ResourceVersion: "1"}, item(s.wrong)
}

func (s faulty) Watch(_ context.Context, _ source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	opened()
	return event(source.Event[object.Object]{Type: source.Added, Object: s.wrong, ResourceVersion: "2"})
}

// TestWrongObjectsAreBadData has sources of the user's own that hand over values that are no
// objects: they are bad data, and nothing panics.
func TestWrongObjectsAreBadData(t *testing.T) {
	for name, wrong := range map[string]object.Object{"nil": nil, "nil pointer": (*renamed)(nil), "without name": thing("@1")} {
		for _, how := range []string{"list", "watch-list"} {
			bubble(t, name+" in a "+how, func(t *testing.T) {
				r := newServed(t, Config{Tuning: reflector.Tuning{DisableWatchList: how == "list"}}, faulty{newServer("ns"), wrong})
				defer r.start()()
				status := r.Streams()[0].Reflector
				var bad *source.DecodeError
				if status.Reason != reason.BadData || !errors.As(status.LastError, &bad) {
					t.Errorf("%v: %v", status.Reason, status.LastError)
				}
				t.Log(status.LastError)
				r.want(" at ")
			})
		}
	}
}

// inventive is a Source that sends events of unknown types.
type inventive struct {
	*server
	types []source.EventType
}

func (s inventive) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	if opts.SendInitialEvents {
		return s.server.Watch(ctx, opts, opened, event)
	}
	opened()
	for _, kind := range s.types {
		if err := event(source.Event[object.Object]{Type: kind, Object: thing("b@2"), ResourceVersion: "2"}); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestUnknownEventsAreNotStored has a source send events of unknown types, with metrics: nothing
// panics, and nothing is stored.
func TestUnknownEventsAreNotStored(t *testing.T) {
	for _, kind := range []source.EventType{0, source.Bookmark + 1, 255} {
		bubble(t, fmt.Sprint(uint8(kind)), func(t *testing.T) {
			m := &metered{}
			s := newServer("ns")
			s.has("a@1")
			r := newServed(t, Config{Metrics: m, Tuning: reflector.Tuning{DisableWatchList: true}}, inventive{s, []source.EventType{kind}})
			defer r.start()()
			r.want("a@1 at 1")
			if got := m.read().Events; got != (metrics.EventTotals{}) {
				t.Errorf("counted %+v", got)
			}
			if got := r.Streams()[0].Reflector; got.Reason == reason.None {
				t.Errorf("nothing is wrong: %+v", got)
			}
		})
	}
}
