// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/version"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

// resolver turns loaded packages into a model. What is wrong is collected; what is right goes on to be looked at, so
// that one run shows everything.
type resolver struct {
	fset *token.FileSet
	// importPath is that of the output folder.
	importPath string
	// keepGoing makes warnings of errors that only say that a package doesn't compile.
	keepGoing bool
	// expansions may be nil. It returns the names of the types that the user declares in a version's lister package.
	expansions func(*model.Group, *model.Version) map[string]bool

	report diag.List
}

// api is a package with API types.
type api struct {
	pkg      *load.Package
	markers  []marker.Marker // the package's
	declared []*declared
	kinds    []*kind

	group, groupGoName, version named
}

// declared is a type declaration and what stands above it.
type declared struct {
	spec    *ast.TypeSpec
	doc     *ast.CommentGroup
	file    *ast.File
	markers []marker.Marker
}

// named is a name and the place that it comes from.
type named struct {
	text string
	pos  token.Position
}

// kind is an API type that something is generated for.
type kind struct {
	*model.Type
	pos     token.Position
	indexes []token.Position // of Type.Indexes
}

// resolve returns the model of all roots together, and what is wrong with them.
func (r *resolver) resolve(program *load.Program, roots []*load.Package) (*model.Output, diag.List) {
	var apis []*api
	var toCheck []*load.Package
	for _, root := range roots {
		a := r.scan(root)
		r.problems(root.ParseErrors)
		if slices.ContainsFunc(a.declared, (*declared).candidate) {
			apis = append(apis, a)
			toCheck = append(toCheck, root)
		}
	}
	program.Check(toCheck...)
	for _, a := range apis {
		r.compiles(a)
		for _, d := range a.declared {
			if k := r.kind(a, d); k != nil {
				a.kinds = append(a.kinds, k)
			}
		}
	}
	// A package of types without verbs needs no group.
	apis = slices.DeleteFunc(apis, func(a *api) bool { return len(a.kinds) == 0 })
	for _, a := range apis {
		r.groupVersion(a)
		r.importable(a)
	}
	out := &model.Output{ImportPath: r.importPath, Groups: r.groups(apis)}
	return out, r.report.Sorted()
}

// scan reads the markers of a package.
func (r *resolver) scan(pkg *load.Package) *api {
	a := &api{pkg: pkg}
	for _, file := range pkg.Files {
		found := marker.Scan(r.fset, file)
		a.markers = append(a.markers, marker.On(marker.Package, marker.Parse(found.Package, &r.report),
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
				for _, m := range marker.Parse(found.Types[d.spec], &r.report) {
					if marker.DefinitionOf(m).Target == marker.Package {
						a.markers = append(a.markers, m)
					} else {
						d.markers = append(d.markers, m)
					}
				}
				if len(r.report) == before { // else the marker that selects the type may be among the wrong ones
					r.unused(d)
				}
				a.declared = append(a.declared, d)
			}
		}
		marker.On(marker.Nowhere, marker.Parse(found.Inside, &r.report), "inside of a type", &r.report)
	}
	return a
}

// candidate says whether the type is marked as one to generate something for.
func (d *declared) candidate() bool {
	return marker.First[marker.Genclient](d.markers) != nil || d.root()
}

// root says whether kubebuilder's markers select the type.
func (d *declared) root() bool {
	m := marker.First[marker.ObjectRoot](d.markers)
	return m != nil && m.Root.Text != "false"
}

// unused reports markers that do nothing because the type isn't selected.
func (r *resolver) unused(d *declared) {
	if d.candidate() {
		return
	}
	for _, m := range d.markers {
		at := m.Place()
		switch {
		case strings.HasPrefix(at.Name, "+informer:"):
			r.fail(at, at.Pos, "nothing is generated for type "+d.spec.Name.Name+": add +genclient (or +kubebuilder:object:root=true) above it", nil)
		case strings.HasPrefix(at.Name, "+genclient:"):
			r.report.Add(diag.Diagnostic{
				Pos: at.Pos, Marker: at.Name, Warning: true,
				Message: "does nothing without +genclient above type " + d.spec.Name.Name,
			})
		}
	}
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
		byName    = map[string]*model.Group{}
		byVersion = map[[2]string]*api{}
		first     = map[string]*api{} // by group
	)
	for _, a := range apis {
		if a.group.pos.Filename == "" || a.version.text == "" {
			continue // reported
		}
		if other := byVersion[[2]string{a.group.text, a.version.text}]; other != nil {
			r.report.Add(diag.Diagnostic{Pos: a.group.pos, Marker: "+groupName", Message: "package " + a.pkg.Path +
				" has the same group and version as package " + other.pkg.Path + ": " + groupVersion(a.group.text, a.version.text)})
			continue
		}
		byVersion[[2]string{a.group.text, a.version.text}] = a
		group := byName[a.group.text]
		if group == nil {
			group = &model.Group{Name: a.group.text, GoName: a.groupGoName.text, Package: strings.ToLower(a.groupGoName.text)}
			byName[group.Name] = group
			first[group.Name] = a
			groups = append(groups, group)
		} else {
			r.sameGoName(first[group.Name], a)
		}
		group.Versions = append(group.Versions, r.version(group, a))
	}
	slices.SortFunc(groups, func(a, b *model.Group) int { return strings.Compare(a.Name, b.Name) })
	for _, group := range groups {
		slices.SortFunc(group.Versions, func(a, b *model.Version) int {
			return cmp.Or(version.CompareKubeAwareVersionStrings(b.Name, a.Name), strings.Compare(a.Name, b.Name))
		})
	}
	r.differentGoNames(groups, first)
	return groups
}

func (r *resolver) version(group *model.Group, a *api) *model.Version {
	v := &model.Version{
		Name:    a.version.text,
		GoName:  upperFirst(a.version.text),
		Package: strings.ToLower(a.version.text),
		Source:  model.GoPackage{Path: a.pkg.Path, Name: a.pkg.Name},
	}
	slices.SortFunc(a.kinds, func(a, b *kind) int { return strings.Compare(a.Name, b.Name) })
	r.collisions(a)
	var declared map[string]bool
	if r.expansions != nil {
		declared = r.expansions(group, v)
	}
	for _, k := range a.kinds {
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
