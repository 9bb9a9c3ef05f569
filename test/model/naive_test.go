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

// naive is the simplest informer: each object or event that a client hands over changes a map at
// once, and each change of the map adds a line to a list.
type naive struct {
	mu      sync.Mutex // mu guards what follows
	objects map[object.Key]*corev1.ConfigMap
	version string // "" before the first full state
	staging map[object.Key]*corev1.ConfigMap
	log     []told
	// folded means that something happened to an object twice during the full state in progress,
	// and folds counts such states that were completed: an informer may tell of both or of the last
	// one only.
	folded bool
	folds  int
	// vague means that the informer was stopped at a moment when it may not have got all that was
	// handed over. The next full state ends that.
	vague bool
}

// told is one call of a handler.
type told struct {
	key  object.Key
	line string
}

func newNaive() *naive { return &naive{objects: map[object.Key]*corev1.ConfigMap{}} }

// begin begins a full state; one that was not completed is forgotten.
func (m *naive) begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.staging, m.folded = map[object.Key]*corev1.ConfigMap{}, false
}

func (m *naive) replace(obj *corev1.ConfigMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folded = m.folded || m.staging[object.KeyOf(obj)] != nil
	m.staging[object.KeyOf(obj)] = obj
}

func (m *naive) unplace(obj *corev1.ConfigMap) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folded = true
	delete(m.staging, object.KeyOf(obj))
}

// complete makes the full state the present one.
func (m *naive) complete(version string) {
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
	m.version, m.vague = version, false
	if m.folded {
		m.folds++
	}
}

// event is one of a watch.
func (m *naive) event(e source.Event[*corev1.ConfigMap]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e.Type == source.Deleted {
		m.removeLocked(object.KeyOf(e.Object), e.Object, false)
	} else if e.Object != nil {
		m.setLocked(object.KeyOf(e.Object), e.Object, false)
	}
	m.version = e.ResourceVersion
}

func (m *naive) setLocked(key object.Key, obj *corev1.ConfigMap, initial bool) {
	old := m.objects[key]
	switch {
	case old == nil:
		m.log = append(m.log, told{key, addLine(obj, initial)})
	case id(old) == id(obj):
		return
	case old.UID != obj.UID:
		m.log = append(m.log, told{key, deleteLine(old, true)}, told{key, addLine(obj, false)})
	default:
		m.log = append(m.log, told{key, updateLine(old, obj)})
	}
	m.objects[key] = obj
}

func (m *naive) removeLocked(key object.Key, last *corev1.ConfigMap, unseen bool) {
	if m.objects[key] == nil {
		return
	}
	m.log = append(m.log, told{key, deleteLine(last, unseen)})
	delete(m.objects, key)
}

// state returns what a store should have, and where it should stand.
func (m *naive) state() (objects string, version string, vague bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return show(maps.Values(m.objects)), m.version, m.vague
}

// blur notes that the informer may not have got everything.
func (m *naive) blur() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.vague = true
}

// mark is a moment in the life of a model: what a handler that begins now has to be told.
type mark struct {
	lines map[object.Key][]string // at first
	next  int                     // in the log
	exact bool
	folds int
}

// models are those of an informer's streams: one, or one for each namespace.
type models []*naive

func (all models) mark() (marks []mark, exact bool) {
	exact = true
	for _, m := range all {
		at := m.mark()
		marks, exact = append(marks, at), exact && at.exact
	}
	return marks, exact
}

// since is naive.since for all streams. No key is in two of them.
func (all models) since(marks []mark) (lines map[object.Key][]string, known bool) {
	lines, known = map[object.Key][]string{}, true
	for n, m := range all {
		of, ok := m.since(marks[n])
		maps.Copy(lines, of)
		known = known && ok
	}
	return lines, known
}

func (m *naive) mark() mark {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := mark{map[object.Key][]string{}, len(m.log), !m.vague, m.folds}
	for key, obj := range m.objects {
		at.lines[key] = []string{addLine(obj, true)}
	}
	return at
}

// since returns, for each key, what a handler that began at the mark has been told by now; known is
// false if there is more than one answer.
func (m *naive) since(at mark) (lines map[object.Key][]string, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := maps.Clone(at.lines)
	for _, t := range m.log[at.next:] {
		all[t.key] = append(slices.Clip(all[t.key]), t.line)
	}
	return all, m.folds == at.folds
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

// reset makes it a new model.
func (m *naive) reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects, m.version, m.staging, m.log, m.vague, m.folds = map[object.Key]*corev1.ConfigMap{}, "", nil, nil, false, 0
}
