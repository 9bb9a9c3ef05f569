// SPDX-License-Identifier: Apache-2.0

// Package resolve decides what is generated: groups, versions, kinds and their names, and with
// packages index and project the indexes and projections of the kinds. It decides by packages that
// were loaded, the markers in their comments and the configuration file. The result is what the
// templates see.
//
// What is wrong is collected; what is right goes on to be looked at, so that one run shows
// everything. [Resolve] names the steps in their order. The value that goes from step to step is an
// api: a package with the types that it declares, then with the kinds among them, then with its
// group and version.
package resolve

import (
	"context"
	"go/token"
	"slices"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/config"
	"github.com/informer-gen/informer-gen/internal/generator/crd"
	"github.com/informer-gen/informer-gen/internal/generator/index"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/project"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// Input is what Resolve decides by.
type Input struct {
	// Program has loaded the Roots. Resolve has it check their Go types.
	Program *load.Program
	// Roots are the packages to look at.
	Roots []*load.Package
	// Dir is what positions inside of messages are relative to.
	Dir    string
	Output index.Output
	Layout model.Layout
	// File may be nil. It has the configuration file's settings of packages and their types.
	File *config.File
	// Partial means that the call, not the file, names the packages, so that the file may have
	// settings of others.
	Partial bool
	// Discover selects kinds by their fields in every package in which no type is marked.
	Discover bool
	// KeepGoing makes warnings of errors that only say that a package doesn't compile.
	KeepGoing bool
	// Plurals are exceptions from the rules, by kind; those without a position come from the call.
	Plurals map[string]Fact
	// CRDs are held against the kinds.
	CRDs []crd.Definition
	// Declared may be nil. It returns the names that the user's own files declare in the lister
	// package of a version, such as those of expansion interfaces.
	Declared func(*model.Group, *model.Version) map[string]bool
}

// Fact is something that was decided, and what decided it.
type Fact struct {
	Text string
	// From is a marker's name with its "+", a key of the configuration file, a flag with its "--",
	// or the words of a rule.
	From string
	// Pos is where it stands; not valid for flags and rules.
	Pos token.Position
}

// Result is what was decided.
type Result struct {
	// Output is the model of all packages together.
	Output *model.Output
	// Types are all exported types that are marked, and all exported struct types with
	// metav1.ObjectMeta, in the order of packages and positions.
	Types []Type
	// Findings are sorted.
	Findings diag.List
}

// Type is a type with what was decided about it, and why.
type Type struct {
	// Package is the import path of the type's package.
	Package string
	Name    string
	Pos     token.Position
	// Reason says why something is generated for the type, or why not, and where that stands.
	Reason Fact
	// Advice is what would get the type generated, if that is all that is missing.
	Advice string

	// Model is nil if nothing is generated. Else the facts below are set, but for a group and a
	// version that couldn't be decided.
	Model                       *model.Type
	Group, GroupGoName, Version Fact
	Scope, Resource, Plural     Fact
	// Indexes are the positions of the names of Model.Indexes.
	Indexes []token.Position

	api  *api  // has the group and the version, which are only decided for packages with kinds
	kind *kind // nil if nothing is generated
}

// Resolve decides about all types of the roots. What is wrong with them is among the findings; the
// one error is the cause of ctx, if ctx ends first.
func Resolve(ctx context.Context, in Input) (Result, error) {
	r := report.New(in.Program.Fset, in.Dir)

	apis := readPackages(r, in)
	funcs := check(ctx, r, in, apis)
	leaveOutUnversioned(r, in.Program, apis)
	compile(r, in, apis)

	types := findKinds(r, in, apis)
	withKinds := slices.DeleteFunc(slices.Clone(apis), func(a *api) bool { return len(a.kinds) == 0 })
	for _, a := range withKinds { // a package of types without verbs needs no group
		groupVersion(r, in.Program, a)
		importable(r, in.Output, a)
		deprecations(r, a)
	}
	shareAcrossVersions(r, withKinds, in.CRDs)

	types = readProjections(project.NewReader(r, in.Output.ImportPath), r, in, withKinds, types)
	readIndexes(index.NewReader(r, in.Output, owners(in, apis), funcs), r, withKinds)
	checkCRDs(r, in, withKinds, types)
	unusedPlurals(r, in, withKinds)
	groups := groupKinds(r, in, withKinds)

	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx) // functions of indexes may not have been found for that
	}
	result := Result{Types: types, Output: &model.Output{ImportPath: in.Output.ImportPath, Layout: in.Layout, Groups: groups}}
	for i := range types {
		types[i].complete()
	}
	result.Findings = missingSums(r.Findings().Sorted(), in.Roots)
	return result, nil
}

// readIndexes fills in the indexes of all kinds.
func readIndexes(reader *index.Reader, r *report.Report, apis []*api) {
	for _, a := range apis {
		for _, k := range a.kinds {
			of := index.Kind{
				Name: k.Name, Plural: k.Plural, Namespaced: k.Namespaced, Package: a.pkg, Type: k.goType, Markers: indexesOf(k),
			}
			if k.projectionOf != nil {
				of.ProjectionOf, of.Fields = k.projectionOf.goType, k.pos
			} else {
				unknownProjections(r, k)
			}
			for _, declared := range reader.Read(of) {
				k.Indexes = append(k.Indexes, declared.Index)
				k.indexes = append(k.indexes, declared.Pos)
			}
		}
	}
}
