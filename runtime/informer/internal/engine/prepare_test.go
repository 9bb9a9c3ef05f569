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

// cachingServer is a server that sends the informer's own objects where they are current.
type cachingServer struct {
	*server
	readOnly []bool // of each call
	known    int    // number of the informer's objects sent
}

func (k *cachingServer) look(known func(object.Object) object.Object, obj object.Object) object.Object {
	if own := known(obj); own != nil {
		k.known++
		return own
	}
	return obj
}

func (k *cachingServer) List(ctx context.Context, opts source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	k.readOnly = append(k.readOnly, opts.ReadOnly)
	known := func(obj object.Object) object.Object {
		if opts.Known == nil {
			return nil
		}
		return opts.Known(object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion())
	}
	return k.server.List(ctx, opts, func(obj object.Object) error { return item(k.look(known, obj)) })
}

func (k *cachingServer) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
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

// TestKnownObjectsAreNotReadAgain shows that a Source needs to read only the new objects of a full
// state, and that only these are transformed. Objects may share parts unless there is a transform.
func TestKnownObjectsAreNotReadAgain(t *testing.T) {
	for _, how := range []string{"list", "watch-list"} {
		for _, transforms := range []bool{false, true} {
			bubble(t, fmt.Sprintf("%s, transform %v", how, transforms), func(t *testing.T) {
				s := &cachingServer{server: newServer("ns")}
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
				before, _ := r.Table().Version().Get(keyOf("ns", "a"))
				if s.known != 0 {
					t.Errorf("%d objects were known in the first list, want 0", s.known)
				}
				s.has("a@1 b@3 c@4")
				stop := r.start()
				defer stop()
				r.wantStored("a@1 b@3 c@4 at 4")
				if after, _ := r.Table().Version().Get(keyOf("ns", "a")); after != before || s.known != 1 {
					t.Errorf("%d objects were known, a is the same object: %v; want 1, true", s.known, after == before)
				}
				if transforms && calls != 2+2 {
					t.Errorf("%d objects were transformed, want 4", calls)
				}
				s.feed("+d@5 ~a@6")
				r.wantStored("a@6 b@3 c@4 d@5 at 6")
				for _, readOnly := range s.readOnly {
					if readOnly == transforms {
						t.Errorf("ReadOnly of the calls: %v, want all %v", s.readOnly, !transforms)
					}
				}
			})
		}
	}
}

// readAheadServer is a server whose second full state lacks an object that is added right after it.
// It reads that event before the end of the full state.
type readAheadServer struct {
	*server
	t     *testing.T
	known func() object.Object // the informer's object a@5, if known
}

func (a *readAheadServer) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	if opts.Known == nil { // it has nothing yet
		return a.server.Watch(ctx, opts, opened, event)
	}
	a.known = func() object.Object { return opts.Known(keyOf("ns", "a"), "", "5") }
	own := a.known() // of the event after the bookmark, read ahead
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
			a.t.Error("an object of the replaced state is known")
		}
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// TestNoObjectIsTransformedTwice has a full state that lacks a known object, which is then added
// again. The Source has read that addition before the end of the full state. The object is not
// transformed again.
func TestNoObjectIsTransformedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &readAheadServer{server: newServer("ns"), t: t}
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
		r.wantStored("a@5 at 5")
		h := newRecorder(t)
		r.add(h, handlerConfig)
		stop := r.start()
		defer stop()
		time.Sleep(time.Minute)
		synctest.Wait()
		h.wantEvents("=a@5 -a@5? +a@5")
		if calls != 1 {
			t.Errorf("%d calls of the transform, want 1", calls)
		}
	})
}
