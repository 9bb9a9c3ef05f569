// SPDX-License-Identifier: Apache-2.0

package index

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// splitFunc splits a function reference into its import path, empty for the package of the type,
// and its name.
func splitFunc(text string) (path, name string) {
	if i := strings.LastIndexByte(text, '.'); i > strings.LastIndexByte(text, '/') {
		return text[:i], text[i+1:]
	}
	return "", text
}

// Funcs are the packages of index functions, other than those of the types.
type Funcs struct {
	program  *load.Program
	packages []*load.Package // those found
}

// FuncPackages returns the import paths of functions in a type's markers, without invalid paths and
// that of the type itself.
func FuncPackages(of *load.Package, markers []*marker.Index) []string {
	var paths []string
	for _, m := range markers {
		path, _ := splitFunc(m.Func.Text)
		if path != of.Path && module.CheckImportPath(path) == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// ImportFuncs loads the existing packages among paths. It must be called before anything is
// type-checked.
func ImportFuncs(ctx context.Context, program *load.Program, paths []string) (Funcs, error) {
	f := Funcs{program: program}
	if len(paths) == 0 {
		return f, nil
	}
	imported, err := program.Import(ctx, slices.Compact(slices.Sorted(slices.Values(paths)))...)
	if err != nil {
		return f, err
	}
	f.packages = slices.DeleteFunc(imported, func(pkg *load.Package) bool { return pkg == nil })
	return f, nil
}

// Packages returns the packages found by [ImportFuncs].
func (f Funcs) Packages() []*load.Package { return f.packages }

// find returns the package at path, not that of the type, or the reason why generated code can't
// call its functions.
func (f Funcs) find(path string, of *load.Package, output Output) (pkg *load.Package, why string) {
	const example = "name a function of another package by its import path, as in example.com/p/q.Keys"
	if err := module.CheckImportPath(path); err != nil {
		return nil, fmt.Sprintf("%q isn't an import path: %s", path, example)
	}
	if i := slices.IndexFunc(f.packages, func(p *load.Package) bool { return p.Path == path }); i >= 0 {
		pkg = f.packages[i]
	}
	switch {
	case pkg == nil && !strings.Contains(path, "/") && path == of.Name:
		return nil, fmt.Sprintf("there is no package %s: functions of the type's own package are named without it", path)
	case pkg == nil:
		return nil, fmt.Sprintf("there is no package %s with Go files: %s", path, example)
	case pkg.Name == "main":
		return nil, fmt.Sprintf("package %s is a program, which no other package can import: move the function into a package of its own", path)
	case !gotypes.CanImport(output.ImportPath, path):
		return nil, fmt.Sprintf("package %s is internal, so the output %s can't import it", path, output.ImportPath)
	case output.Has(path):
		return nil, fmt.Sprintf("package %s is a part of the output: move the function into a package of its own", path)
	}
	if needed := f.program.Needs(pkg, output.Has); needed != "" {
		return nil, fmt.Sprintf("package %s needs %s of the output, which would import it: move the function into a package that doesn't", path, needed)
	}
	return pkg, ""
}
