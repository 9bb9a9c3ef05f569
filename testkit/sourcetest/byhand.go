// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/informer-gen/informer-gen/internal/request"
	"github.com/informer-gen/informer-gen/runtime/object"
)

func (c *collection) create(obj object.Object) object.Object {
	obj = c.decodedCopy("Create", obj)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.nameLocked(obj)
	key := object.KeyOf(obj)
	switch {
	case key.Name == "":
		c.panicMisuse("Create", key, "it has no name")
	case c.history.get(key) != nil:
		c.panicMisuse("Create", key, "it exists")
	}
	obj.SetDeletionTimestamp(nil)
	if c.hasGeneration && obj.GetGeneration() == 0 {
		obj.SetGeneration(1)
	}
	c.initLocked(obj)
	return c.writeLocked(key, obj)
}

func (c *collection) update(obj object.Object) object.Object {
	obj = c.decodedCopy("Update", obj)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	key := object.KeyOf(obj)
	old := c.existingLocked("Update", key)
	obj.SetUID(old.GetUID())
	given := obj.GetGeneration()
	c.keepImmutable(obj, old)
	obj.SetGeneration(max(given, obj.GetGeneration()))
	if obj.GetDeletionTimestamp() != nil && len(obj.GetFinalizers()) == 0 {
		return c.deleteLocked(key, obj)
	}
	return c.writeLocked(key, obj)
}

func (c *collection) remove(key object.Key) object.Object {
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	obj := c.existingLocked("Delete", key).DeepCopyObject().(object.Object)
	switch {
	case len(obj.GetFinalizers()) == 0:
		return c.deleteLocked(key, obj)
	case request.MarkDeleted(obj):
		return c.writeLocked(key, obj)
	default:
		return obj
	}
}

// decodedCopy returns a copy of an object, read from its JSON, with its kind set. Otherwise a
// client's update would change parts that JSON loses, such as fractions of a second.
func (c *collection) decodedCopy(method string, obj object.Object) object.Object {
	if reflect.ValueOf(obj).IsNil() {
		c.panicMisuse(method, object.Key{}, "the object is nil")
	}
	own := c.newObject()
	into := any(own)
	if content, ok := own.(*unstructured.Unstructured); ok {
		into = &content.Object
	}
	raw, err := json.Marshal(obj)
	if err == nil {
		err = utiljson.Unmarshal(raw, into)
	}
	if err != nil {
		c.panicMisuse(method, object.KeyOf(obj), "it can't be read from its JSON: "+err.Error())
	}
	own.GetObjectKind().SetGroupVersionKind(c.kind)
	return own
}

func (c *collection) existingLocked(method string, key object.Key) object.Object {
	old := c.history.get(key)
	if old == nil {
		c.panicMisuse(method, key, "it does not exist")
	}
	return old
}

func (c *collection) panicMisuse(method string, key object.Key, why string) {
	panic(fmt.Sprintf("sourcetest: %s %s %q: %s", method, c.resource.GroupResource(), key, why))
}
