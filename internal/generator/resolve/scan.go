// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"go/ast"
	"go/token"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

func readPackages(r *report.Report, in Input) []*api {
	var apis []*api
	for _, root := range in.Roots {
		a := readPackage(r, in, root)
		selectTypes(r, a)
		if in.Layout == model.Single && in.Output.Has(root.Path) {
			reportInOutput(r, a)
			continue
		}
		apis = append(apis, a)
	}
	reportUnread(r, in)
	return apis
}

func reportInOutput(r *report.Report, a *api) {
	for _, d := range a.decls {
		if d.candidate() {
			r.FailAt(r.Position(d.spec.Name.Pos()), "package "+a.pkg.Path+
				" has API types, and the layout single puts its own package into this folder: choose another output")
			return
		}
	}
}

// readPackage reads a package's comments and its settings in the configuration file. Users can't
// change the comments of other modules: there, an error becomes a warning that the marker doesn't
// count, and warnings are dropped.
func readPackage(r *report.Report, in Input, pkg *load.Package) *api {
	own := r.Fork()
	a := scan(own, in.Program.Fset, pkg)
	findings := own.Findings()
	if !pkg.Main() {
		findings, _ = findings.Split()
		for i := range findings {
			findings[i].Warning = true
		}
	}
	r.Add(findings...)
	configure(r, in, a)
	return a
}

func scan(r *report.Report, fset *token.FileSet, pkg *load.Package) *api {
	a := &api{pkg: pkg}
	var wrong diag.List
	for _, file := range pkg.Files {
		found := syntax.Scan(fset, file)
		a.markers = append(a.markers, syntax.On(syntax.Package, syntax.Parse(found.Package, &wrong),
			"in a comment that belongs to no type", &wrong)...)
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				d := &typeDecl{spec: spec.(*ast.TypeSpec), file: file}
				d.doc = d.spec.Doc
				if !decl.Lparen.IsValid() {
					d.doc = decl.Doc
				}
				before := len(wrong)
				markers := syntax.Parse(found.Types[d.spec], &wrong)
				d.incomplete = len(wrong) > before
				for _, m := range markers {
					switch m.(type) {
					case *marker.InformerGen, *kubebuilder.Skip:
						warnAboveType(r, d, m)
						continue
					}
					if syntax.DefinitionOf(m).Target == syntax.Package {
						a.markers = append(a.markers, m)
					} else {
						d.markers = append(d.markers, m)
					}
				}
				a.decls = append(a.decls, d)
			}
		}
		syntax.On(syntax.Nowhere, syntax.Parse(found.Inside, &wrong), "inside a type", &wrong)
	}
	r.Add(wrong...)
	return a
}
