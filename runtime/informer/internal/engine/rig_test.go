// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	cmpdiff "github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/reflector"
	"github.com/informer-gen/informer-gen/runtime/source"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newObject parses an object of namespace ns from "name/uid@resourceVersion". The uid is optional.
func newObject(text string) *metav1.PartialObjectMetadata { return newObjectIn("ns", text) }

func newObjectIn(namespace, text string) *metav1.PartialObjectMetadata {
	text, rv, _ := strings.Cut(text, "@")
	name, uid, _ := strings.Cut(text, "/")
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(uid), ResourceVersion: rv}}
}

func show(obj object.Object) string {
	if uid := obj.GetUID(); uid != "" {
		return fmt.Sprintf("%s/%s@%s", obj.GetName(), uid, obj.GetResourceVersion())
	}
	return fmt.Sprintf("%s@%s", obj.GetName(), obj.GetResourceVersion())
}

// script is a reader whose steps come from the test.
type script struct {
	sink      *intake.Sink
	namespace string
	steps     chan func(*intake.Sink) error

	mu     sync.Mutex // guards the rest
	status reflector.Status
}

func (r *script) Run(ctx context.Context) error {
	for {
		select {
		case step := <-r.steps:
			if err := step(r.sink); err != nil {
				return err
			}
			if err := r.sink.Flush(); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (r *script) Status() reflector.Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// rig is an informer whose streams are read by scripts.
type rig struct {
	*Informer
	t       *testing.T
	reader  *script // of the first stream
	readers []*script
}

func newRig(t *testing.T, indexes ...intake.Indexer) *rig {
	t.Helper()
	return newRigOf(t, Config{Indexes: indexes}, "")
}

// newRigOf makes an informer with a stream for each namespace.
func newRigOf(t *testing.T, config Config, namespaces ...string) *rig {
	t.Helper()
	config.Name, config.Handlers = "things", fanout.HandlerConfig{Threshold: 1024}
	for _, namespace := range namespaces {
		config.Streams = append(config.Streams, intake.StreamConfig{Namespace: namespace})
	}
	r := &rig{t: t}
	config.SourceIn = func(string) (source.Source[object.Object], error) { return nil, nil }
	config.connect = func(s *intake.Stream) (intake.Reader, error) {
		reader := newScript(s)
		r.readers = append(r.readers, reader)
		return reader, nil
	}
	var err error
	if r.Informer, err = New(config); err != nil {
		t.Fatal(err)
	}
	r.reader = r.readers[0]
	return r
}

// newScript returns the reader of a stream.
func newScript(s *intake.Stream) *script {
	return &script{sink: s.Sink(), namespace: s.Namespace(), steps: make(chan func(*intake.Sink) error)}
}

// Documented limits of slow handlers, stuck handlers, checkpoints and starts.
const (
	patience       = 250 * time.Millisecond
	quickEvent     = 50 * time.Microsecond
	maxBatch       = 128
	stuckAfter     = 30 * time.Second
	stuckInterval  = 5 * time.Minute
	firstSaveDelay = time.Second
	saveInterval   = 10 * time.Second
	saveShare      = 50
	hangTimeout    = 30 * time.Second
	maxStarting    = 16
	maxStart       = 2 * time.Second
)

var errStop = errors.New("the test stops the informer")

// start runs the informer; stop ends it and waits.
func (r *rig) start() (stop func()) {
	r.t.Helper()
	ctx, cancel := context.WithCancelCause(r.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	synctest.Wait()
	return func() {
		r.t.Helper()
		cancel(errStop)
		if err := <-done; err != errStop {
			r.t.Errorf("Run returned %v", err)
		}
	}
}

// feed sends words to the first stream, and waits until they are delivered.
func (r *rig) feed(text string) {
	r.t.Helper()
	r.feedTo(0, text)
}

// feedTo is feed for one of several streams.
func (r *rig) feedTo(n int, text string) {
	r.t.Helper()
	r.sendTo(n, text)
	synctest.Wait()
}

func (r *rig) sendTo(n int, text string) {
	for word := range strings.FieldsSeq(text) {
		r.readers[n].steps <- func(s *intake.Sink) error { return sendIn(s, cmp.Or(r.readers[n].namespace, "ns"), word) }
	}
}

// send calls the sink's method for a word: "+a/uid@1" add, "~a@2" update, "-a@3" delete, "=a@1"
// replace, "[" begin, "]@9" end and "!" abort of a full state, "|@8" bookmark.
func send(s *intake.Sink, word string) error { return sendIn(s, "ns", word) }

func sendIn(s *intake.Sink, namespace, word string) error {
	obj := newObjectIn(namespace, word[1:])
	switch word[0] {
	case '[':
		return s.BeginReplace()
	case ']':
		return s.EndReplace(obj.ResourceVersion)
	case '!':
		return s.AbortReplace()
	case '|':
		return s.Bookmark(obj.ResourceVersion)
	}
	return sendObject(s, word[0], obj)
}

func sendObject(s *intake.Sink, verb byte, obj object.Object) error {
	switch verb {
	case '+':
		return s.Add(obj)
	case '~':
		return s.Update(obj)
	case '-':
		return s.Delete(obj)
	case '=':
		return s.Replace(obj)
	}
	return fmt.Errorf("unknown verb %q", verb)
}

// addNamespace adds a namespace; readers has the script of its stream.
func (r *rig) addNamespace(namespace string) {
	r.t.Helper()
	if err := r.AddNamespace(namespace); err != nil {
		r.t.Error(err)
	}
}

// removeNamespace removes a namespace and its script.
func (r *rig) removeNamespace(namespace string) {
	r.t.Helper()
	at := slices.IndexFunc(r.streams(), func(s *intake.Stream) bool { return s.Namespace() == namespace })
	if err := r.RemoveNamespace(r.t.Context(), namespace); err != nil {
		r.t.Error(err)
	}
	if at >= 0 {
		r.readers = slices.Delete(r.readers, at, at+1)
	}
}

func (r *rig) add(h fanout.Handler, config fanout.HandlerConfig) *fanout.Subscription {
	r.t.Helper()
	s, err := r.AddHandler(h, config)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// stored returns the table's objects, sorted, and its resourceVersion.
func (r *rig) stored() string {
	v := r.Table().Version()
	var names []string
	for obj := range v.All {
		names = append(names, show(obj))
	}
	slices.Sort(names)
	return strings.Join(names, " ") + " at " + v.ResourceVersion()
}

func (r *rig) wantStored(stored string) {
	r.t.Helper()
	if got := r.stored(); got != stored {
		r.t.Errorf("the table has %q, want %q", got, stored)
	}
}

// recorder is a handler that records its events. It fails the test for an event that no handler may
// get.
type recorder struct {
	t *testing.T
	// before, if not nil, is called at the start of each callback.
	before        func(event string)
	sub           *fanout.Subscription // nil: not checked
	everyDeletion bool                 // it may get deletions of unknown objects

	mu     sync.Mutex
	events []string
	known  map[object.Key]object.Object
}

var handlerConfig = fanout.HandlerConfig{Name: "recorder", Threshold: 1024}

func newRecorder(t *testing.T) *recorder {
	return &recorder{t: t, known: map[object.Key]object.Object{}}
}

func (h *recorder) note(event string, key object.Key, old, obj object.Object) {
	if h.before != nil {
		h.before(event)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events = append(h.events, event)
	if old != h.known[key] {
		h.t.Errorf("%s: the old object is %v, want %v; all events: %v", event, showOrNil(old), showOrNil(h.known[key]), h.events)
	}
	if h.known[key] = obj; obj == nil {
		delete(h.known, key)
	}
}

func showOrNil(obj object.Object) string {
	if obj == nil {
		return "nothing"
	}
	return show(obj)
}

func (h *recorder) OnAdd(obj object.Object, initial bool) {
	event := "+" + show(obj)
	if initial {
		event = "=" + show(obj)
		h.mu.Lock()
		sub := h.sub
		h.mu.Unlock()
		if sub != nil && sub.HasSynced() {
			h.t.Errorf("%s: an initial object after the handler has synced", event)
		}
	}
	h.note(event, object.KeyOf(obj), nil, obj)
}

func (h *recorder) OnUpdate(old, obj object.Object) {
	if old.GetUID() != obj.GetUID() {
		h.t.Errorf("OnUpdate(%s, %s): different UIDs", show(old), show(obj))
	}
	h.note("~"+show(obj), object.KeyOf(obj), old, obj)
}

func (h *recorder) OnDelete(d fanout.Deleted) {
	event := "-" + show(d.Object)
	if d.FinalStateUnknown {
		event += "?"
	}
	h.mu.Lock()
	old := h.known[d.Key]
	h.mu.Unlock()
	if old == nil && !h.everyDeletion {
		h.t.Errorf("%s: the deletion of an unknown object", event)
	} else if old != nil && old.GetUID() != d.Object.GetUID() {
		h.t.Errorf("%s: the known object is %s", event, show(old))
	}
	h.note(event, d.Key, old, nil)
}

// take returns the events since the last take.
func (h *recorder) take() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	events := strings.Join(h.events, " ")
	h.events = nil
	return events
}

// wantEvents fails the test unless these are the events since the last take.
func (h *recorder) wantEvents(events string) {
	h.t.Helper()
	if diff := cmpdiff.Diff(events, h.take()); diff != "" {
		h.t.Errorf("events (-want +got):\n%s", diff)
	}
}

// wantTable fails the test unless the events have led to the table's objects.
func (h *recorder) wantTable(r *rig) {
	h.t.Helper()
	stored := map[object.Key]object.Object{}
	for obj := range r.Table().Version().All {
		stored[object.KeyOf(obj)] = obj
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !maps.Equal(stored, h.known) {
		h.t.Errorf("the handler has %v, the table %v", slices.Collect(maps.Keys(h.known)), slices.Collect(maps.Keys(stored)))
	}
}
