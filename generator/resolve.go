// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/informer-gen/informer-gen/generator/config"
	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/generator/marker/syntax"
	"github.com/informer-gen/informer-gen/generator/model"
)

// resolver turns loaded packages into a model. What is wrong is collected; what is right goes on to
// be looked at, so that one run shows everything.
type resolver struct {
	fset *token.FileSet
	// dir is what positions inside of messages are relative to.
	dir string
	// importPath is that of the output folder.
	importPath string
	// keepGoing makes warnings of errors that only say that a package doesn't compile.
	keepGoing bool
	// layout is that of the output.
	layout model.Layout
	// plurals are exceptions from the rules, by kind; those without a position come from the call.
	plurals map[string]named
	// crds are held against the kinds.
	crds []crd
	// discover selects kinds by their fields in every package in which no type is marked.
	discover bool
	// file may be nil. It has the configuration file's settings of packages and their types.
	file *config.File
	// partial means that the call, not the file, names the packages, so that the file may have
	// settings of others.
	partial bool
	// expansions may be nil. It returns the names of the types that the user declares in a
	// version's lister package.
	expansions func(*model.Group, *model.Version) map[string]bool

	program *load.Program
	owners  map[string][]string // known kinds, sorted, by group
	// packages of index functions by import path, other than those of the types
	funcs    map[string]*load.Package
	sources  map[string][]string // lines of files, as far as they were looked at
	report   diag.List
	verdicts []verdict
}

// api is a package with API types.
type api struct {
	pkg      *load.Package
	markers  []marker.Marker // the package's
	declared []*declared
	kinds    []*kind
	discover bool // selects kinds by their fields if no type is marked

	group, groupGoName, version named
}

// declared is a type declaration and what stands above it.
type declared struct {
	spec    *ast.TypeSpec
	doc     *ast.CommentGroup
	file    *ast.File
	markers []marker.Marker
	// excluded is why the config file leaves the type out; not set if it doesn't.
	excluded named
	// listed are the places where the config file names the type without saying more.
	listed []marker.At
	// incomplete means that markers are missing because they are wrong, which is reported.
	incomplete bool
	selection  selection
}

// named is a name and the place that it comes from.
type named struct {
	text string
	pos  token.Position
	// from says what stands at pos, or which rule it was.
	from string
}

// kind is an API type that something is generated for.
type kind struct {
	*model.Type
	api      *api
	declared *declared
	named    *types.Named
	// the last two until shareAcrossVersions those of this version alone
	plural, scope, resource named
	pos                     token.Position
	indexes                 []token.Position // of Type.Indexes
}

// resolve returns the model of all roots together, and what is wrong with them.
func (r *resolver) resolve(ctx context.Context, program *load.Program, roots []*load.Package) (*model.Output, diag.List) {
	r.program = program
	var apis []*api
	var toCheck []*load.Package
	for _, root := range roots {
		a := r.api(root)
		if r.layout == model.Single && r.inOutput(root.Path) {
			r.standsInOutput(a)
			continue
		}
		r.selectTypes(a)
		if a.selects() || r.hidesTypes(root) {
			r.problems(root.ParseErrors)
		}
		apis = append(apis, a)
		if a.selects() {
			toCheck = append(toCheck, root)
		}
	}
	r.unread(roots)
	program.Check(append(toCheck, r.importFuncs(ctx, program, apis)...)...)
	for _, pkg := range r.funcs {
		r.problems(pkg.TypeErrors)
		r.problems(pkg.ListErrors())
	}
	r.leaveOutUnversioned(apis)
	for _, a := range apis {
		if a.selects() && !r.importsOutput(a) {
			r.compiles(a)
		}
		for _, d := range a.declared {
			if k := r.kind(a, d); k != nil {
				a.kinds = append(a.kinds, k)
			}
		}
	}
	// A package of types without verbs needs no group.
	read := slices.Clone(apis)
	apis = slices.DeleteFunc(apis, func(a *api) bool { return len(a.kinds) == 0 })
	for _, a := range apis {
		r.groupVersion(a)
		r.importable(a)
	}
	r.shareAcrossVersions(apis)
	r.findOwners(read)
	for _, a := range apis {
		for _, k := range a.kinds {
			r.indexes(a, k.declared, k, k.named)
		}
	}
	r.checkCRDs(apis)
	r.unusedPlurals(apis)
	out := &model.Output{ImportPath: r.importPath, Layout: r.layout, Groups: r.groups(apis)}
	return out, r.report.Sorted()
}

// api reads what the comments of a package and the configuration file say about it. The user can't
// change the comments of other modules: there, what is wrong is a warning, which says that the
// marker doesn't count, and what may be wrong isn't said.
func (r *resolver) api(pkg *load.Package) *api {
	before := len(r.report)
	a := r.scan(pkg)
	if !pkg.Main() {
		errs, _ := r.report[before:].Split()
		r.report = r.report[:before]
		for _, d := range errs {
			d.Warning = true
			r.report.Add(d)
		}
	}
	r.configure(a)
	return a
}

// scan reads the markers of a package.
func (r *resolver) scan(pkg *load.Package) *api {
	a := &api{pkg: pkg}
	for _, file := range pkg.Files {
		found := syntax.Scan(r.fset, file)
		a.markers = append(a.markers, syntax.On(syntax.Package, syntax.Parse(found.Package, &r.report),
			"in a comment that belongs to no type", &r.report)...)
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				d := &declared{spec: spec.(*ast.TypeSpec), file: file}
				d.doc = d.spec.Doc
				if !decl.Lparen.IsValid() {
					d.doc = decl.Doc
				}
				before := len(r.report)
				markers := syntax.Parse(found.Types[d.spec], &r.report)
				d.incomplete = len(r.report) > before
				for _, m := range markers {
					switch m.(type) {
					case *marker.InformerGen, *kubebuilder.Skip:
						r.aboveType(d, m)
						continue
					}
					if syntax.DefinitionOf(m).Target == syntax.Package {
						a.markers = append(a.markers, m)
					} else {
						d.markers = append(d.markers, m)
					}
				}
				a.declared = append(a.declared, d)
			}
		}
		syntax.On(syntax.Nowhere, syntax.Parse(found.Inside, &r.report), "inside of a type", &r.report)
	}
	return a
}

// fail reports an error about a marker.
func (r *resolver) fail(at marker.At, pos token.Position, message string, allowed []string) {
	r.report.Add(diag.Diagnostic{Pos: pos, Marker: at.Name, Message: message, Allowed: allowed})
}

// failAt reports an error that no marker is to blame for.
func (r *resolver) failAt(pos token.Position, message string) {
	r.report.Add(diag.Diagnostic{Pos: pos, Message: message})
}

// problems reports what keeps a package from compiling.
func (r *resolver) problems(problems diag.List) {
	for _, p := range problems {
		p.Warning = r.keepGoing
		r.report.Add(p)
	}
}

// importsOutput reports an API package that imports generated code, which imports it, or will.
func (r *resolver) importsOutput(a *api) bool {
	needed, through, pos := "", "", token.NoPos
	for _, file := range a.pkg.Files {
		for _, spec := range file.Imports {
			if name := strings.Trim(spec.Path.Value, "`\""); needed == "" && r.inOutput(name) {
				needed, pos = name, spec.Path.Pos()
			}
		}
	}
	if needed == "" {
		needed, through, pos = r.program.Needs(a.pkg, r.inOutput), " (through other packages)", a.pkg.Files[0].Name.Pos()
	}
	if needed == "" {
		return false
	}
	r.failAt(r.fset.Position(pos), fmt.Sprintf("package %s imports %s%s, which is generated and imports %s for its types: an import cycle; move the code that uses informers and listers out of the API package",
		a.pkg.Path, needed, through, a.pkg.Path))
	return true
}

// hidesTypes reports whether there may be API types in the files of a package that can't be parsed.
func (r *resolver) hidesTypes(pkg *load.Package) bool {
	return slices.ContainsFunc(pkg.ParseErrors, func(d diag.Diagnostic) bool {
		return slices.ContainsFunc(r.lines(d.Pos.Filename), likeAPIType.MatchString)
	})
}

var likeAPIType = regexp.MustCompile(`\bmetav1\.(Type|Object)Meta\b|\+(genclient|kubebuilder:object:root|informer:generate)\b`)

// compiles reports what is wrong with the Go code of an API package.
func (r *resolver) compiles(a *api) {
	r.problems(a.pkg.TypeErrors)
	if len(a.pkg.TypeErrors) == 0 {
		r.problems(a.pkg.ListErrors())
	}
}

// groups puts the kinds into groups and versions and reports names that meet.
func (r *resolver) groups(apis []*api) []*model.Group {
	var (
		groups    []*model.Group
		versions  [][]*api // those of one group and version
		byName    = map[string]*model.Group{}
		byVersion = map[[2]string]int{}
		first     = map[string]*api{} // by group
	)
	for _, a := range apis {
		if a.group.pos.Filename == "" || a.version.text == "" {
			continue // reported
		}
		group := byName[a.group.text]
		if group == nil {
			group = &model.Group{Name: a.group.text, GoName: a.groupGoName.text, Package: strings.ToLower(a.groupGoName.text)}
			byName[group.Name] = group
			first[group.Name] = a
			groups = append(groups, group)
		} else {
			r.sameGoName(first[group.Name], a)
		}
		at, ok := byVersion[groupVersionOf(a)]
		if !ok {
			at = len(versions)
			byVersion[groupVersionOf(a)] = at
			versions = append(versions, nil)
		}
		versions[at] = append(versions[at], a)
	}
	for _, same := range versions {
		group := byName[same[0].group.text]
		group.Versions = append(group.Versions, r.version(group, same))
	}
	slices.SortFunc(groups, func(a, b *model.Group) int { return strings.Compare(a.Name, b.Name) })
	for _, group := range groups {
		slices.SortFunc(group.Versions, func(a, b *model.Version) int {
			return cmp.Or(version.CompareKubeAwareVersionStrings(b.Name, a.Name), strings.Compare(a.Name, b.Name))
		})
	}
	r.differentGoNames(groups, first)
	if r.layout == model.Single {
		r.collisions(slices.Concat(versions...))
		return groups
	}
	for _, same := range versions {
		r.collisions(same)
	}
	return groups
}

// version is a version with the kinds of all packages that have types of it.
func (r *resolver) version(group *model.Group, same []*api) *model.Version {
	name := same[0].version.text
	v := &model.Version{Name: name, GoName: upperFirst(name), Package: strings.ToLower(name)}
	var kinds []*kind
	for _, a := range same {
		source := model.GoPackage{Path: a.pkg.Path, Name: a.pkg.Name, Deprecated: deprecatedPackage(a.pkg.Files)}
		for _, k := range a.kinds {
			k.Source = source
		}
		kinds = append(kinds, a.kinds...)
	}
	slices.SortStableFunc(kinds, func(a, b *kind) int { return strings.Compare(a.Name, b.Name) })
	var declared map[string]bool
	if r.expansions != nil {
		declared = r.expansions(group, v)
	}
	for _, k := range kinds {
		k.ListerExpansion = declared[k.Name+"ListerExpansion"]
		k.NamespaceListerExpansion = declared[k.Name+"NamespaceListerExpansion"]
		v.Types = append(v.Types, k.Type)
	}
	return v
}

func groupVersion(group, version string) string {
	if group == "" {
		return version
	}
	return group + "/" + version
}
