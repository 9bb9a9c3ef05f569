// SPDX-License-Identifier: Apache-2.0

package model

import "slices"

// Projection is a generated type with some fields of an API type.
type Projection struct {
	// Of is the name of the API type, declared in Type.Source.
	Of string
	// Paths are the paths to the fields, as written in the marker.
	Paths []string
	// Structs are the generated struct types: first the projection itself, named like the Type,
	// then those of its fields, each behind the struct that has the field.
	Structs []*Struct
	// Deprecated means that a field or its type has a "Deprecated: " doc comment.
	Deprecated bool
}

// Struct is a struct type of a projection or of an apply configuration.
type Struct struct {
	Name string
	// Path leads to the structs of the type; "" is the object itself. It is unset in apply
	// configurations.
	Path string
	// Of is the API type in words, for a struct in an apply configuration.
	Of     string
	Fields []*Field
}

// IsMetadata reports whether the struct is the object's metadata.
func (s *Struct) IsMetadata() bool { return s.Path == ".metadata" }

// IsPlain reports whether an assignment copies all of the struct.
func (s *Struct) IsPlain() bool {
	return !slices.ContainsFunc(s.Fields, func(f *Field) bool { return !f.Value.Plain })
}

// Field is a field of a Struct.
type Field struct {
	// Name is the name of the field, or of its type if it is embedded.
	Name     string
	Embedded bool
	// From is the field in the API type. It is empty for an unexported embedded struct, whose
	// fields are read without naming it.
	From  string
	Value *Value
	// Tag has the parts of the struct tag for decoders, without quotes; may be empty.
	Tag string
}

// Value is the type of a field, element or pointer target. At most one of Pointer, Array and Map is
// set; a value with an Elem and none of them is a slice.
type Value struct {
	// Type is the Go type in pieces: type names, and the text between them as types without Path,
	// such as "[]".
	Type []GoType
	// Plain means that an assignment copies all of a value.
	Plain bool
	// Copy is the method that copies a value: DeepCopyInto, DeepCopy, or empty for none.
	Copy string
	// Elem is the pointer target, or the element of a list or map; nil for others. A value that
	// isn't Plain and has neither Copy nor Elem holds JSON as any.
	Elem *Value
	// Pointer, Array and Map mean that Elem doesn't belong to a slice.
	Pointer, Array, Map bool
	// Struct is set if the type is one of the projection's own.
	Struct *Struct
}

// IsWhole reports whether the API type has the same type in the same place.
func (v *Value) IsWhole() bool { return v.Struct == nil && (v.Elem == nil || v.Elem.IsWhole()) }
