// SPDX-License-Identifier: Apache-2.0

package gotype

import (
	"reflect"
	"slices"
)

// Leaf is a field that is no struct, or a time.Time, or an array of values without references.
type Leaf struct {
	Offset uintptr
	Type   *Type
	Name   bool // the name or the namespace of an object
	// Hidden means that the field is unexported, or is within an unexported one, so that only the
	// type's own package knows its meaning.
	Hidden bool
	// Data means the same for the number in a resource.Quantity, which is known to be data.
	Data bool
	// Cache means that read-only methods of the value write this field: it is the text of a
	// resource.Quantity.
	Cache bool
}

// appendLeaves appends the leaves of a value of type t at an offset. common has their
// properties.
func appendLeaves(leaves []Leaf, t reflect.Type, offset uintptr, common Leaf) []Leaf {
	switch {
	case t.Kind() == reflect.Struct && t.NumField() > 0 && known[t] != GoTime:
		for f := range t.Fields() {
			of := common
			of.Name = IsName(t, f)
			switch {
			case f.IsExported() || common.Data:
			case known[t] != Quantity:
				of.Hidden = true
			case f.Name == "s" && f.Type.Kind() == reflect.String:
				of.Cache = true
			default:
				of.Data = true
			}
			leaves = appendLeaves(leaves, f.Type, offset+f.Offset, of)
		}
		return leaves
	case t.Kind() == reflect.Array && t.Len() > 0 && Of(t.Elem()).Refers():
		for i := range t.Len() {
			leaves = appendLeaves(leaves, t.Elem(), offset+uintptr(i)*t.Elem().Size(), common)
		}
		return leaves
	}
	common.Offset, common.Type = offset, Of(t)
	return append(leaves, common)
}

// Refers reports whether values of the type refer to other memory.
func (t *Type) Refers() bool {
	for _, leaf := range t.Leaves() {
		// basic types have lower numbers, and an array with references is no leaf
		if k := leaf.Type.Kind(); leaf.Type.Known == GoTime || k > reflect.Complex128 && k != reflect.Array && k != reflect.Struct {
			return true
		}
	}
	return false
}

// Hides reports whether values of the type have unexported fields, other than those of times and
// quantities.
func (t *Type) Hides() bool {
	return slices.ContainsFunc(t.Leaves(), func(l Leaf) bool { return l.Hidden })
}
