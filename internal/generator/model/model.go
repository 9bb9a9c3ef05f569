// SPDX-License-Identifier: Apache-2.0

// Package model is the input of the templates, and their output: groups, versions, types and
// indexes as plain structs, with every name decided. It doesn't know go/types, markers or the
// origin of its values.
package model

// Output is the input of one rendering.
type Output struct {
	// ImportPath is the import path of the output folder.
	ImportPath string
	Layout     Layout
	// Package is the package name in the layout Single; unused in other layouts.
	Package string
	// Controllers adds the methods that create controllers to informers.
	Controllers bool
	// Header goes on top of each file: whole Go comments, possibly with one build constraint,
	// without a line break at the end; may be empty.
	Header string
	// Groups are in output order.
	Groups []*Group
}

// Layout is an arrangement of the output.
type Layout int

const (
	// Grouped has a folder for each group and version.
	Grouped Layout = iota
	// Single puts all files into the output folder, as one package.
	Single
)

// Group is an API group.
type Group struct {
	// Name is the group's full name, for example "samples.example.com"; "" for the core group.
	Name string
	// GoName is the accessor on the factory.
	GoName string
	// Package is the folder of the group's versions.
	Package string
	// Versions are in output order.
	Versions []*Version
}

// Version is one version of a group, with one or several Go packages of API types.
type Version struct {
	// Name is the API version.
	Name string
	// GoName is the accessor on the group.
	GoName string
	// Package is the name of the generated Go packages and folder.
	Package string
	// Types are in output order.
	Types []*Type
	// Declared has the names from handwritten files in the lister package, which no import there
	// can use; may be nil.
	Declared map[string]bool
}

// GoPackage is an imported Go package: its import path, and the name in its package clause.
type GoPackage struct {
	Path string
	Name string
	// Deprecated means that the package comment has a "Deprecated: " paragraph.
	Deprecated bool
}

// Type is an API type, or a projection of one, with an informer and a lister.
type Type struct {
	// Name is the Go type's name.
	Name string
	// Source is the API package that declares the type; for a projection, the projected type.
	Source GoPackage
	// Projection is set if the type is a projection, which is generated too.
	Projection *Projection
	// Plural is the Go name of the plural.
	Plural string
	// Resource is the plural in URLs.
	Resource string
	// Namespaced is false for cluster-scoped types.
	Namespaced bool
	// Doc has the lines of the type's doc comment without markers and comment signs; may be empty.
	Doc []string
	// Deprecated is the text behind "Deprecated: "; empty if the type isn't deprecated.
	Deprecated string
	// ListerExpansion and NamespaceListerExpansion mean that a handwritten file declares the
	// expansion interface.
	ListerExpansion, NamespaceListerExpansion bool
	// Indexes are in the order of the markers.
	Indexes []*Index
	// Apply is nil if there is no apply configuration for the type.
	Apply *ApplyConfiguration
}
