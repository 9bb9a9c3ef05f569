// SPDX-License-Identifier: Apache-2.0

// Package model is what the templates see, and the files that they make of it: groups, versions,
// types and indexes as plain structs, with every name already decided. It knows nothing of
// go/types, of markers or of how its values came to be.
package model

// Output is everything that one run writes.
type Output struct {
	// ImportPath is the import path of the output folder.
	ImportPath string
	// Layout says how files and packages are laid out.
	Layout Layout
	// Package is the name of the one package of the layout Single; the other layouts don't use it.
	Package string
	// Header stands above everything else in each file: whole comments as in Go source, of which
	// one may be a build constraint, without a line break at the end; may be empty.
	Header string
	// Groups are in the order in which they are written.
	Groups []*Group
}

// Layout is one of the ways in which the output is laid out.
type Layout int

const (
	// Grouped has a folder for each group and version, below informers and listers.
	Grouped Layout = iota
	// Single has all files in the output folder itself, as one package, with the kinds right on the
	// factory.
	Single
)

// Group is an API group.
type Group struct {
	// Name is the group's full name, for example "samples.example.com"; "" is the core group.
	Name string
	// GoName is the accessor on the factory, for example "Samples".
	GoName string
	// Package is the name of the folder with the packages of the group's versions, for example
	// "samples". Where Go gives the name another meaning, as "type" or "internal", the templates
	// extend it.
	Package string
	// Versions are in the order in which they are written.
	Versions []*Version
}

// Version is one version of a group: one Go package of API types, or several.
type Version struct {
	// Name is the API version, for example "v1alpha1".
	Name string
	// GoName is the accessor on the group, for example "V1alpha1".
	GoName string
	// Package is the name of the generated Go packages and folder, for example "v1alpha1".
	Package string
	// Types are in the order in which they are written.
	Types []*Type
}

// GoPackage is an imported Go package: its import path, and the name in its package clause.
type GoPackage struct {
	Path string
	Name string
	// Deprecated means that the package comment calls the package deprecated.
	Deprecated bool
}

// Type is one API type for which an informer and a lister are written.
type Type struct {
	// Name is the Go type's name, for example "Widget".
	Name string
	// Source is the API package that declares the type.
	Source GoPackage
	// Plural is the Go name of the plural, for example "Widgets".
	Plural string
	// Resource is the plural in URLs, for example "widgets".
	Resource string
	// Namespaced is false for cluster-scoped types.
	Namespaced bool
	// Doc holds the lines of the type's doc comment without markers and comment signs; may be
	// empty.
	Doc []string
	// Deprecated is the text behind "Deprecated: "; empty if the type isn't deprecated.
	Deprecated string
	// ListerExpansion and NamespaceListerExpansion say that the user's own file declares the
	// expansion interface.
	ListerExpansion, NamespaceListerExpansion bool
	// Indexes keep the order of the markers.
	Indexes []*Index
}

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
