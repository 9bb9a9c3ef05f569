// SPDX-License-Identifier: Apache-2.0

package model

// Index is a named, typed index of a Type.
type Index struct {
	// Name is the index's name and that of the lister method, for example "ByNode".
	Name string
	// Key is the type of the keys. It is not set if there are several Paths: then the keys are of a
	// struct type that is generated, with a field for each path.
	Key GoType
	// Exactly one of Paths, Owner and Func is set.
	//
	// Where several Paths begin with the same steps up to a step that is followed for every
	// element, one element at a time is meant for all of them; apart from that every combination is
	// a key.
	Paths []*FieldPath
	Owner *Owner
	Func  *Func
	// When are conditions that must all hold, else the object has no keys.
	When []Condition
	// Namespaced means that keys mean something within a namespace only: only listers of one
	// namespace can look them up.
	Namespaced bool
	// Deprecated means that a field or function that makes the keys has a doc comment that calls it
	// deprecated.
	Deprecated bool
}

// GoType is a named or predeclared type. Path and Package are empty for predeclared types.
type GoType struct {
	Path string
	// Package is the name of the package at Path.
	Package string
	Name    string
}

// Func is a package-level function that returns the keys of an object: func(*Type) []Key.
type Func struct {
	Package GoPackage
	Name    string
}

// Owner makes keys of an object's owner references.
type Owner struct {
	// Controller is set if the key is the UID of the controller. Else the keys are the names of all
	// owners of the kind.
	Controller bool
	// Group and Kind are those of the owners; Group is "" for the core group.
	Group, Kind string
}

// FieldPath leads from an object to values.
type FieldPath struct {
	// Text is the path as the marker has it, for example ".spec.containers[*].image".
	Text string
	// Steps are taken one after the other.
	Steps []Step
	// Key is the type of the values.
	Key GoType
	// Name is the name of the field for this path in the key of an index with several paths.
	Name string
}

// Step goes on from a struct to one of its fields or, if Field is empty, stays where the step
// before has led. What it gets to there may be looked into: at most one of Each, Keys and Entry is
// set.
type Step struct {
	// Field is the Go name of the field.
	Field string
	// Pointer means that the field is a pointer: a nil ends the path without a key.
	Pointer bool
	// Each means that it is a slice, array or map, of which every element is followed.
	Each bool
	// Array and Map say that what Each follows is not a slice.
	Array, Map bool
	// Keys means that it is a map, of which every key is followed.
	Keys bool
	// Entry is the Go literal of a map's key, the element of which is followed if it is there;
	// empty if there is none.
	Entry string
	// ElemPointer means that the elements are pointers: nil ones are passed over.
	ElemPointer bool
}

// Condition compares the value at a path, which follows no elements, with a literal.
type Condition struct {
	// Path leads to the value; it has no Name. A value that isn't there, because a pointer is nil
	// or a map lacks the key, is equal to nil and to no other literal.
	Path *FieldPath
	// Not means that the condition holds where the comparison doesn't.
	Not bool
	// Literal is a Go literal of a type that the value can be compared with, or "nil".
	Literal string
}
