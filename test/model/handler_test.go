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

// problems is what is wrong with a history. It takes the place of testing.T, so that a history can
// be played again.
type problems struct {
	mu   sync.Mutex // mu guards what follows
	list []string
}

// enough is how many problems are kept; the first ones matter most.
const enough = 10

func (p *problems) add(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.list) < enough {
		p.list = append(p.list, fmt.Sprintf(format, args...))
	}
}

func (p *problems) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.list)
}

// recorder is the common part of both sides' handlers: it records the events.
type recorder struct {
	side  string        // set once at construction
	name  string        // set once at construction
	pace  time.Duration // set once at construction: how long each callback takes
	wrong *problems     // set once at construction
	stall atomic.Int64  // how long the next callback takes, once
	inner atomic.Int32  // callbacks that are running

	mu      sync.Mutex // mu guards what follows
	live    map[object.Key]*corev1.ConfigMap
	newest  map[object.Key]int // the highest version told
	lines   map[object.Key][]string
	ids     map[string]bool // of all states told
	initial int             // adds of the initial state
	removed bool
}

func newRecorder(side, name string, pace time.Duration, wrong *problems) *recorder {
	return &recorder{
		side: side, name: name, pace: pace, wrong: wrong,
		live: map[object.Key]*corev1.ConfigMap{}, newest: map[object.Key]int{}, lines: map[object.Key][]string{}, ids: map[string]bool{},
	}
}

// enter begins a callback; what it returns ends it.
func (r *recorder) enter() (leave func()) {
	if n := r.inner.Add(1); n > 1 {
		r.wrong.add("%s: %d callbacks at a time", r.name, n)
	}
	if d := r.pace + time.Duration(r.stall.Swap(0)); d > 0 {
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
	r.wrong.add("%s: illegal: %s: %s; told before: %s", r.name, line, why, strings.Join(before, ", "))
}

// knows complains unless the handler knows exactly these objects.
func (r *recorder) knows(want string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if got := show(maps.Values(r.live)); got != want {
		r.wrong.add("%s knows\n\t%s, want\n\t%s", r.name, got, want)
	}
}

// toldOf complains if the handler was told a state that isn't one of these.
func (r *recorder) toldOf(states map[string]bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for told := range r.ids {
		if !states[told] {
			r.wrong.add("%s was told of %s, which the server never had", r.name, told)
		}
	}
}

// ourHandler checks the events of one of our handlers, by the strict rules.
type ourHandler struct {
	*recorder
	resync bool // set once at construction
	// set once at construction: after it has noted an event, now and then
	panics bool
	// set once at construction: the value of transformedBy that objects must have
	transformed string
	exact       bool                                  // the model knows what it has to be told
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
		h.illegalLocked(line, key, "not the first that was told of it")
	case initial && reg != nil && reg.HasSynced():
		h.illegalLocked(line, key, "the registration had synced")
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
		h.illegalLocked(line, key, "the old object is not the one that was told last")
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

// enter begins a callback; what it returns ends it, by a panic if the handler does that.
func (h *ourHandler) enter() (leave func()) {
	end := h.recorder.enter()
	return func() {
		now := h.panics && len(h.ids)%3 == 1
		end()
		if now {
			reach(panicked)
			panic("as the history wants it")
		}
	}
}

func (h *ourHandler) transformedLocked(obj *corev1.ConfigMap) {
	if got := obj.Annotations[transformedBy]; got != h.transformed {
		h.wrong.add("%s was told of %s with the transforms %q, want %q", h.name, id(obj), got, h.transformed)
	}
}

// remove ends the registration; no callback may start from then on.
func (h *ourHandler) remove(m models) {
	h.reg.Load().Remove()
	h.mu.Lock()
	h.removed = true
	h.mu.Unlock()
	if h.exact {
		synctest.Wait() // a client hands over first and feeds the model then
		h.isTold(m, true)
	}
}

// isTold complains unless the handler got, for each key, exactly the model's events, or the first
// of them.
func (h *ourHandler) isTold(m models, beginning bool) {
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
			h.wrong.add("%s was told of %s\n\t%s, want\n\t%s", h.name, key, strings.Join(got, ", "), strings.Join(w, ", "))
		}
	}
	for _, key := range sortedKeys(h.lines) {
		if want[key] == nil {
			h.wrong.add("%s was told of %s\n\t%s, want nothing", h.name, key, strings.Join(h.lines[key], ", "))
		}
	}
}

// toldLess reports whether the handler got fewer events than the model has.
func (h *ourHandler) toldLess(m models) bool {
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

// syncs complains if the registration has synced before the initial objects were told.
func (h *ourHandler) syncs(m models) {
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
		h.wrong.add("%s has synced with %d initial objects, want %d", h.name, h.initial, want)
	}
}

// theirHandler checks the events of one of client-go's handlers, by the rules that client-go
// documents.
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
	case h.removed: // one callback may come after the removal
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
		h.illegalLocked(line, key, "the old object is not the one that was told last")
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
