// SPDX-License-Identifier: Apache-2.0

// Package resolve decides what to generate: groups, versions, kinds, their names and, with packages
// index and project, their indexes and projections. It reads loaded packages, the markers in their
// comments and the configuration file, and returns the model for the templates.
//
// Errors are collected and the correct parts examined further, so that one run shows every error.
// [Resolve] calls the steps in order. They pass on a value of type api: a package with its declared
// types, then with its kinds, then with its group and version.
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

// Input is the input of [Resolve].
type Input struct {
	// Program has loaded the Roots. Resolve type-checks some of them.
	Program *load.Program
	// Roots are the packages to examine.
	Roots []*load.Package
	// Dir is the base of file names inside messages.
	Dir    string
	Output index.Output
	Layout model.Layout
	// File is the configuration file, with settings for packages and types; may be nil.
	File *config.File
	// Partial means that the call, not File, names the packages; File may have settings of others.
	Partial bool
	// Discover selects kinds by their fields in packages without marked types.
	Discover bool
	// ApplyConfigurations asks for the apply configurations of kinds.
	ApplyConfigurations bool
	// KeepGoing turns compile errors into warnings.
	KeepGoing bool
	// Plurals are exceptions from the rules, by kind; those without a position come from the call.
	Plurals map[string]Fact
	// CRDs are compared with the kinds.
	CRDs []crd.Definition
	// Declared returns the names, such as expansion interfaces, that handwritten files declare in a
	// version's lister package; may be nil.
	Declared func(*model.Group, *model.Version) map[string]bool
}

// Fact is a decision and the source of it, as generator.Fact documents.
type Fact struct {
	Text string
	From string
	Pos  token.Position
}

// Result is the outcome of [Resolve].
type Result struct {
	// Output is the model of all packages together.
	Output *model.Output
	// Types are all exported types with a marker, and all exported struct types with
	// metav1.ObjectMeta, in the order of packages and positions.
	Types []Type
	// Findings are sorted.
	Findings diag.List
}

// Type is a type with the decisions about it.
type Type struct {
	// Package is the import path of the type's package.
	Package string
	Name    string
	Pos     token.Position
	// Reason explains why something is generated for the type, or why not.
	Reason Fact
	// Advice tells how to get the type generated, if nothing else is missing.
	Advice string

	// Model is nil if nothing is generated. Otherwise the facts below are set, except for an
	// undecided group and version.
	Model                       *model.Type
	Group, GroupGoName, Version Fact
	Scope, Resource, Plural     Fact
	// Indexes are the positions of the names of Model.Indexes.
	Indexes []token.Position

	api  *api  // has the group and the version, which only packages with kinds need
	kind *kind // nil if nothing is generated
}

// Resolve decides about all types of the roots. Errors in them are among the findings; the returned
// error is the cause of ctx, if ctx ends first.
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
		checkImportable(r, in.Output, a)
		deprecations(r, a)
	}
	shareAcrossVersions(r, withKinds, in.CRDs)

	types = readProjections(project.NewReader(r, in.Output.ImportPath), r, in, withKinds, types)
	readIndexes(index.NewReader(r, in.Output, owners(in, apis), funcs), r, withKinds)
	checkCRDs(r, in, withKinds, types)
	warnUnusedPlurals(r, in, withKinds)
	groups := groupKinds(r, in, withKinds, applyReader(ctx, r, in, withKinds))

	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx) // some index functions may be missing for that reason
	}
	result := Result{Types: types, Output: &model.Output{ImportPath: in.Output.ImportPath, Layout: in.Layout, Groups: groups}}
	for i := range types {
		types[i].fillFacts()
	}
	result.Findings = missingSums(r.Findings().Sorted(), in.Roots)
	return result, nil
}

func readIndexes(reader *index.Reader, r *report.Report, apis []*api) {
	for _, a := range apis {
		for _, k := range a.kinds {
			of := index.Kind{
				Name: k.Name, Plural: k.Plural, Namespaced: k.Namespaced, Package: a.pkg, Type: k.goType, Markers: indexesOf(k),
			}
			if k.projectionOf != nil {
				of.ProjectionOf, of.Fields = k.projectionOf.goType, k.pos
			} else {
				reportUnknownProjections(r, k)
			}
			for _, declared := range reader.Read(of) {
				k.Indexes = append(k.Indexes, declared.Index)
				k.indexes = append(k.indexes, declared.Pos)
			}
		}
	}
}
