// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informer-gen/informer-gen/runtime/informer"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// problemList collects the problems of a history. It replaces testing.T, so that a history can be
// played again.
type problemList struct {
	mu   sync.Mutex // mu guards list
	list []string
}

// maxProblems is the number of kept problems; the first ones matter most.
const maxProblems = 10

func (p *problemList) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) < maxProblems {
		p.list = append(p.list, fmt.Sprintf(format, args...))
	}
}

func (p *problemList) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

// recorder is the common part of both sides' handlers. It records the events.
type recorder struct {
	side     string        // set once at construction
	name     string        // set once at construction
	delay    time.Duration // set once at construction: duration of each callback
	problems *problemList  // set once at construction
	stall    atomic.Int64  // extra duration of the next callback
	inner    atomic.Int32  // running callbacks

	mu      sync.Mutex // mu guards the fields below
	live    map[object.Key]*corev1.ConfigMap
	newest  map[object.Key]int // the highest version in an event
	lines   map[object.Key][]string
	ids     map[string]bool // of all states in events
	initial int             // adds of the initial state
	removed bool
}

func newRecorder(side, name string, delay time.Duration, problems *problemList) *recorder {
	return &recorder{
		side: side, name: name, delay: delay, problems: problems,
		live: map[object.Key]*corev1.ConfigMap{}, newest: map[object.Key]int{}, lines: map[object.Key][]string{}, ids: map[string]bool{},
	}
}

// enter begins a callback; leave ends it.
func (r *recorder) enter() (leave func()) {
	if n := r.inner.Add(1); n > 1 {
		r.problems.add("%s: %d callbacks at a time", r.name, n)
	}
	if d := r.delay + time.Duration(r.stall.Swap(0)); d > 0 {
		time.Sleep(d)
	}
	r.mu.Lock()
	return func() {
		r.mu.Unlock()
		r.inner.Add(-1)
	}
}

func (r *recorder) noteLocked(key object.Key, line string, obj, live *corev1.ConfigMap) {
	r.lines[key] = append(r.lines[key], line)
	reach(line[:strings.Index(line, key.String())] + "of " + r.side)
	r.ids[id(obj)] = true
	r.newest[key] = max(r.newest[key], number(obj.ResourceVersion))
	if r.live[key] = live; live == nil {
		delete(r.live, key)
	}
}

func (r *recorder) illegalLocked(line string, key object.Key, why string) {
	before := r.lines[key]
	r.problems.add("%s: illegal event: %s: %s; events before: %s", r.name, line, why, strings.Join(before, ", "))
}

// expectObjects complains unless the handler has exactly these objects.
func (r *recorder) expectObjects(want string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := show(maps.Values(r.live)); got != want {
		r.problems.add("%s has the objects\n\t%s, want\n\t%s", r.name, got, want)
	}
}

// expectStates complains if an event had another state than these.
func (r *recorder) expectStates(states map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for state := range r.ids {
		if !states[state] {
			r.problems.add("%s got an event of %s, which the server never had", r.name, state)
		}
	}
}

// ourHandler checks the events of one of our handlers by the strict rules.
type ourHandler struct {
	*recorder
	resync bool // set once at construction
	// set once at construction: it panics now and then, after recording an event
	panics bool
	// set once at construction: the objects' required value of transformedBy
	transformed string
	exact       bool                                  // the model knows the exact events
	began       []mark                                // set once at construction
	reg         atomic.Pointer[informer.Registration] // nil until AddEventHandler has returned
}

var _ informer.Handler[*corev1.ConfigMap] = (*ourHandler)(nil)

// OnAdd implements informer.Handler.
func (h *ourHandler) OnAdd(obj *corev1.ConfigMap, initial bool) {
	defer h.enter()()
	h.transformedLocked(obj)
	key, line := object.KeyOf(obj), addLine(obj, initial)
	reg := h.reg.Load()
	switch {
	case h.removed:
		h.illegalLocked(line, key, "the handler was removed")
	case h.live[key] != nil:
		h.illegalLocked(line, key, "it exists")
	case number(obj.ResourceVersion) <= h.newest[key]:
		h.illegalLocked(line, key, "it went back")
	case initial && len(h.lines[key]) > 0:
		h.illegalLocked(line, key, "an initial add after another event of the object")
	case initial && reg != nil && reg.HasSynced():
		h.illegalLocked(line, key, "an initial add after the registration synced")
	}
	if initial {
		h.initial++
	}
	h.noteLocked(key, line, obj, obj)
}

// OnUpdate implements informer.Handler.
func (h *ourHandler) OnUpdate(old, obj *corev1.ConfigMap) {
	defer h.enter()()
	h.transformedLocked(obj)
	key, line := object.KeyOf(obj), updateLine(old, obj)
	switch {
	case h.removed:
		h.illegalLocked(line, key, "the handler was removed")
	case h.live[key] == nil:
		h.illegalLocked(line, key, "it doesn't exist")
	case h.live[key] != old:
		h.illegalLocked(line, key, "the old object is not the object of the last event")
	case old == obj:
		if !h.resync {
			h.illegalLocked(line, key, "nothing has changed")
		}
		reach(resynced)
		return
	case old.UID != obj.UID:
		h.illegalLocked(line, key, "another UID")
	case number(obj.ResourceVersion) <= h.newest[key]:
		h.illegalLocked(line, key, "it went back")
	}
	h.noteLocked(key, line, obj, obj)
}

// OnDelete implements informer.Handler.
func (h *ourHandler) OnDelete(d informer.Deleted[*corev1.ConfigMap]) {
	defer h.enter()()
	h.transformedLocked(d.Object)
	line := deleteLine(d.Object, d.FinalStateUnknown)
	last := h.live[d.Key]
	switch {
	case h.removed:
		h.illegalLocked(line, d.Key, "the handler was removed")
	case d.Key != object.KeyOf(d.Object):
		h.illegalLocked(line, d.Key, "key and object differ")
	case last == nil:
		h.illegalLocked(line, d.Key, "it doesn't exist")
	case last.UID != d.Object.UID:
		h.illegalLocked(line, d.Key, "another UID")
	case number(d.Object.ResourceVersion) < h.newest[d.Key]:
		h.illegalLocked(line, d.Key, "it went back")
	case !d.FinalStateUnknown && d.Object.ResourceVersion == last.ResourceVersion:
		h.illegalLocked(line, d.Key, "the deletion has no version of its own")
	}
	h.noteLocked(d.Key, line, d.Object, nil)
}

// enter begins a callback; leave ends it, perhaps by a panic.
func (h *ourHandler) enter() (leave func()) {
	end := h.recorder.enter()
	return func() {
		now := h.panics && len(h.ids)%3 == 1
		end()
		if now {
			reach(panicked)
			panic("a panic of the history")
		}
	}
}

func (h *ourHandler) transformedLocked(obj *corev1.ConfigMap) {
	if got := obj.Annotations[transformedBy]; got != h.transformed {
		h.problems.add("%s got an event of %s with the transforms %q, want %q", h.name, id(obj), got, h.transformed)
	}
}

// remove ends the registration; no callback may start after that.
func (h *ourHandler) remove(m models) {
	h.reg.Load().Remove()
	h.mu.Lock()
	h.removed = true
	h.mu.Unlock()
	if h.exact {
		synctest.Wait() // a client delivers first and feeds the model then
		h.expectEvents(m, true)
	}
}

// expectEvents complains unless the handler got, for each key, exactly the model's events, or the
// first of them.
func (h *ourHandler) expectEvents(m models, beginning bool) {
	want, known := m.since(h.began)
	if !known {
		return
	}
	reach(exactly)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, key := range sortedKeys(want) {
		w, got := want[key], h.lines[key]
		if beginning && len(got) < len(w) {
			w = w[:len(got)]
		}
		if !slices.Equal(w, got) {
			h.problems.add("%s got the events of %s\n\t%s, want\n\t%s", h.name, key, strings.Join(got, ", "), strings.Join(w, ", "))
		}
	}
	for _, key := range sortedKeys(h.lines) {
		if want[key] == nil {
			h.problems.add("%s got the events of %s\n\t%s, want none", h.name, key, strings.Join(h.lines[key], ", "))
		}
	}
}

// gotFewerEvents reports whether the handler got fewer events than the model has.
func (h *ourHandler) gotFewerEvents(m models) bool {
	all, known := m.since(h.began)
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, lines := range all {
		if known && len(h.lines[key]) < len(lines) {
			return true
		}
	}
	return false
}

// expectSync complains if the registration synced before the handler got all initial objects.
func (h *ourHandler) expectSync(m models) {
	if !h.exact || !h.reg.Load().HasSynced() {
		return
	}
	lines, known := m.since(h.began)
	if !known {
		return
	}
	want := 0
	for _, lines := range lines {
		if strings.HasPrefix(lines[0], "initial") {
			want++
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.initial != want {
		h.problems.add("%s has synced with %d initial objects, want %d", h.name, h.initial, want)
	}
}

// theirHandler checks the events of one of client-go's handlers by the rules documented by
// client-go.
type theirHandler struct {
	*recorder
	reg cache.ResourceEventHandlerRegistration
}

var _ cache.ResourceEventHandler = (*theirHandler)(nil)

// OnAdd implements cache.ResourceEventHandler.
func (h *theirHandler) OnAdd(o any, initial bool) {
	defer h.enter()()
	obj := o.(*corev1.ConfigMap)
	key, line := object.KeyOf(obj), addLine(obj, initial)
	switch {
	case h.removed: // client-go allows one callback after the removal
		return
	case h.live[key] != nil:
		h.illegalLocked(line, key, "it exists")
	case number(obj.ResourceVersion) < h.newest[key]:
		h.illegalLocked(line, key, "it went back")
	}
	h.noteLocked(key, line, obj, obj)
}

// OnUpdate implements cache.ResourceEventHandler.
func (h *theirHandler) OnUpdate(o, n any) {
	defer h.enter()()
	old, obj := o.(*corev1.ConfigMap), n.(*corev1.ConfigMap)
	key, line := object.KeyOf(obj), updateLine(old, obj)
	switch {
	case h.removed:
		return
	case h.live[key] == nil:
		h.illegalLocked(line, key, "it doesn't exist")
	case id(h.live[key]) != id(old):
		h.illegalLocked(line, key, "the old object is not the object of the last event")
	case number(obj.ResourceVersion) < h.newest[key]:
		h.illegalLocked(line, key, "it went back")
	}
	h.noteLocked(key, line, obj, obj)
}

// OnDelete implements cache.ResourceEventHandler.
func (h *theirHandler) OnDelete(o any) {
	defer h.enter()()
	obj, seen := o.(*corev1.ConfigMap)
	if !seen {
		obj = o.(cache.DeletedFinalStateUnknown).Obj.(*corev1.ConfigMap)
	}
	key, line := object.KeyOf(obj), deleteLine(obj, !seen)
	switch {
	case h.removed:
		return
	case !seen && h.live[key] == nil:
		h.illegalLocked(line, key, "it doesn't exist")
	case number(obj.ResourceVersion) < h.newest[key]:
		h.illegalLocked(line, key, "it went back")
	}
	h.noteLocked(key, line, obj, nil)
}

// show returns the IDs of objects, sorted.
func show(objects iter.Seq[*corev1.ConfigMap]) string {
	var ids []string
	for obj := range objects {
		ids = append(ids, id(obj))
	}
	slices.Sort(ids)
	return "[" + strings.Join(ids, ", ") + "]"
}
