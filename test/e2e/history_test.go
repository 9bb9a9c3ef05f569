// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/store"
)

// history is a handler that records and checks its events. The events of a key are add, update…,
// delete, and perhaps add again. The old object of an update is the object of the previous event.
// The UID stays the same from add to delete, versions never go back, and callbacks never overlap.
type history[T object.Object] struct {
	t      *testing.T
	inside atomic.Int32 // running callbacks

	mu      sync.Mutex // mu guards the fields below
	live    map[object.Key]T
	lines   []string
	initial int           // adds of the initial list
	resyncs int           // updates without a change
	changed chan struct{} // closed at the next callback
	ended   bool          // the test is over
}

// newHistory makes a handler of one test.
func newHistory[T object.Object](t *testing.T) *history[T] {
	h := &history[T]{t: t, live: map[object.Key]T{}, changed: make(chan struct{})}
	t.Cleanup(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended = true
	})
	return h
}

var _ informer.Handler[*Crate] = (*history[*Crate])(nil)

// OnAdd implements informer.Handler.
func (h *history[T]) OnAdd(obj T, initial bool) {
	defer h.enter()()
	key := object.KeyOf(obj)
	if last, ok := h.live[key]; ok {
		h.illegal("add of %s, which exists as %s", id(obj), id(last))
	}
	h.live[key] = obj
	if initial {
		h.initial++
	}
	h.lines = append(h.lines, "add "+key.Name)
}

// OnUpdate implements informer.Handler.
func (h *history[T]) OnUpdate(old, obj T) {
	defer h.enter()()
	key := object.KeyOf(obj)
	last, ok := h.live[key]
	switch {
	case !ok:
		h.illegal("update of %s, which doesn't exist", id(obj))
	case any(old) != any(last):
		h.illegal("update from %s, but the last state told is %s", id(old), id(last))
	case old.GetUID() != obj.GetUID():
		h.illegal("update from %s to %s", id(old), id(obj))
	case any(old) == any(obj):
		h.resyncs++
		return
	default:
		h.forward(old, obj)
	}
	h.live[key] = obj
	h.lines = append(h.lines, "update "+key.Name)
}

// OnDelete implements informer.Handler.
func (h *history[T]) OnDelete(d informer.Deleted[T]) {
	defer h.enter()()
	last, ok := h.live[d.Key]
	switch {
	case !ok:
		h.illegal("delete of %s, which doesn't exist", d.Key)
	case any(d.Object) == nil || object.KeyOf(d.Object) != d.Key:
		h.illegal("delete of %s with the object %v", d.Key, d.Object)
	case d.Object.GetUID() != last.GetUID():
		h.illegal("delete of %s, but the last state told is %s", id(d.Object), id(last))
	case !d.FinalStateUnknown:
		h.forward(last, d.Object)
	}
	delete(h.live, d.Key)
	line := "delete " + d.Key.Name
	if d.FinalStateUnknown {
		line += " unseen"
	}
	h.lines = append(h.lines, line)
}

func (h *history[T]) enter() (leave func()) {
	n := h.inside.Add(1)
	h.mu.Lock()
	if n > 1 {
		h.illegal("%d callbacks at a time", n)
	}
	return func() {
		close(h.changed)
		h.changed = make(chan struct{})
		h.mu.Unlock()
		h.inside.Add(-1)
	}
}

func (h *history[T]) forward(old, obj T) {
	order, err := resourceversion.CompareResourceVersion(old.GetResourceVersion(), obj.GetResourceVersion())
	if err != nil || order >= 0 {
		h.illegal("from %s to %s (%v)", id(old), id(obj), err)
	}
}

func (h *history[T]) illegal(format string, args ...any) {
	if !h.ended {
		h.t.Errorf("illegal history: "+format, args...)
	}
}

func id(obj object.Object) string {
	return fmt.Sprintf("%s (%s@%s)", object.KeyOf(obj), obj.GetUID(), obj.GetResourceVersion())
}

// await waits until cond returns true. It calls cond after each callback, before the next one.
func (h *history[T]) await(what string, cond func() bool) {
	h.t.Helper()
	for ctx := deadline(h.t); ; {
		h.mu.Lock()
		ok, changed, lines, live := cond(), h.changed, h.lines, len(h.live)
		h.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			h.t.Fatalf("no %s; %d objects, %d callbacks, the last 20: %q", what, live, len(lines), lines[max(0, len(lines)-20):])
		}
	}
}

// awaitLine waits for a callback, counted from the first one.
func (h *history[T]) awaitLine(line string) {
	h.t.Helper()
	h.await(line, func() bool {
		for _, l := range h.lines {
			if l == line {
				return true
			}
		}
		return false
	})
}

// wantLines waits for the callbacks from the n-th on, and accepts no others.
func (h *history[T]) wantLines(n int, want ...string) {
	h.t.Helper()
	h.await(fmt.Sprintf("%q", want), func() bool { return len(h.lines) >= n+len(want) })
	if diff := cmp.Diff(want, h.callbacks()[n:]); diff != "" {
		h.t.Errorf("callbacks (-want +got):\n%s", diff)
	}
}

// callbacks returns the callbacks so far.
func (h *history[T]) callbacks() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.lines[:len(h.lines):len(h.lines)]
}

func (h *history[T]) stateLocked() state {
	s := state{}
	for _, obj := range h.live {
		s.put(obj)
	}
	return s
}

// agree waits until the handler has the server's objects, and asserts that the stores have them.
// Nothing may change meanwhile.
func agree[T object.Object](t *testing.T, want state, h *history[T], stores ...store.Reader[T]) {
	t.Helper()
	var last state
	defer func() {
		if t.Failed() && last != nil {
			t.Logf("handler (-want +got):\n%s", cmp.Diff(want, last))
		}
	}()
	h.await("agreement with the server", func() bool {
		last = h.stateLocked()
		return maps.Equal(want, last)
	})
	for _, s := range stores {
		got := state{}
		for obj := range s.Snapshot().All() {
			got.put(obj)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("store (-server +store):\n%s", diff)
		}
	}
}
