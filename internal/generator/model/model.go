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
	// Controllers means that informers have the methods that controllers are made with.
	Controllers bool
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
	// "samples".
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
	// Declared has the names that the user's own files declare in the package of the listers, which
	// no import there can have; may be nil.
	Declared map[string]bool
}

// GoPackage is an imported Go package: its import path, and the name in its package clause.
type GoPackage struct {
	Path string
	Name string
	// Deprecated means that the package comment calls the package deprecated.
	Deprecated bool
}

// Type is one API type, or a projection of one, for which an informer and a lister are written.
type Type struct {
	// Name is the Go type's name, for example "Widget".
	Name string
	// Source is the API package that declares the type, or that which it is a projection of.
	Source GoPackage
	// Projection is set if the type is one, which is generated too.
	Projection *Projection
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
