// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// collection is a Collection without its type. What it stores is never changed, only replaced.
type collection struct {
	// set once at construction
	server   *Server
	resource schema.GroupVersionResource
	kind     schema.GroupVersionKind
	elem     reflect.Type // the struct of an object
	proto    bool         // objects have protobuf, as built-in kinds do
	status   int          // the index of the struct's field; -1 if it has none
	counted  bool         // objects have a generation
	scheme   *runtime.Scheme
	plain    bool     // there is no status subresource; set before the first request
	fields   []string // of field selectors

	// the server's mu guards what follows
	objects   map[object.Key]object.Object
	oldest    *change // stands before the history: its next is the first change that is remembered
	newest    *change
	compacted int64 // versions before it are forgotten
}

// change is one write. prev is nil if the write created the object, and obj is nil if it deleted
// the object.
type change struct {
	version   int64
	prev, obj object.Object
	next      *change // nil if it is the newest; guarded by the server's mu
}

func (s *Server) serve(resource schema.GroupVersionResource, kind schema.GroupVersionKind, elem reflect.Type, fields []string) *collection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collections[resource] != nil {
		panic(fmt.Sprintf("sourcetest: Serve %v: it is served already", resource))
	}
	c := &collection{
		server: s, resource: resource, kind: kind, elem: elem, fields: fields,
		objects: map[object.Key]object.Object{},
		newest:  &change{},
	}
	_, c.proto = c.newObject().(marshaler)
	c.scheme = scheme(kind, c.newObject())
	c.status, c.counted = fieldOf(elem, "status"), !c.proto || fieldOf(elem, "spec") >= 0
	c.oldest = c.newest
	s.collections[resource] = c
	return c
}

func (c *collection) newObject() object.Object {
	obj := reflect.New(c.elem).Interface().(object.Object)
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj
}

// own returns a copy of an object with its kind set.
func (c *collection) own(obj object.Object) object.Object {
	obj = obj.DeepCopyObject().(object.Object)
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj
}

// writeLocked stores obj, which the caller must not use any more, and returns a copy.
func (c *collection) writeLocked(key object.Key, obj object.Object) object.Object {
	prev := c.objects[key]
	c.server.version++
	obj.SetResourceVersion(format(c.server.version))
	c.objects[key] = obj
	c.changedLocked(&change{version: c.server.version, prev: prev, obj: obj})
	return obj.DeepCopyObject().(object.Object)
}

// deleteLocked removes the object. obj is its last state, which it returns.
func (c *collection) deleteLocked(key object.Key, obj object.Object) object.Object {
	c.server.version++
	obj.SetResourceVersion(format(c.server.version))
	c.changedLocked(&change{version: c.server.version, prev: c.objects[key]})
	delete(c.objects, key)
	return obj
}

func (c *collection) changedLocked(ch *change) {
	c.newest.next = ch
	c.newest = ch
	c.server.wakeLocked()
}

// find returns the last change at or before version, which must be in the history.
func (c *collection) find(version int64) *change {
	at := c.oldest
	for at.next != nil && at.next.version <= version {
		at = at.next
	}
	return at
}

// at returns the objects as they were at version, which must be in the history.
func (c *collection) at(version int64) map[object.Key]object.Object {
	if version >= c.newest.version {
		return c.objects
	}
	var undo []*change
	for ch := c.find(version).next; ch != nil; ch = ch.next {
		undo = append(undo, ch)
	}
	objects := maps.Clone(c.objects)
	for _, ch := range slices.Backward(undo) {
		if ch.prev == nil {
			delete(objects, object.KeyOf(ch.obj))
		} else {
			objects[object.KeyOf(ch.prev)] = ch.prev
		}
	}
	return objects
}

// sorted returns objects in the order of lists.
func sorted(objects map[object.Key]object.Object) []object.Object {
	return slices.SortedFunc(maps.Values(objects), func(a, b object.Object) int {
		return compareKeys(object.KeyOf(a), object.KeyOf(b))
	})
}

// compareKeys has the order of an API server's storage, where namespace and name are one key,
// joined by a slash: a-b/x comes before a/b.
func compareKeys(a, b object.Key) int {
	if a.Namespace == b.Namespace {
		return strings.Compare(a.Name, b.Name)
	}
	return strings.Compare(a.String(), b.String())
}
