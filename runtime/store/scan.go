// SPDX-License-Identifier: Apache-2.0

package store

import (
	"k8s.io/apimachinery/pkg/labels"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// scan iterates over the objects of List. It isn't generic, so it is compiled once.
type scan struct {
	version   *table.Version
	namespace string
	selector  labels.Selector

	cursor   table.Cursor
	started  bool
	matching [table.BatchSize]object.Object
}

// next returns the next objects, some of which may be nil, or nil at the end.
//
//go:noinline
func (c *scan) next() []object.Object {
	if !c.started && !c.start() {
		return nil
	}
	for objs := c.cursor.Next(); objs != nil; objs = c.cursor.Next() {
		if c.selector == nil {
			return objs
		}
		if n := c.match(objs); n > 0 {
			return c.matching[:n]
		}
	}
	return nil
}

// match sets the first n elements of matching. It reads the labels of all objects before it
// compares any. A selection mostly waits for the memory of objects, so the processor waits for
// several at once.
func (c *scan) match(objs []object.Object) (n int) {
	var sets [table.BatchSize]labels.Set
	for i, obj := range objs {
		if obj != nil {
			sets[i] = obj.GetLabels()
		}
	}
	for i, obj := range objs {
		if obj != nil && c.selector.Matches(sets[i]) {
			c.matching[n] = obj
			n++
		}
	}
	return n
}

func (c *scan) start() bool {
	c.started = true
	c.version.Missed(c.namespace)
	c.cursor.Start(c.version.Namespace(c.namespace))
	if c.selector == nil || c.selector.Empty() {
		c.selector = nil
		return true
	}
	_, selectable := c.selector.Requirements()
	return selectable
}

func listCapacity(v *table.Version, namespace string, selector labels.Selector) int {
	if selector == nil || selector.Empty() {
		return v.Namespace(namespace).Len()
	}
	return 0
}
