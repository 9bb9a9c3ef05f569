// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/server/watchcache"
)

// collection is a Collection without its type parameter. Stored objects are replaced, never
// changed.
type collection struct {
	// set once at construction
	server        *Server
	resource      schema.GroupVersionResource
	kind          schema.GroupVersionKind
	elem          reflect.Type // struct type of the objects
	hasProtobuf   bool         // objects have protobuf, as built-in kinds do
	status        int          // index of the struct's status field; -1 if it has none
	hasGeneration bool         // objects have a generation
	scheme        *runtime.Scheme
	withoutStatus bool     // no status subresource; set before the first request
	fields        []string // paths for field selectors

	history *history // guarded by the server's mu, since Restore replaces it
}

func (s *Server) serve(resource schema.GroupVersionResource, kind schema.GroupVersionKind, elem reflect.Type, fields []string) *collection {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.collections[resource] != nil {
		panic(fmt.Sprintf("sourcetest: Serve %v: it is served already", resource))
	}
	c := &collection{server: s, resource: resource, kind: kind, elem: elem, fields: fields, history: newHistory()}
	_, c.hasProtobuf = c.newObject().(marshaler)
	c.scheme = runtime.NewScheme()
	c.scheme.AddKnownTypeWithName(kind, c.newObject())
	c.status, c.hasGeneration = fieldOf(elem, "status"), !c.hasProtobuf || fieldOf(elem, "spec") >= 0
	c.history.reach(s.version)
	s.collections[resource] = c
	return c
}

func (c *collection) newObject() object.Object {
	obj := reflect.New(c.elem).Interface().(object.Object)
	obj.GetObjectKind().SetGroupVersionKind(c.kind)
	return obj
}

// writeLocked stores obj, which the caller must not use afterwards, and returns a copy.
func (c *collection) writeLocked(key object.Key, obj object.Object) object.Object {
	event := watch.Modified
	if c.history.get(key) == nil {
		event = watch.Added
	}
	version := c.server.nextLocked(obj)
	c.history.objects[version] = obj
	c.publishLocked(watchcache.Event{Type: event, Version: version, Object: &watchcache.Object{
		Key: key.String(), UID: string(obj.GetUID()), Version: version,
		Labels: watchcache.PairsOf(obj.GetLabels()), Fields: watchcache.PairsOf(c.fieldsOf(obj)),
	}})
	return obj.DeepCopyObject().(object.Object)
}

func (c *collection) deleteLocked(key object.Key, obj object.Object) object.Object {
	version := c.server.nextLocked(obj)
	c.publishLocked(watchcache.Event{Type: watch.Deleted, Version: version, Object: &watchcache.Object{Key: key.String()}})
	return obj
}

func (s *Server) nextLocked(obj object.Object) uint64 {
	s.version++
	obj.SetResourceVersion(format(s.version))
	return s.version
}

// publishLocked makes a change visible, and moves the other collections to its version.
func (c *collection) publishLocked(e watchcache.Event) {
	c.history.add(e)
	for _, other := range c.server.collections {
		other.history.reach(e.Version)
	}
	c.server.wakeLocked()
}

// fieldsOf returns the values for field selectors, except metadata.name and metadata.namespace.
func (c *collection) fieldsOf(obj object.Object) map[string]string {
	if len(c.fields) == 0 {
		return nil
	}
	raw, err := json.Marshal(obj)
	var content map[string]json.RawMessage
	if err != nil || json.Unmarshal(raw, &content) != nil {
		return nil
	}
	values := map[string]string{}
	for _, path := range c.fields {
		values[path] = cmp.Or(at(content, strings.Split(path, ".")), c.zero(path))
	}
	return values
}

// zero returns the value of a field omitted from JSON: built-in kinds have bools and numbers then.
func (c *collection) zero(path string) string {
	t := c.elem
	for name := range strings.SplitSeq(path, ".") {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		i := -1
		if t.Kind() == reflect.Struct && c.hasProtobuf {
			i = fieldOf(t, name)
		}
		if i < 0 {
			return ""
		}
		t = t.Field(i).Type
	}
	switch {
	case t.Kind() == reflect.Bool:
		return "false"
	case reflect.Int <= t.Kind() && t.Kind() <= reflect.Int64:
		return "0"
	}
	return ""
}

// at returns the string, number or bool at a path as text, or "".
func at(content map[string]json.RawMessage, path []string) string {
	raw := content[path[0]]
	if len(path) > 1 {
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) != nil {
			return ""
		}
		return at(inner, path[1:])
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		text = strings.TrimSpace(string(raw))
	}
	return text
}

// out returns a copy of an object for sending: whole, or, if partial is a version of meta.k8s.io,
// its metadata.
func (c *collection) out(obj object.Object, partial string) runtime.Object {
	if partial != "" {
		metadata := meta.AsPartialObjectMetadata(obj)
		metadata.SetGroupVersionKind(c.kindOf(partial))
		obj = metadata
	}
	return obj.DeepCopyObject()
}

func (c *collection) kindOf(partial string) schema.GroupVersionKind {
	if partial != "" {
		return schema.GroupVersionKind{Group: metav1.GroupName, Version: partial, Kind: "PartialObjectMetadata"}
	}
	return c.kind
}
