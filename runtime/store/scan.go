// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/bits"
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
	begun  bool

	// With a selector, objs is one object of read, which is what cursor has returned last. matching
	// has the bits of those that match and were not in objs yet.
	read     []object.Object
	matching uint8
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
	for c.matching == 0 {
		if c.read = c.cursor.Next(); c.read == nil {
			return false
		}
		c.match()
	}
	at := bits.TrailingZeros8(c.matching)
	c.objs = c.read[at : at+1]
	c.matching &^= 1 << at
	return true
}

// match sets matching. It takes the labels out of all objects before it looks at any. Most of a
// selection's time is spent waiting for the memory of objects, and so the processor waits for
// several at once.
func (c *scan) match() {
	var of [table.AtOnce]labels.Set
	for i, obj := range c.read {
		if obj != nil {
			of[i] = obj.GetLabels()
		}
	}
	for i, obj := range c.read {
		if obj != nil && c.selector.Matches(of[i]) {
			c.matching |= 1 << i
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
