// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reason"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// server is a Source of one namespace. Tests write its objects and events as words; see send.
type server struct {
	namespace string

	mu      sync.Mutex // guards the rest
	objects map[object.Key]object.Object
	version string
	events  chan source.Event[object.Object]
	lists   int
}

func newServer(namespace string) *server {
	return &server{namespace: namespace, objects: map[object.Key]object.Object{}, version: "1", events: make(chan source.Event[object.Object])}
}

// has sets the objects, without an event.
func (s *server) has(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.objects)
	for word := range strings.FieldsSeq(text) {
		s.storeLocked(newObjectIn(s.namespace, word))
	}
}

func (s *server) storeLocked(obj object.Object) {
	s.objects[object.KeyOf(obj)] = obj
	if compare(obj.GetResourceVersion(), s.version) > 0 {
		s.version = obj.GetResourceVersion()
	}
}

// feed changes objects and sends the events to the watch: "+a@5", "~a@6", "-a@7", "|@8". It waits
// until they are delivered.
func (s *server) feed(text string) {
	for word := range strings.FieldsSeq(text) {
		obj := newObjectIn(s.namespace, word[1:])
		e := source.Event[object.Object]{Object: obj.DeepCopy(), ResourceVersion: obj.ResourceVersion}
		s.mu.Lock()
		s.storeLocked(obj)
		switch word[0] {
		case '+':
			e.Type = source.Added
		case '~':
			e.Type = source.Modified
		case '-':
			e.Type = source.Deleted
			delete(s.objects, object.KeyOf(obj))
		case '|':
			e.Type, e.Object = source.Bookmark, nil
			delete(s.objects, object.KeyOf(obj))
		}
		s.mu.Unlock()
		s.events <- e
	}
	synctest.Wait()
}

// state returns copies of the objects, as a decoder would make them.
func (s *server) state() ([]object.Object, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists++
	var all []object.Object
	for _, obj := range s.objects {
		all = append(all, obj.DeepCopyObject().(object.Object))
	}
	slices.SortFunc(all, func(a, b object.Object) int { return strings.Compare(a.GetName(), b.GetName()) })
	return all, s.version
}

func (s *server) List(ctx context.Context, _ source.ListOptions, item func(object.Object) error) (source.ListResult, error) {
	all, version := s.state()
	for _, obj := range all {
		if err := item(obj); err != nil {
			return source.ListResult{}, err
		}
	}
	return source.ListResult{ResourceVersion: version}, context.Cause(ctx)
}

func (s *server) Watch(ctx context.Context, opts source.WatchOptions, opened func(), event func(source.Event[object.Object]) error) error {
	opened()
	if opts.SendInitialEvents {
		all, version := s.state()
		for _, obj := range all {
			if err := event(source.Event[object.Object]{Type: source.Added, Object: obj, ResourceVersion: obj.GetResourceVersion()}); err != nil {
				return err
			}
		}
		if err := event(source.Event[object.Object]{Type: source.Bookmark, ResourceVersion: version, InitialEventsEnd: true}); err != nil {
			return err
		}
	}
	for {
		select {
		case e := <-s.events:
			if err := event(e); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *server) in() string { return s.namespace }

// testSource is a server, or a wrapper of one.
type testSource interface {
	source.Source[object.Object]
	in() string
}

// newSourceRig returns a rig whose streams are read by reflectors, from servers.
func newSourceRig(t *testing.T, config Config, servers ...testSource) *rig {
	t.Helper()
	config.Name, config.Handlers = "things", fanout.HandlerConfig{Threshold: 1024}
	for _, s := range servers {
		config.Streams = append(config.Streams, intake.StreamConfig{Namespace: s.in(), Source: s})
	}
	i, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{Informer: i, t: t}
}

// TestPromise10TransformIsCalledOnce counts the calls for the objects of a list, of a watch-list
// and of events.
func TestPromise10TransformIsCalledOnce(t *testing.T) { transformIsCalledOnce(t) }

// TestFaultW10TransformTwice is the same test: client-go transforms the objects of a watch-list
// twice.
func TestFaultW10TransformTwice(t *testing.T) { transformIsCalledOnce(t) }

func transformIsCalledOnce(t *testing.T) {
	for _, how := range []string{"list", "watch-list"} {
		bubble(t, how, func(t *testing.T) {
			calls := map[object.Object]int{} // on one goroutine
			s := newServer("ns")
			s.has("a@1 b@2")
			r := newSourceRig(t, Config{
				Tuning: reflector.Tuning{DisableWatchList: how == "list"},
				Transform: func(obj object.Object) (object.Object, error) {
					if calls[obj]++; calls[obj] > 1 {
						t.Errorf("%s is transformed again", show(obj))
					}
					obj.SetLabels(map[string]string{"transformed": "yes"})
					return obj, nil
				},
			}, s)
			h := newRecorder(t)
			h.before = nil
			seen := &labelChecker{Handler: h, t: t}
			if _, err := r.AddHandler(seen, handlerConfig); err != nil {
				t.Fatal(err)
			}
			stop := r.start()
			s.feed("~a@3 +c@4 |@5 -b@6")
			h.wantEvents("=a@1 =b@2 ~a@3 +c@4 -b@6")
			r.wantStored("a@3 c@4 at 6")
			if len(calls) != 2+3 {
				t.Errorf("%d objects were transformed, want 5", len(calls))
			}
			stop()
			defer r.start()() // reads new copies of a and c
			h.wantEvents("")
			if len(calls) != 2+3+2 || seen.objects != 5 {
				t.Errorf("%d objects were transformed, %d handled; want 7, 5", len(calls), seen.objects)
			}
		})
	}
}

// labelChecker is a handler that fails the test for an object that was not transformed.
type labelChecker struct {
	fanout.Handler
	t       *testing.T
	objects int
}

func (l *labelChecker) check(obj object.Object) {
	l.objects++
	if obj.GetLabels()["transformed"] != "yes" {
		l.t.Errorf("%s was not transformed", show(obj))
	}
}

func (l *labelChecker) OnAdd(obj object.Object, initial bool) {
	l.check(obj)
	l.Handler.OnAdd(obj, initial)
}
func (l *labelChecker) OnUpdate(old, obj object.Object) { l.check(obj); l.Handler.OnUpdate(old, obj) }
func (l *labelChecker) OnDelete(d fanout.Deleted)       { l.check(d.Object); l.Handler.OnDelete(d) }

// TestFailedTransformKeepsTheStore shows that Status has the transform's error, that the store
// keeps its objects meanwhile, and that the informer continues once the transform works again.
func TestFailedTransformKeepsTheStore(t *testing.T) {
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		transform func(object.Object) (object.Object, error)
		want      string
	}{
		"error":   {func(object.Object) (object.Object, error) { return nil, refused }, "transform ns/bad: refused"},
		"panic":   {func(object.Object) (object.Object, error) { panic(refused) }, "transform ns/bad: the function panicked: refused"},
		"nil":     {func(object.Object) (object.Object, error) { return nil, nil }, "transform ns/bad: the function returned nil; to drop objects, restrict the informer by selectors"},
		"nil *T":  {func(object.Object) (object.Object, error) { return (*otherType)(nil), nil }, "transform ns/bad: the function returned nil; to drop objects, restrict the informer by selectors"},
		"name":    {func(obj object.Object) (object.Object, error) { obj.SetName("other"); return obj, nil }, "transform ns/bad: the function changed the object's namespace, name, uid or resourceVersion; it must keep them"},
		"uid":     {func(obj object.Object) (object.Object, error) { obj.SetUID("other"); return obj, nil }, "transform ns/bad: the function changed the object's namespace, name, uid or resourceVersion; it must keep them"},
		"version": {func(obj object.Object) (object.Object, error) { obj.SetResourceVersion("9"); return obj, nil }, "transform ns/bad: the function changed the object's namespace, name, uid or resourceVersion; it must keep them"},
		"type":    {func(obj object.Object) (object.Object, error) { return &otherType{obj}, nil }, "transform ns/bad: the function returned a *engine.otherType; it must return a *v1.PartialObjectMetadata"},
	} {
		bubble(t, name, func(t *testing.T) {
			s := newServer("ns")
			s.has("a@1 bad@2")
			failing := true
			var reported []error
			r := newSourceRig(t, Config{
				Transform: func(obj object.Object) (object.Object, error) {
					if failing && obj.GetName() == "bad" {
						return test.transform(obj)
					}
					return obj, nil
				},
				OnError: func(_ string, err error) { reported = append(reported, err) },
			}, s)
			h := newRecorder(t)
			r.add(h, handlerConfig)
			stop := r.start()
			defer func() { stop() }()
			check := func(reason reason.Reason) {
				t.Helper()
				status := r.Streams()[0].Reflector
				var failure *source.TransformError
				if status.Reason != reason || !errors.As(status.LastError, &failure) || failure.Key != keyOf("ns", "bad") || failure.Error() != test.want {
					t.Errorf("status: %v: %v\nwant %v: %s", status.Reason, status.LastError, reason, test.want)
				}
				if len(reported) == 0 || reported[len(reported)-1] != status.LastError {
					t.Errorf("OnError got %v, want %v last", reported, status.LastError)
				}
			}
			check(reason.Transform)
			r.wantStored(" at ")
			if r.HasSynced() {
				t.Error("HasSynced() = true without the bad object")
			}
			stop()
			s.has("a@1")
			stop = r.start()
			r.wantStored("a@1 at 2")
			s.feed("~a@3 +bad@4")
			check(reason.None) // the watch continues; this server sends no event again
			r.wantStored("a@3 at 3")
			stop()
			failing = false
			stop = r.start()
			h.wantEvents("=a@1 ~a@3 +bad@4")
			r.wantStored("a@3 bad@4 at 4")
		})
	}
}

type otherType struct{ object.Object }

// TestObjectOfAnotherNamespace shows that an object outside of the stream's namespace is bad data:
// another stream may have an object of its key.
func TestObjectOfAnotherNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newServer("one"), newServer("two")
		one.has("a@1")
		two.has("b@1")
		two.objects[keyOf("one", "a")] = newObjectIn("one", "a@2")
		r := newSourceRig(t, Config{}, one, two)
		defer r.start()()
		r.wantStored("a@1 at ")
		status := r.Streams()[1].Reflector
		if status.Reason != reason.BadData || !strings.Contains(status.LastError.Error(), `the source of namespace "two" sent one/a`) {
			t.Errorf("status: %v: %v", status.Reason, status.LastError)
		}
	})
}
