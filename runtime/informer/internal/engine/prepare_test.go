// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// knowing is a server that hands over objects that the informer has already.
type knowing struct {
	*server
	readOnly []bool // of each call
	known    int    // objects that were not read
}

func (k *knowing) look(known func(object.Object) object.Object, obj object.Object) object.Object {
	if own := known(obj); own != nil {
		k.known++
		return own
	}
	return obj
}

func (k *knowing) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	k.readOnly = append(k.readOnly, opts.ReadOnly)
	known := func(obj object.Object) object.Object {
		if opts.Known == nil {
			return nil
		}
		return opts.Known(object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion())
	}
	return k.server.List(ctx, opts, func(obj object.Object) error { return item(k.look(known, obj)) })
}

func (k *knowing) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	k.readOnly = append(k.readOnly, opts.ReadOnly)
	return k.server.Watch(ctx, opts, opened, func(e source.Event[object.Object]) error {
		if e.Type == source.Added && opts.Known != nil {
			e.Object = k.look(func(obj object.Object) object.Object {
				return opts.Known(object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion())
			}, e.Object)
		}
		return event(e)
	})
}

// TestWhatTheInformerHasIsNotReadAgain shows that a source needs to read only the new objects of a
// full state, and that only these are transformed. Objects may share their parts unless there is a
// transform.
func TestWhatTheInformerHasIsNotReadAgain(t *testing.T) {
	for _, how := range []string{"list", "watch-list"} {
		for _, transforms := range []bool{false, true} {
			bubble(t, fmt.Sprintf("%s, transform %v", how, transforms), func(t *testing.T) {
				s := &knowing{server: newServer("ns")}
				s.has("a@1 b@2")
				calls := 0
				config := Config{Tuning: reflector.Tuning{DisableWatchList: how == "list"}}
				if transforms {
					config.Transform = func(obj object.Object) (object.Object, error) {
						calls++
						return obj.DeepCopyObject().(object.Object), nil
					}
				}
				config.Name, config.Handlers = "things", fanout.HandlerConfig{Threshold: 1024}
				config.Streams = []intake.StreamConfig{{Namespace: s.namespace, Source: s}}
				i, err := New(config)
				if err != nil {
					t.Fatal(err)
				}
				r := &rig{Informer: i, t: t}
				r.start()()
				before, _ := r.Table().Version().Get(in("ns", "a"))
				if s.known != 0 {
					t.Errorf("%d of nothing were known", s.known)
				}
				s.has("a@1 b@3 c@4")
				stop := r.start()
				defer stop()
				r.want("a@1 b@3 c@4 at 4")
				if after, _ := r.Table().Version().Get(in("ns", "a")); after != before || s.known != 1 {
					t.Errorf("%d objects were known, a is the same one: %v", s.known, after == before)
				}
				if transforms && calls != 2+2 {
					t.Errorf("%d objects were transformed, want 4", calls)
				}
				s.feed("+d@5 ~a@6")
				r.want("a@6 b@3 c@4 d@5 at 6")
				for _, readOnly := range s.readOnly {
					if readOnly == transforms {
						t.Errorf("read only: %v", s.readOnly)
					}
				}
			})
		}
	}
}

// ahead is a server whose second full state lacks an object that is added right after it. It reads
// ahead while it hands over.
type ahead struct {
	*server
	t     *testing.T
	known func() object.Object // asks for object a@5
}

func (a *ahead) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	if opts.Known == nil { // it has nothing yet
		return a.server.Watch(ctx, opts, opened, event)
	}
	a.known = func() object.Object { return opts.Known(in("ns", "a"), "", "5") }
	own := a.known() // of the event after the bookmark, which has been read ahead
	if own == nil {
		return a.server.Watch(ctx, opts, opened, event)
	}
	opened()
	for _, e := range []source.Event[object.Object]{
		{Type: source.Bookmark, ResourceVersion: "5", InitialEventsEnd: true, More: true},
		{Type: source.Added, Object: own, ResourceVersion: "5"},
	} {
		if err := event(e); err != nil {
			return err
		}
		if a.known() != nil {
			a.t.Error("an object is known of the state that was replaced")
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestNoObjectIsTransformedTwice has an object come again that the informer had, and that was read
// before the end of a full state that lacks it: it is not transformed again.
func TestNoObjectIsTransformedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &ahead{server: newServer("ns"), t: t}
		s.has("a@5")
		calls := 0
		i, err := New(Config{
			Name: "things", Handlers: fanout.HandlerConfig{Threshold: 1024}, Streams: []intake.StreamConfig{{Namespace: s.namespace, Source: s}},
			Transform: func(obj object.Object) (object.Object, error) { calls++; return obj, nil },
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{Informer: i, t: t}
		r.start()()
		r.want("a@5 at 5")
		h := record(t)
		r.add(h, lately)
		stop := r.start()
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		h.sees("=a@5 -a@5? +a@5")
		if calls != 1 {
			t.Errorf("transformed %d times", calls)
		}
	})
}
