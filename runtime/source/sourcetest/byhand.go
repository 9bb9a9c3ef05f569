// SPDX-License-Identifier: Apache-2.0

package sourcetest

import (
	"fmt"

	"github.com/informer-gen/informer-gen/runtime/object"
)

// This file has the writes of a Collection: what the test writes by hand is stored as it is.

func (c *collection) create(obj object.Object) object.Object {
	obj = c.own(obj)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	c.nameLocked(obj)
	key := object.KeyOf(obj)
	switch {
	case key.Name == "":
		c.misused("Create", key, "it has no name")
	case c.history.get(key) != nil:
		c.misused("Create", key, "it exists")
	}
	obj.SetDeletionTimestamp(nil)
	if c.counted && obj.GetGeneration() == 0 {
		obj.SetGeneration(1)
	}
	c.bornLocked(obj)
	return c.writeLocked(key, obj)
}

func (c *collection) update(obj object.Object) object.Object {
	obj = c.own(obj)
	c.server.mu.Lock()
	defer c.server.mu.Unlock()
	key := object.KeyOf(obj)
	old := c.existingLocked("Update", key)
	obj.SetUID(old.GetUID())
	given := obj.GetGeneration()
	c.keep(obj, old)
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
	case c.doom(obj):
		return c.writeLocked(key, obj)
	default:
		return obj
	}
}

func (c *collection) existingLocked(method string, key object.Key) object.Object {
	old := c.history.get(key)
	if old == nil {
		c.misused(method, key, "it does not exist")
	}
	return old
}

func (c *collection) misused(method string, key object.Key, why string) {
	panic(fmt.Sprintf("sourcetest: %s %s %q: %s", method, c.resource.GroupResource(), key, why))
}
