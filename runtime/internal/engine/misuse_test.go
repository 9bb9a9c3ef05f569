// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/internal/mutation"
	"github.com/informer-gen/informer-gen/runtime/metrics"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestIndexFunctionEndsItsGoroutine has an index function that calls runtime.Goexit, as t.Fatal does, in each part of a
// batch: it is treated like one that panics, and the batch is applied as if it had not happened.
func TestIndexFunctionEndsItsGoroutine(t *testing.T) {
	for _, namespaces := range [][]string{{""}, {"other", "ns"}} {
		bubble(t, strings.Join(namespaces, " "), func(t *testing.T) {
			leaves := func(name string) *store.Index[object.Object, string] {
				return store.NewIndex(name, func(obj object.Object, keys []string) []string {
					if obj.GetName() == "b" && obj.GetResourceVersion() != "7" {
						runtime.Goexit()
					}
					return append(keys, obj.GetName()+obj.GetResourceVersion())
				})
			}
			first, second := leaves("First"), leaves("Second")
			var reported []string
			r := newRigOf(t, Config{Indexes: []Indexer{first, byName(), second}, OnError: func(err error) { reported = append(reported, err.Error()) }}, namespaces...)
			h := record(t)
			r.add(h, lately)
			stop := r.start()
			last := len(namespaces) - 1 // the first one is applied by the run's own goroutine
			r.feedTo(last, "[ =a@1 +b/old@1 -b/old@2 =b@2 =c@3 ]@4")
			h.sees("=a@1 =b@2 =c@3")
			r.feedTo(last, "~a@5 ~b@6 ~c@6 |@7")
			h.sees("~a@5 ~b@6 ~c@6")
			keys := func(want string) {
				t.Helper()
				for _, index := range []*store.Index[object.Object, string]{first, second} {
					if got := slices.Sorted(index.Keys(r.snapshot())); strings.Join(got, " ") != want {
						t.Errorf("index %s has %q, want %s", index.Name(), got, want)
					}
				}
			}
			keys("a5 c6")
			r.feedTo(last, "~b@7")
			keys("a5 b7 c6")
			r.feedTo(last, "-b@8 [ =a@5 =b@9 ]@9")
			keys("a5")
			h.sees("~b@7 -b@8 -c@6? +b@9")
			h.agrees(r)
			want := `informer things: the function of index "First" panicked for ns/b, which this index lacks now: runtime.Goexit was called`
			if !slices.Contains(reported, want) {
				t.Errorf("reported %q", reported)
			}
			if len(reported) != 2*4 { // b/old@1, b@2, b@6 and b@9 by either
				t.Errorf("%d reports: %q", len(reported), reported)
			}
			stop() // and the run ends as any other
		})
	}
}

// TestOnErrorEndsItsGoroutine has an OnError that calls runtime.Goexit: what was applied is not applied again.
func TestOnErrorEndsItsGoroutine(t *testing.T) {
	for _, namespaces := range [][]string{{""}, {"other", "ns"}} {
		bubble(t, strings.Join(namespaces, " "), func(t *testing.T) {
			weak := store.NewIndex("Weak", func(obj object.Object, keys []string) []string {
				if obj.GetName() == "b" {
					panic("no b")
				}
				return append(keys, obj.GetName())
			})
			r := newRigOf(t, Config{Indexes: []Indexer{weak}, OnError: func(error) { runtime.Goexit() }}, namespaces...)
			h := record(t)
			r.add(h, lately)
			stop := r.start()
			last := len(namespaces) - 1
			r.feedTo(last, "[ =a@1 =b@2 ]@2")
			h.sees("=a@1 =b@2")
			r.feedTo(last, "~b@3 ~a@4 ~b@5 -b@6 +b@7 -a@8")
			h.sees("~b@3 ~a@4 ~b@5 -b@6 +b@7 -a@8")
			h.agrees(r)
			stop()
		})
	}
}

// TestAddIndexesEndsItsGoroutine has an index function that ends the caller's goroutine: nothing is added or left locked.
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

// TestReaderEndsItsGoroutine has a transform that calls runtime.Goexit: the run ends and says why, and another one may follow.
func TestReaderEndsItsGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer("ns")
		s.has("a@1")
		bad := true
		r := newServed(t, Config{Transform: func(obj object.Object) (object.Object, error) {
			if bad {
				runtime.Goexit()
			}
			return obj, nil
		}}, s)
		want := "the goroutine that reads things has ended: its source, transform or OnError has called runtime.Goexit"
		if err := r.Run(t.Context()); err == nil || err.Error() != want {
			t.Errorf("Run returned %v", err)
		}
		bad = false
		defer r.start()()
		r.want("a@1 at 1")
	})
}

// TestMutationReportEndsItsGoroutine has a report of a mutation that calls runtime.Goexit, as t.Fatal does: the run ends.
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

// TestWrongObjects has sources, of the user's own, that hand over what is no object: it is bad data, and nothing panics.
func TestWrongObjects(t *testing.T) {
	for name, wrong := range map[string]object.Object{"nil": nil, "nil pointer": (*renamed)(nil), "without name": thing("@1")} {
		for _, how := range []string{"list", "watch-list"} {
			bubble(t, name+" in a "+how, func(t *testing.T) {
				r := newServed(t, Config{Tuning: reflector.Tuning{DisableWatchList: how == "list"}}, newServer("ns"))
				r.streams[0].source = faulty{newServer("ns"), wrong}
				defer r.start()()
				status := r.Streams()[0].Reflector
				var bad *source.DecodeError
				if status.Reason != reflector.ReasonBadData || !errors.As(status.LastError, &bad) {
					t.Errorf("%v: %v", status.Reason, status.LastError)
				}
				t.Log(status.LastError)
				r.want(" at ")
			})
		}
	}
}

// inventive is a Source that makes up types of events.
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

// TestUnknownEvents has a source send events of types that there are not, with metrics: nothing panics, and nothing is
// stored.
func TestUnknownEvents(t *testing.T) {
	for _, kind := range []source.EventType{0, source.Bookmark + 1, 255} {
		bubble(t, fmt.Sprint(uint8(kind)), func(t *testing.T) {
			m := &metered{}
			s := newServer("ns")
			s.has("a@1")
			r := newServed(t, Config{Metrics: m, Tuning: reflector.Tuning{DisableWatchList: true}}, s)
			r.streams[0].source = inventive{s, []source.EventType{kind}}
			defer r.start()()
			r.want("a@1 at 1")
			if got := m.read().Events; got != (metrics.EventTotals{}) {
				t.Errorf("counted %+v", got)
			}
			if got := r.Streams()[0].Reflector; got.Reason == reflector.ReasonNone {
				t.Errorf("nothing is wrong: %+v", got)
			}
		})
	}
}
