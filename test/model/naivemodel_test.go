// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// naiveModel is the simplest informer: each delivered object or event changes a map at once, and
// each change of the map adds a line to a list.
type naiveModel struct {
	mu      sync.Mutex // mu guards the fields below
	objects map[object.Key]*corev1.ConfigMap
	version string // "" before the first full state
	staging map[object.Key]*corev1.ConfigMap
	log     []callback
	// repeated is set if an object changed twice during the full state in progress. repeats counts
	// completed states with such objects: an informer may deliver both changes or only the last.
	repeated bool
	repeats  int
	// uncertain is set if the informer was stopped when it may not have got everything delivered.
	// The next full state resets it.
	uncertain bool
}

// callback is one call of a handler.
type callback struct {
	key  object.Key
	line string
}

func newNaiveModel() *naiveModel { return &naiveModel{objects: map[object.Key]*corev1.ConfigMap{}} }

// begin begins a full state, and forgets an incomplete one.
func (m *naiveModel) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.staging, m.repeated = map[object.Key]*corev1.ConfigMap{}, false
}

func (m *naiveModel) replace(obj *corev1.ConfigMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repeated = m.repeated || m.staging[object.KeyOf(obj)] != nil
	m.staging[object.KeyOf(obj)] = obj
}

func (m *naiveModel) unstage(obj *corev1.ConfigMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.repeated = true
	delete(m.staging, object.KeyOf(obj))
}

// complete makes the full state the present state.
func (m *naiveModel) complete(version string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.version == ""
	for _, key := range sortedKeys(m.objects) {
		if m.staging[key] == nil {
			m.removeLocked(key, m.objects[key], true)
		}
	}
	for _, key := range sortedKeys(m.staging) {
		m.setLocked(key, m.staging[key], first)
	}
	m.version, m.uncertain = version, false
	if m.repeated {
		m.repeats++
	}
}

// event applies an event of a watch.
func (m *naiveModel) event(e source.Event[*corev1.ConfigMap]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Type == source.Deleted {
		m.removeLocked(object.KeyOf(e.Object), e.Object, false)
	} else if e.Object != nil {
		m.setLocked(object.KeyOf(e.Object), e.Object, false)
	}
	m.version = e.ResourceVersion
}

func (m *naiveModel) setLocked(key object.Key, obj *corev1.ConfigMap, initial bool) {
	old := m.objects[key]
	switch {
	case old == nil:
		m.log = append(m.log, callback{key, addLine(obj, initial)})
	case id(old) == id(obj):
		return
	case old.UID != obj.UID:
		m.log = append(m.log, callback{key, deleteLine(old, true)}, callback{key, addLine(obj, false)})
	default:
		m.log = append(m.log, callback{key, updateLine(old, obj)})
	}
	m.objects[key] = obj
}

func (m *naiveModel) removeLocked(key object.Key, last *corev1.ConfigMap, unseen bool) {
	if m.objects[key] == nil {
		return
	}
	m.log = append(m.log, callback{key, deleteLine(last, unseen)})
	delete(m.objects, key)
}

// state returns the expected objects of a store and its expected version.
func (m *naiveModel) state() (objects string, version string, uncertain bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return show(maps.Values(m.objects)), m.version, m.uncertain
}

// markUncertain records that the informer may not have got everything.
func (m *naiveModel) markUncertain() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uncertain = true
}

// mark is a moment in the life of a model: the beginning of a handler.
type mark struct {
	lines   map[object.Key][]string // the initial events
	next    int                     // index in the log
	exact   bool
	repeats int
}

// models are the models of an informer's streams: one, or one for each namespace.
type models []*naiveModel

func (all models) mark() (marks []mark, exact bool) {
	exact = true
	for _, m := range all {
		at := m.mark()
		marks, exact = append(marks, at), exact && at.exact
	}
	return marks, exact
}

// since is naiveModel.since for all streams. No key is in two of them.
func (all models) since(marks []mark) (lines map[object.Key][]string, known bool) {
	lines, known = map[object.Key][]string{}, true
	for n, m := range all {
		of, ok := m.since(marks[n])
		maps.Copy(lines, of)
		known = known && ok
	}
	return lines, known
}

func (m *naiveModel) mark() mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := mark{map[object.Key][]string{}, len(m.log), !m.uncertain, m.repeats}
	for key, obj := range m.objects {
		at.lines[key] = []string{addLine(obj, true)}
	}
	return at
}

// since returns, for each key, the events of a handler that began at the mark; known is false if
// there is more than one answer.
func (m *naiveModel) since(at mark) (lines map[object.Key][]string, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(at.lines)
	for _, t := range m.log[at.next:] {
		all[t.key] = append(slices.Clip(all[t.key]), t.line)
	}
	return all, m.repeats == at.repeats
}

func addLine(obj *corev1.ConfigMap, initial bool) string {
	if initial {
		return "initial add " + id(obj)
	}
	return "add " + id(obj)
}

func updateLine(old, obj *corev1.ConfigMap) string {
	return fmt.Sprintf("update %s from %s", id(obj), old.ResourceVersion)
}

func deleteLine(last *corev1.ConfigMap, unseen bool) string {
	if unseen {
		return "unseen delete " + id(last)
	}
	return "delete " + id(last)
}

func sortedKeys[V any](m map[object.Key]V) []object.Key {
	return slices.SortedFunc(maps.Keys(m), func(a, b object.Key) int { return strings.Compare(a.String(), b.String()) })
}

// reset makes m a new model.
func (m *naiveModel) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects, m.version, m.staging, m.log, m.uncertain, m.repeats = map[object.Key]*corev1.ConfigMap{}, "", nil, nil, false, 0
}
