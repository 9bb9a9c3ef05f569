// SPDX-License-Identifier: Apache-2.0

package informertest

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Journal is a handler that records its events, and checks that they are a legal history.
type Journal[T object.Object] struct {
	Before func(what string, key object.Key) // called before each event is recorded, if not nil

	mu      sync.Mutex // mu guards the fields below
	lines   []string
	state   map[object.Key]T // result of all events
	illegal []string
}

func (j *Journal[T]) record(sign string, key object.Key, old, obj object.Object, suffix string, isLegal func(known T, ok bool) bool) {
	if j.Before != nil {
		j.Before(sign, key)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	line := sign + key.Name + "@"
	if old != nil {
		line += old.GetResourceVersion() + ">"
	}
	line += obj.GetResourceVersion() + suffix
	j.lines = append(j.lines, line)
	if known, ok := j.state[key]; !isLegal(known, ok) {
		j.illegal = append(j.illegal, line)
	}
}

func (j *Journal[T]) set(key object.Key, obj T) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state == nil {
		j.state = map[object.Key]T{}
	}
	j.state[key] = obj
}

// OnAdd implements informer.Handler.
func (j *Journal[T]) OnAdd(obj T, initial bool) {
	more := ""
	if initial {
		more = " initial"
	}
	j.record("+", object.KeyOf(obj), nil, obj, more, func(_ T, ok bool) bool { return !ok })
	j.set(object.KeyOf(obj), obj)
}

// OnUpdate implements informer.Handler.
func (j *Journal[T]) OnUpdate(old, obj T) {
	j.record("~", object.KeyOf(obj), old, obj, "", func(known T, ok bool) bool {
		return ok && object.Object(known) == object.Object(old) && old.GetUID() == obj.GetUID()
	})
	j.set(object.KeyOf(obj), obj)
}

// OnDelete implements informer.Handler.
func (j *Journal[T]) OnDelete(d informer.Deleted[T]) {
	more := ""
	if d.FinalStateUnknown {
		more = " unknown"
	}
	j.record("-", d.Key, nil, d.Object, more, func(known T, ok bool) bool { return ok && known.GetUID() == d.Object.GetUID() })
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.state, d.Key)
}

// Take waits until no goroutine can run, and returns the lines since the last call.
func (j *Journal[T]) Take() []string {
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	lines := j.lines
	j.lines = nil
	return lines
}

// Saw expects these lines since the last Take, in this order.
func (j *Journal[T]) Saw(t *testing.T, lines ...string) {
	t.Helper()
	if diff := cmp.Diff(lines, j.Take()); diff != "" {
		t.Error(diff)
	}
}

// SawAll expects these lines since the last Take, in any order.
func (j *Journal[T]) SawAll(t *testing.T, lines ...string) {
	t.Helper()
	got := j.Take()
	slices.Sort(got)
	slices.Sort(lines)
	if diff := cmp.Diff(lines, got); diff != "" {
		t.Error(diff)
	}
}

// Check expects a legal history that ends with the objects of the store.
func (j *Journal[T]) Check(t *testing.T, i *informer.SharedIndexInformer[T]) {
	t.Helper()
	synctest.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, line := range j.illegal {
		t.Errorf("illegal event: %s", line)
	}
	snapshot := i.Store().Snapshot()
	if len(j.state) != snapshot.Len() {
		t.Errorf("the events add up to %d objects, the store has %d", len(j.state), snapshot.Len())
	}
	for key, obj := range j.state {
		if stored, _ := snapshot.Get(key); object.Object(stored) != object.Object(obj) {
			t.Errorf("the events add up to version %s of %s, the store has another object", obj.GetResourceVersion(), key)
		}
	}
}
