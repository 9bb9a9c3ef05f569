// SPDX-License-Identifier: Apache-2.0

// Package model is what the templates see: groups, versions, types and indexes as plain structs, with every name
// already decided. It knows nothing of go/types, of markers or of how its values came to be.
package model

// Output is everything that one run writes.
type Output struct {
	// ImportPath is the import path of the output folder.
	ImportPath string
	// Groups are in the order in which they are written.
	Groups []*Group
}

// Group is an API group.
type Group struct {
	// Name is the group's full name, for example "samples.example.com"; "" is the core group.
	Name string
	// GoName is the accessor on the factory, for example "Samples".
	GoName string
	// Package is the name of the Go package and folder of the group, for example "samples". Where Go gives the name
	// another meaning, as "type" or "internal", the templates extend it.
	Package string
	// Versions are in the order in which they are written.
	Versions []*Version
}

// Version is one version of a group: one Go package of API types.
type Version struct {
	// Name is the API version, for example "v1alpha1".
	Name string
	// GoName is the accessor on the group, for example "V1alpha1".
	GoName string
	// Package is the name of the generated Go packages and folder, for example "v1alpha1".
	Package string
	// Source is the API package that the types come from.
	Source GoPackage
	// Types are in the order in which they are written.
	Types []*Type
}

// GoPackage is an imported Go package: its import path, and the name in its package clause.
type GoPackage struct {
	Path string
	Name string
}

// Type is one API type for which an informer and a lister are written.
type Type struct {
	// Name is the Go type's name, for example "Widget".
	Name string
	// Plural is the Go name of the plural, for example "Widgets".
	Plural string
	// Resource is the plural in URLs, for example "widgets".
	Resource string
	// Namespaced is false for cluster-scoped types.
	Namespaced bool
	// Doc holds the lines of the type's doc comment without markers and comment signs; may be empty.
	Doc []string
	// ListerExpansion and NamespaceListerExpansion say that the user's own file declares the expansion interface.
	ListerExpansion, NamespaceListerExpansion bool
	// Indexes keep the order of the markers.
	Indexes []*Index
}

// Index is a named, typed index of a Type.
type Index struct {
	// Name is the index's name and that of the lister method, for example "ByNode".
	Name string
	// Key is the type of the keys.
	Key GoType
	// Exactly one of Path and Func is set.
	Path *FieldPath
	Func *Func
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

// FieldPath leads from an object to its keys.
type FieldPath struct {
	// Text is the path as the marker has it, for example ".spec.containers[*].image".
	Text string
	// Steps are taken one after the other.
	Steps []Step
}

// Step selects a field, and says what is needed to go on from it.
type Step struct {
	// Field is the Go name of the field.
	Field string
	// Pointer says that the field is a pointer: a nil ends the path without a key.
	Pointer bool
	// Each says that the field is a slice or array, of which every element is followed.
	Each bool
	// Array says that what Each follows is an array and not a slice.
	Array bool
	// ElemPointer says that these elements are pointers: nil ones are passed over.
	ElemPointer bool
}
