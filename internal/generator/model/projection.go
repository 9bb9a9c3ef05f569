// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// Projection is what a generated type has of the fields of an API type.
type Projection struct {
	// Of is the name of the API type, which Type.Source declares.
	Of string
	// Paths are the paths to the fields, as the marker has them.
	Paths []string
	// Structs are the generated struct types: first that of the projection, which has the name of
	// the Type, and then those of its fields, each behind the one that has the field.
	Structs []*Struct
	// Deprecated means that a field, or its type, has a doc comment that calls it deprecated.
	Deprecated bool
}

// Struct is a struct type of a projection.
type Struct struct {
	Name string
	// Path leads to the structs of the type, for example ".spec.containers[*]"; "" is the object
	// itself.
	Path   string
	Fields []*Field
}

// IsMetadata reports whether the struct has the metadata of the object.
func (s *Struct) IsMetadata() bool { return s.Path == ".metadata" }

// IsPlain reports whether an assignment copies all of the struct.
func (s *Struct) IsPlain() bool {
	return !slices.ContainsFunc(s.Fields, func(f *Field) bool { return !f.Value.Plain })
}

// Field is a field of a Struct.
type Field struct {
	// Name is the name of the field; that of its type if it is embedded.
	Name     string
	Embedded bool
	// From is the name of the field in the API type. It is empty for an unexported embedded struct,
	// whose fields are read without naming it.
	From  string
	Value *Value
	// Tag has the parts of the struct's tag that decoders read, without quotes; may be empty.
	Tag string
}

// Value is the type of a field, or of what it leads to. At most one of Pointer, Array and Map is
// set; a value that has an Elem and none of them is a slice.
type Value struct {
	// Type is the type in Go, in pieces: the names of types, and what stands between them as types
	// without Path, such as "[]".
	Type []GoType
	// Plain means that an assignment copies all of a value.
	Plain bool
	// Copy is the name of the method that copies a value: DeepCopyInto, DeepCopy, or empty if there
	// is none.
	Copy string
	// Elem is what a pointer points to, or the element of a list or map; nil for others. If a value
	// is neither Plain nor has Copy nor Elem, it holds JSON as any.
	Elem *Value
	// Pointer, Array and Map mean that Elem is not that of a slice.
	Pointer, Array, Map bool
	// Struct is set if the type is one of the projection's own.
	Struct *Struct
}

// IsWhole reports whether the API type has the same type in the same place.
func (v *Value) IsWhole() bool { return v.Struct == nil && (v.Elem == nil || v.Elem.IsWhole()) }
