// SPDX-License-Identifier: Apache-2.0

package model

// Index is a named, typed index of a Type.
type Index struct {
	// Name is the name of the index and of the lister method, for example "ByNode".
	Name string
	// Key is the type of the keys. It is not set if there are several Paths: then a generated
	// struct type, with a field for each path, has the keys.
	Key GoType
	// Exactly one of Paths, Owner and Func is set.
	//
	// Paths that share their first steps, up to a step over every element, visit each element
	// together. Otherwise every combination is a key.
	Paths []*FieldPath
	Owner *Owner
	Func  *Func
	// When are conditions; an object that fails one of them has no keys.
	When []Condition
	// Namespaced means that keys count within a namespace: only listers of one namespace can look
	// them up.
	Namespaced bool
	// Deprecated means that the keys use a field or function with a "Deprecated: " doc comment.
	Deprecated bool
}

// GoType is a named or predeclared type. Path and Package are empty for predeclared types.
type GoType struct {
	Path string
	// Package is the name of the package at Path.
	Package string
	Name    string
}

// Func is a package-level function from an object to its keys: func(*Type) []Key.
type Func struct {
	Package GoPackage
	Name    string
}

// Owner takes keys from an object's owner references.
type Owner struct {
	// Controller means that the key is the UID of the controller. Otherwise the keys are the names
	// of all owners of the kind.
	Controller bool
	// Group and Kind describe the owners; Group is "" for the core group.
	Group, Kind string
}

// FieldPath leads from an object to values.
type FieldPath struct {
	// Text is the path in the marker.
	Text  string
	Steps []Step
	// Key is the type of the values.
	Key GoType
	// Name is the field for this path in the key of an index with several paths.
	Name string
}

// Step moves from a struct to one of its fields or, if Field is empty, stays in place. It may then
// look into the value: at most one of Each, Keys and Entry is set.
type Step struct {
	// Field is the Go name of the field.
	Field string
	// Pointer means that the field is a pointer: nil ends the path without a key.
	Pointer bool
	// Each follows every element of a slice, array or map.
	Each bool
	// Array and Map mean that Each follows an array or map instead of a slice.
	Array, Map bool
	// Keys follows every key of a map.
	Keys bool
	// Entry is a map key as a Go literal; its element is followed if it is present. Empty means
	// none.
	Entry string
	// ElemPointer means that the elements are pointers: nil ones are skipped.
	ElemPointer bool
}

// Condition compares the value at a path, which follows no elements, with a literal.
type Condition struct {
	// Path leads to the value; it has no Name. A missing value, behind a nil pointer or absent from
	// its map, equals nil and no other literal.
	Path *FieldPath
	// Not negates the comparison.
	Not bool
	// Literal is a Go literal comparable with the value, or "nil".
	Literal string
}
