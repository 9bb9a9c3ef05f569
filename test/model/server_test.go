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

// firstVersion is the server's version before its first change.
const firstVersion = 100

// server has one resource with its whole history. Both informers read it, each through a client of
// its own.
type server struct {
	mu      sync.Mutex // mu guards the fields below, and fields of clients as noted there
	changes []change   // the n-th made version firstVersion+1+n
	floor   int        // versions before it are compacted
	live    map[object.Key]*corev1.ConfigMap
	uids    int
	changed chan struct{} // closed at the next change, and at the next order to a stream
}

// change is one write. Its objects are never changed.
type change struct {
	before, after *corev1.ConfigMap // or nil
	gone          *corev1.ConfigMap // for a deletion: the last state, at the deletion's version
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

// wakeLocked wakes all streams.
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

// compact forgets all versions before the present one.
func (s *server) compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.floor = s.versionLocked()
}

// stateLocked returns the objects of a scope at a version, sorted by key.
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

// eventLocked returns the event of the change that made version+1, or nil if the scope has none.
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

// states returns the IDs of all states in a watcher's events, deletions included.
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

// at returns a copy with another version.
func at(obj *corev1.ConfigMap, version int) *corev1.ConfigMap {
	obj = copyObject(obj)
	obj.ResourceVersion = strconv.Itoa(version)
	return obj
}

// copyObject returns a new object, as a decoder would. It shares its maps with obj, because they
// never change.
func copyObject(obj *corev1.ConfigMap) *corev1.ConfigMap {
	clone := *obj
	return &clone
}

// scope selects the objects of a client.
type scope struct {
	namespace string // "" means all
	selector  labels.Selector
}

func (s scope) matches(obj *corev1.ConfigMap) bool {
	return (s.namespace == "" || s.namespace == obj.Namespace) && s.selector.Matches(labels.Set(obj.Labels))
}

// id identifies an object's state.
func id(obj metav1.Object) string {
	return fmt.Sprintf("%s/%s %s@%s", obj.GetNamespace(), obj.GetName(), obj.GetUID(), obj.GetResourceVersion())
}
