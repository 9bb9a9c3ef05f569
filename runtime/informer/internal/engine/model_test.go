// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/informer/internal/fanout"
	"github.com/informer-gen/informer-gen/runtime/informer/internal/intake"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// TestPromise01RandomHistories drives an informer with one to three random streams, which are added
// and removed, as are handlers of all kinds. It adds indexes, has a transform, and begins and ends
// leases. It compares the store with a naive model again and again, and each handler's objects with
// the store at the end. The recorder checks each event. A handler with EveryDeletion must get the
// same deletions as one whose events are never merged.
func TestPromise01RandomHistories(t *testing.T) {
	seed := rand.Uint64()
	for round := range 50 {
		synctest.Test(t, func(t *testing.T) { newHistory(t, rand.New(rand.NewPCG(seed, uint64(round)))).play() })
		if t.Failed() {
			t.Fatalf("seed %d, round %d", seed, round)
		}
	}
}

// model is the state of a stream's server.
type model struct {
	namespace string

	objects     map[string]string // name to "name/uid@rv"
	version     int
	want        string // the objects expected in the store
	wantVersion string
}

func (m *model) show() string { return strings.Join(slices.Sorted(maps.Values(m.objects)), " ") }

// settle expects the server's current objects in the store.
func (m *model) settle() { m.want, m.wantVersion = m.show(), fmt.Sprint(m.version) }

// change changes the server at random and returns the event.
func (m *model) change(rng *rand.Rand) string {
	m.version++
	name := string(rune('a' + rng.IntN(6)))
	old, exists := m.objects[name]
	uid, _, _ := strings.Cut(strings.TrimPrefix(old, name+"/"), "@")
	switch {
	case exists && rng.IntN(3) == 0:
		delete(m.objects, name)
		return fmt.Sprintf("-%s/%s@%d", name, uid, m.version)
	case exists:
		m.objects[name] = fmt.Sprintf("%s/%s@%d", name, uid, m.version)
		return "~" + m.objects[name]
	default:
		m.objects[name] = fmt.Sprintf("%s/%d@%d", name, m.version, m.version)
		return "+" + m.objects[name]
	}
}

// list returns the beginning of a full state. Within it, changes may come as they do in a
// watch-list.
func (m *model) list(rng *rand.Rand) string {
	words := []string{"["}
	for _, obj := range slices.Sorted(maps.Values(m.objects)) {
		words = append(words, "="+obj)
	}
	for range rng.IntN(3) {
		words = append(words, m.change(rng))
	}
	return strings.Join(words, " ")
}

// history is one random history.
type history struct {
	*rig
	t               *testing.T
	rng             *rand.Rand
	models          []*model // of the streams, in their order
	removed         []*model // of removed namespaces
	handlers        []*recorder
	subs            []*fanout.Subscription
	witness         *recorder // gets every event at once
	deletionsBefore []int     // number of witness's deletions when the handler was added
	indexes         []*store.Index[object.Object, string]
	waiters         []*pendingAwait
	prepared        atomic.Int64 // number of transformed objects
}

func newHistory(t *testing.T, rng *rand.Rand) *history {
	h := &history{t: t, rng: rng}
	namespaces := [][]string{{""}, {""}, {"ns"}, {"one", "two"}, {"one", "two", "three"}}[rng.IntN(5)]
	h.rig = newRigOf(t, Config{Transform: func(obj object.Object) (object.Object, error) {
		obj.SetLabels(map[string]string{"n": fmt.Sprint(h.prepared.Add(1) % 3)})
		return obj, nil
	}}, namespaces...)
	for _, namespace := range namespaces {
		h.models = append(h.models, &model{namespace: namespace, objects: map[string]string{}, version: 10 + rng.IntN(5)})
	}
	return h
}

func (h *history) play() {
	h.witness = newRecorder(h.t)
	h.rig.add(h.witness, fanout.HandlerConfig{Threshold: fanout.Never})
	h.add()
	for range h.rng.IntN(4) {
		h.moveNamespaces()
		stop := h.begin()
		for range h.rng.IntN(5) {
			h.moveNamespaces()
			if len(h.models) > 0 {
				h.episode(h.rng.IntN(len(h.models)))
			}
		}
		if h.rng.IntN(2) == 0 {
			time.Sleep(50 * time.Millisecond) // slow handlers may catch up, or not
		}
		synctest.Wait()
		h.compare()
		stop()
		h.compare()
	}
	// At the end, all handlers get the time to catch up.
	defer h.begin()()
	for n, m := range h.models {
		h.send(n, fmt.Sprintf("%s ]@%d", m.list(h.rng), m.version))
		m.settle()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	h.compare()
	for n := range h.handlers {
		if got := h.subs[n].Status(); got.Backlog != 0 || !got.Synced {
			h.t.Errorf("Status() = %+v, want synced without a backlog", got)
		}
		if want := h.witness.deletions()[h.deletionsBefore[n]:]; h.handlers[n].everyDeletion && !sameSet(h.handlers[n].deletions(), want) {
			h.t.Errorf("deletions %v, want %v", h.handlers[n].deletions(), want)
		}
	}
	for _, w := range h.waiters {
		w.check(h)
	}
}

// moveNamespaces removes namespaces, and adds removed ones again, at random. The server keeps their
// objects meanwhile.
func (h *history) moveNamespaces() {
	if h.config.Streams[0].Namespace == "" {
		return
	}
	for h.rng.IntN(3) == 0 && len(h.models) > 0 {
		at := h.rng.IntN(len(h.models))
		m := h.models[at]
		h.removeNamespace(m.namespace)
		m.want, m.wantVersion = "", ""
		h.models, h.removed = slices.Delete(h.models, at, at+1), append(h.removed, m)
	}
	for h.rng.IntN(2) == 0 && len(h.removed) > 0 {
		h.addNamespace(h.removed[0].namespace)
		h.models, h.removed = append(h.models, h.removed[0]), h.removed[1:]
	}
}

// pendingAwait is a call that waits for a version of a stream, and then, if uid is not "", for the
// deletion of an object.
type pendingAwait struct {
	stream  *intake.Stream
	key     object.Key
	uid     types.UID
	version string
	stop    context.CancelFunc
	done    chan error
}

// await begins to wait for the server's current version, or for one that it reaches soon.
func (h *history) await(n int) {
	m := h.models[n]
	w := &pendingAwait{stream: h.streams()[n], version: fmt.Sprint(m.version + h.rng.IntN(3)), done: make(chan error, 1)}
	w.key = keyOf(cmp.Or(h.streams()[n].Namespace(), "ns"), string(rune('a'+h.rng.IntN(6))))
	if obj, ok := m.objects[w.key.Name]; ok && h.rng.IntN(2) == 0 {
		w.uid = newObject(obj).UID
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	w.stop = cancel
	h.waiters = append(h.waiters, w)
	go func() {
		if w.uid == "" {
			w.done <- h.AwaitObject(ctx, w.key, w.version)
		} else {
			w.done <- h.AwaitDeleted(ctx, w.key, w.uid, w.version)
		}
	}()
	synctest.Wait() // it waits for this stream, not for a later one of the namespace
}

// check fails the test if the call still waits although its event has happened, or has returned too
// early.
func (w *pendingAwait) check(h *history) {
	h.t.Helper()
	obj, ok := h.Table().Version().Get(w.key)
	happened := reached(w.stream.ResourceVersion(h.Table().Version()), w.version) && (w.uid == "" || !ok || obj.GetUID() != w.uid)
	removed := w.stream.Removed()
	select {
	case err := <-w.done:
		if !removed && (!happened || err != nil) || err != nil && !errors.Is(err, errRemoved) {
			h.t.Errorf("%+v has returned: %v", w, err)
		}
	default:
		if happened || removed {
			h.t.Errorf("%+v still waits", w)
		}
		w.stop()
		if err := <-w.done; !errors.Is(err, context.Canceled) && !happened {
			h.t.Errorf("%+v: %v", w, err)
		}
	}
	w.stop()
}

// begin runs the informer in one of several ways.
func (h *history) begin() (stop func()) {
	switch h.rng.IntN(3) {
	case 0:
		return h.start()
	case 1:
		ctx, cancel := context.WithCancelCause(h.t.Context())
		l := h.acquire(ctx)
		return func() { cancel(errStop); <-l.Done() }
	default:
		first := h.acquire(h.t.Context())
		l := h.acquire(h.t.Context())
		h.release(first)
		return func() { h.release(l) }
	}
}

// episode is a full state of a stream, after missed changes, and followed by changes.
func (h *history) episode(n int) {
	m := h.models[n]
	for range h.rng.IntN(4) {
		m.change(h.rng)
	}
	if h.rng.IntN(4) == 0 {
		h.send(n, m.list(h.rng)+" !")
		return
	}
	h.send(n, fmt.Sprintf("%s ]@%d", m.list(h.rng), m.version))
	m.settle()
	for range h.rng.IntN(60) {
		switch h.rng.IntN(15) {
		case 0:
			h.add()
		case 1:
			at := h.rng.IntN(len(h.subs))
			h.subs[at].Remove()
			h.subs, h.handlers, h.deletionsBefore = slices.Delete(h.subs, at, at+1), slices.Delete(h.handlers, at, at+1), slices.Delete(h.deletionsBefore, at, at+1)
			if len(h.subs) == 0 {
				h.add()
			}
		case 2:
			h.send(n, fmt.Sprintf("|@%d", m.version))
		case 3:
			h.addIndex()
		case 4:
			h.await(n)
		default:
			h.send(n, m.change(h.rng))
		}
		m.settle()
	}
}

// send feeds words to a stream, through its transform, at a random pace.
func (h *history) send(n int, words string) {
	s := h.streams()[n]
	for word := range strings.FieldsSeq(words) {
		h.readers[n].steps <- func(sink *intake.Sink) error { return sendPrepared(h.t, s, sink, word) }
		if h.rng.IntN(4) == 0 {
			time.Sleep(time.Duration(h.rng.IntN(4)) * time.Millisecond)
		}
	}
}

// sendPrepared prepares an object as the reflector does, and sends it.
func sendPrepared(t *testing.T, s *intake.Stream, sink *intake.Sink, word string) error {
	if strings.ContainsRune("[]!|", rune(word[0])) {
		return send(sink, word)
	}
	obj, err := s.Prepare(t.Context(), newObjectIn(cmp.Or(s.Namespace(), "ns"), word[1:]))
	if err != nil {
		return err
	}
	return sendObject(sink, word[0], obj)
}

func (h *history) add() {
	handler := newRecorder(h.t)
	delay := time.Duration(h.rng.IntN(3)) * time.Millisecond
	if delay > 0 {
		handler.before = func(string) { time.Sleep(delay) }
	}
	handler.everyDeletion = h.rng.IntN(2) == 0
	h.handlers = append(h.handlers, handler)
	synctest.Wait() // witness has got every published event
	h.deletionsBefore = append(h.deletionsBefore, len(h.witness.deletions()))
	handler.mu.Lock() // it may be called at once
	defer handler.mu.Unlock()
	handler.sub = h.rig.add(handler, fanout.HandlerConfig{
		Threshold: []int{fanout.Never, 0, 1, 5}[h.rng.IntN(4)],
		Resync:    time.Duration(h.rng.IntN(2)) * 20 * time.Millisecond,

		EveryDeletion: handler.everyDeletion,
	})
	h.subs = append(h.subs, handler.sub)
}

func (h *history) addIndex() {
	index := store.NewIndex(fmt.Sprint("By", len(h.indexes)), func(obj object.Object, keys []string) []string {
		return append(keys, obj.GetLabels()["n"], obj.GetName())
	})
	if err := h.AddIndexes(index); err != nil {
		h.t.Error(err)
	}
	h.indexes = append(h.indexes, index)
}

// compare compares the store with the models, the indexes with the store, and the objects of
// handlers without a backlog with the store.
func (h *history) compare() {
	h.t.Helper()
	snapshot := h.snapshot()
	total := 0
	for _, m := range h.models {
		namespace := m.namespace
		var names []string
		for obj := range snapshot.Namespace(namespace) {
			names = append(names, show(obj))
			total++
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != m.want || snapshot.NamespaceResourceVersion(namespace) != m.wantVersion {
			h.t.Errorf("namespace %q has %q at %q, want %q at %q", namespace, got, snapshot.NamespaceResourceVersion(namespace), m.want, m.wantVersion)
		}
	}
	if n := snapshot.Len(); n != total {
		h.t.Errorf("the store has %d objects, the namespaces %d", n, total)
	}
	for n, handler := range h.handlers {
		if got := h.subs[n].Status(); got.Backlog == 0 && got.Callback == "" {
			handler.wantTable(h.rig)
			if got.Synced != h.HasSynced() && (got.Synced || h.Running()) {
				h.t.Errorf("Status() = %+v, the informer has synced: %v", got, h.HasSynced())
			}
		}
	}
	for _, index := range h.indexes {
		n := 0
		for _, key := range []string{"0", "1", "2"} {
			for obj := range index.Lookup(snapshot, key) {
				n++
				if obj.GetLabels()["n"] != key {
					h.t.Errorf("index %s has %s under %s", index.Name(), show(obj), key)
				}
			}
		}
		if n != total {
			h.t.Errorf("index %s has %d of %d objects", index.Name(), n, total)
		}
	}
}
