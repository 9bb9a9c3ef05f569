// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source"
)

// firstVersion is where the server stands before its first change.
const firstVersion = 100

// server has one resource, with all of its history. Both informers read it, each through a client
// of its own.
type server struct {
	mu      sync.Mutex // mu guards what follows, and the fields of clients that say so
	changes []change   // the n-th made version firstVersion+1+n
	floor   int        // versions before it have been compacted
	live    map[object.Key]*corev1.ConfigMap
	uids    int
	changed chan struct{} // closed at the next change, and at the next order to a stream
}

// change is one write. Its objects are never changed.
type change struct {
	before, after *corev1.ConfigMap // nil: none
	gone          *corev1.ConfigMap // of a deletion: the last state, at the version of the deletion
}

func newServer() *server {
	return &server{floor: firstVersion, live: map[object.Key]*corev1.ConfigMap{}, changed: make(chan struct{})}
}

func (s *server) versionLocked() int { return firstVersion + len(s.changes) }

func (s *server) version() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.versionLocked()
}

// wakeLocked lets streams look again.
func (s *server) wakeLocked() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// write creates or updates an object.
func (s *server) write(key object.Key, tier, words string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.live[key]
	after := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	if before != nil {
		after.UID = before.UID
	} else {
		s.uids++
		after.UID = types.UID("u" + strconv.Itoa(s.uids))
	}
	after.Labels = map[string]string{"tier": tier}
	after.Data = map[string]string{"words": words}
	after.ResourceVersion = strconv.Itoa(s.versionLocked() + 1)
	s.live[key] = after
	s.changes = append(s.changes, change{before: before, after: after})
	s.wakeLocked()
}

// delete deletes an object, and reports whether there was one.
func (s *server) delete(key object.Key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.live[key]
	if before == nil {
		return false
	}
	delete(s.live, key)
	s.changes = append(s.changes, change{before: before, gone: at(before, s.versionLocked()+1)})
	s.wakeLocked()
	return true
}

// compact forgets what was before the present version.
func (s *server) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = s.versionLocked()
}

// stateLocked returns what was in a scope at a version, in the order of keys.
func (s *server) stateLocked(version int, in scope) []*corev1.ConfigMap {
	state := map[object.Key]*corev1.ConfigMap{}
	for _, c := range s.changes[:version-firstVersion] {
		if c.after != nil {
			state[object.KeyOf(c.after)] = c.after
		} else {
			delete(state, object.KeyOf(c.before))
		}
	}
	maps.DeleteFunc(state, func(_ object.Key, obj *corev1.ConfigMap) bool { return !in.matches(obj) })
	return slices.SortedFunc(maps.Values(state), func(a, b *corev1.ConfigMap) int {
		return strings.Compare(object.KeyOf(a).String(), object.KeyOf(b).String())
	})
}

// eventLocked returns what watchers are told of the change that made version+1; nil if nothing.
func (s *server) eventLocked(version int, in scope) *source.Event[*corev1.ConfigMap] {
	c := s.changes[version-firstVersion]
	was, is := c.before != nil && in.matches(c.before), c.after != nil && in.matches(c.after)
	event := &source.Event[*corev1.ConfigMap]{ResourceVersion: strconv.Itoa(version + 1)}
	switch {
	case was && is:
		event.Type, event.Object = source.Modified, c.after
	case is:
		event.Type, event.Object = source.Added, c.after
	case was && c.gone != nil:
		event.Type, event.Object = source.Deleted, c.gone
	case was:
		event.Type, event.Object = source.Deleted, at(c.before, version+1)
	default:
		return nil
	}
	return event
}

// states returns the ID of every state that a watcher may be told, deletions included.
func (s *server) states(in scope) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := map[string]bool{}
	for n, c := range s.changes {
		if c.after != nil && in.matches(c.after) {
			all[id(c.after)] = true
		}
		if e := s.eventLocked(firstVersion+n, in); e != nil {
			all[id(e.Object)] = true
		}
	}
	return all
}

// at returns a copy at another version.
func at(obj *corev1.ConfigMap, version int) *corev1.ConfigMap {
	obj = fresh(obj)
	obj.ResourceVersion = strconv.Itoa(version)
	return obj
}

// fresh returns a new object, as a decoder would. Its maps are shared with other objects, because
// they are never changed.
func fresh(obj *corev1.ConfigMap) *corev1.ConfigMap {
	clone := *obj
	return &clone
}

// scope is which objects a client lists and watches.
type scope struct {
	namespace string // "" means all
	selector  labels.Selector
}

func (s scope) matches(obj *corev1.ConfigMap) bool {
	return (s.namespace == "" || s.namespace == obj.Namespace) && s.selector.Matches(labels.Set(obj.Labels))
}

// id returns which state of which object it is.
func id(obj metav1.Object) string {
	return fmt.Sprintf("%s/%s %s@%s", obj.GetNamespace(), obj.GetName(), obj.GetUID(), obj.GetResourceVersion())
}
