// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"context"
	"fmt"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/index"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// check type-checks the packages with selected types, and those with functions of their indexes.
func check(ctx context.Context, r *report.Report, in Input, apis []*api) index.Funcs {
	var toCheck []*load.Package
	var paths []string // of packages with index functions
	for _, a := range apis {
		if a.selects() || hidesTypes(a.pkg) {
			in.problems(r, a.pkg.ParseErrors)
		}
		if a.selects() {
			toCheck = append(toCheck, a.pkg)
		}
		for _, d := range a.decls {
			if d.candidate() {
				paths = append(paths, index.FuncPackages(a.pkg, marker.All[marker.Index](d.markers))...)
			}
		}
	}
	funcs, err := index.ImportFuncs(ctx, in.Program, paths)
	if err != nil {
		r.FailAt(token.Position{}, err.Error())
	}
	in.Program.Check(append(toCheck, funcs.Packages()...)...)
	for _, pkg := range funcs.Packages() {
		in.problems(r, pkg.ParseErrors)
		in.problems(r, pkg.TypeErrors)
		in.problems(r, pkg.ListErrors())
	}
	return funcs
}

func compile(r *report.Report, in Input, apis []*api) {
	for _, a := range apis {
		if !a.selects() || importsOutput(r, in, a) {
			continue
		}
		in.problems(r, a.pkg.TypeErrors)
		if len(a.pkg.TypeErrors) == 0 {
			in.problems(r, a.pkg.ListErrors())
		}
	}
}

func (in Input) problems(r *report.Report, problems diag.List) {
	for _, p := range problems {
		p.Warning = in.KeepGoing
		r.Add(p)
	}
}

// importsOutput reports an API package that imports generated code: the generated code imports it,
// or will.
func importsOutput(r *report.Report, in Input, a *api) bool {
	needed, through, pos := "", "", token.NoPos
	for _, file := range a.pkg.Files {
		for _, spec := range file.Imports {
			if name := strings.Trim(spec.Path.Value, "`\""); needed == "" && in.Output.Has(name) {
				needed, pos = name, spec.Path.Pos()
			}
		}
	}
	if needed == "" {
		needed, through, pos = in.Program.Needs(a.pkg, in.Output.Has), " (through other packages)", a.pkg.Files[0].Name.Pos()
	}
	if needed == "" {
		return false
	}
	r.FailAt(r.Position(pos), fmt.Sprintf("package %s imports %s%s, which is generated and imports %s for its types: an import cycle; move the code that uses informers and listers out of the API package",
		a.pkg.Path, needed, through, a.pkg.Path))
	return true
}

// hidesTypes reports whether unparsable files of a package may declare API types.
func hidesTypes(pkg *load.Package) bool {
	return slices.ContainsFunc(pkg.ParseErrors, func(d diag.Diagnostic) bool {
		content, err := os.ReadFile(d.Pos.Filename)
		return err == nil && LooksLikeAPI(content)
	})
}

// LooksLikeAPI reports whether a Go file may declare API types.
func LooksLikeAPI(content []byte) bool { return likeAPIType.Match(content) }

var likeAPIType = regexp.MustCompile(`\bmetav1\.(Type|Object)Meta\b|\+(genclient|kubebuilder:object:root|informer:generate)\b`)
