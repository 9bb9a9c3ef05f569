// SPDX-License-Identifier: Apache-2.0

package store

import (
	"reflect"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/informer-gen/informer-gen/runtime/internal/table"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// scan iterates over the objects that List would return. It isn't generic, so that it is compiled
// once. Generic code makes one and loops over the objs of each block, which may include nils.
type scan struct {
	version   *table.Version
	namespace string
	selector  labels.Selector

	objs   []object.Object // the present block
	cursor table.Cursor
	rest   []object.Object // objects that are not matched yet
	begun  bool
}

// next sets objs, and returns false at the end.
//
//go:noinline
func (c *scan) next() bool {
	if !c.begun && !c.begin() {
		return false
	}
	if c.selector == nil {
		c.objs = c.cursor.Next()
		return c.objs != nil
	}
	for {
		for len(c.rest) > 0 {
			obj := c.rest[0]
			c.objs, c.rest = c.rest[:1], c.rest[1:]
			if obj != nil && c.selector.Matches(labels.Set(obj.GetLabels())) {
				return true
			}
		}
		if c.rest = c.cursor.Next(); c.rest == nil {
			return false
		}
	}
}

// begin begins the scan, and reports whether any object can match.
func (c *scan) begin() bool {
	c.begun = true
	c.version.Missed(c.namespace)
	set := c.version.Namespace(c.namespace)
	if c.selector == nil || c.selector.Empty() {
		c.selector = nil
		c.cursor.Start(set, nil)
		return true
	}
	requirements, selectable := c.selector.Requirements()
	if !selectable {
		return false
	}
	var required table.Labels
	if require(&required, c.selector, requirements) {
		c.cursor.Start(set, &required)
	} else {
		c.cursor.Start(set, nil)
	}
	return true
}

// selectorType is the type of selectors that the labels package makes. Other selectors may match
// objects that don't fulfil their Requirements.
var selectorType = reflect.TypeOf(labels.NewSelector())

// require adds the labels that every matching object has, and reports whether there are any.
func require(required *table.Labels, selector labels.Selector, requirements labels.Requirements) (some bool) {
	if reflect.TypeOf(selector) != selectorType {
		return false
	}
	for i := range requirements {
		switch r := &requirements[i]; r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			some = true
			if value, one := selector.RequiresExactMatch(r.Key()); one { // allocates no slice
				required.Require(r.Key(), value)
			} else {
				required.Require(r.Key(), r.ValuesUnsorted()...)
			}
		}
	}
	return some
}

// sizeOf returns the first capacity for a list of the objects that scan finds.
func sizeOf(v *table.Version, namespace string, selector labels.Selector) int {
	if selector == nil || selector.Empty() {
		return v.Namespace(namespace).Len()
	}
	return 0
}
