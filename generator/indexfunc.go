// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"context"
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
	"github.com/informer-gen/informer-gen/generator/output"
)

// splitFunc splits what names a function into the import path, empty for the package of the type,
// and the name.
func splitFunc(text string) (path, name string) {
	if i := strings.LastIndexByte(text, '.'); i > strings.LastIndexByte(text, '/') {
		return text[:i], text[i+1:]
	}
	return "", text
}

// importFuncs finds the packages of functions that indexes name, as far as they aren't those of the
// types, and returns those that are there. It must be called before anything is checked.
func (r *resolver) importFuncs(ctx context.Context, program *load.Program, apis []*api) []*load.Package {
	var paths []string
	for _, a := range apis {
		for _, d := range a.declared {
			for _, m := range marker.All[marker.Index](d.markers) {
				path, _ := splitFunc(m.Func.Text)
				if d.candidate() && path != a.pkg.Path && module.CheckImportPath(path) == nil && !slices.Contains(paths, path) {
					paths = append(paths, path)
				}
			}
		}
	}
	if len(paths) == 0 {
		return nil
	}
	slices.Sort(paths)
	imported, err := program.Import(ctx, paths...)
	if err != nil {
		r.failAt(token.Position{}, err.Error())
		return nil
	}
	r.funcs = map[string]*load.Package{}
	var there []*load.Package
	for i, pkg := range imported {
		if pkg != nil {
			r.funcs[paths[i]] = pkg
			r.problems(pkg.ParseErrors)
			there = append(there, pkg)
		}
	}
	return there
}

// indexFunc looks at the function that an index names.
func (r *resolver) indexFunc(a *api, t *types.Named, m *marker.Index, x *model.Index) bool {
	path, name := splitFunc(m.Func.Text)
	at := m.Func.At(len(m.Func.Text) - len(name))
	pkg := a.pkg
	var funcs, allowed []string
	fail := func(format string, args ...any) bool {
		r.fail(m.At, at, fmt.Sprintf(format, args...), allowed)
		return false
	}
	if path != "" && path != a.pkg.Path {
		why := ""
		if pkg, why = r.funcPackage(a, path); why != "" {
			at = m.Func.Pos
			return fail("%s", why)
		}
	}
	scope := pkg.Types.Scope()
	want := fmt.Sprintf("func %s(*%s) []KEY", upperFirst(name), typeIn(pkg.Types, t))
	for _, n := range scope.Names() {
		if f, ok := scope.Lookup(n).(*types.Func); ok && f.Exported() {
			funcs = append(funcs, n)
			if returnsKeys(f, t) {
				allowed = append(allowed, n)
			}
		}
	}
	if !token.IsIdentifier(name) {
		return fail("%q is no function's name: write that of a function in package %s", name, pkg.Path)
	}
	obj := scope.Lookup(name)
	if obj == nil {
		if hint := diag.DidYouMean(name, funcs); hint != "" {
			return fail("package %s has no function %s%s", pkg.Path, name, hint)
		}
		return fail("package %s has no function %s: declare %s", pkg.Path, name, want)
	}
	f, ok := obj.(*types.Func)
	if !ok {
		return fail("%s is not a function: declare %s", name, want)
	}
	if !f.Exported() {
		return fail("function %s is unexported, so generated code can't call it: declare %s", name, want)
	}
	signature := f.Signature()
	is := strings.TrimPrefix(typeIn(pkg.Types, signature), "func")
	switch {
	case invalid(signature.Params(), map[types.Type]bool{}), invalid(signature.Results(), map[types.Type]bool{}):
		return fail("func %s%s doesn't compile: declare %s", name, is, want)
	case !returnsKeys(f, t):
		return fail("func %s%s has the wrong signature: declare %s", name, is, want)
	}
	elem := signature.Results().At(0).Type().Underlying().(*types.Slice).Elem()
	key, why := r.key(elem)
	if why != nil {
		allowed = nil // it names this function too
		if why.instead != "" {
			why.reason += "; return " + why.instead
		}
		return fail("func %s%s returns what can't be a key: %s", name, is, why.reason)
	}
	x.Func, x.Key = &model.Func{Package: model.GoPackage{Path: pkg.Path, Name: pkg.Name}, Name: name}, key
	x.Deprecated = r.deprecated(f) || r.deprecatedType(elem)
	return true
}

// funcPackage returns the package at path, which isn't that of a, or says why generated code can't
// call it.
func (r *resolver) funcPackage(a *api, path string) (pkg *load.Package, why string) {
	const example = "name a function of another package by its import path, as in example.com/p/q.Keys"
	if err := module.CheckImportPath(path); err != nil {
		return nil, fmt.Sprintf("%q is no import path: %s", path, example)
	}
	pkg = r.funcs[path]
	switch {
	case pkg == nil && !strings.Contains(path, "/") && path == a.pkg.Name:
		return nil, fmt.Sprintf("there is no package %s: a function of the type's own package is named without it", path)
	case pkg == nil:
		return nil, fmt.Sprintf("there is no package %s with Go files: %s", path, example)
	case pkg.Name == "main":
		return nil, fmt.Sprintf("package %s is a program, which no other package can import: move the function into a package of its own", path)
	case !canImport(r.importPath, path):
		return nil, fmt.Sprintf("package %s is internal, and the output %s isn't allowed to import it", path, r.importPath)
	case r.inOutput(path):
		return nil, fmt.Sprintf("package %s is a part of the output: move the function into a package of its own", path)
	}
	if needed := r.program.Needs(pkg, r.inOutput); needed != "" {
		return nil, fmt.Sprintf("package %s needs %s of the output, which would import it: move the function into a package that doesn't", path, needed)
	}
	return pkg, ""
}

// inOutput reports whether the package at path is a generated one.
func (r *resolver) inOutput(path string) bool {
	if r.layout == model.Single {
		return path == r.importPath
	}
	rest, ok := strings.CutPrefix(path, r.importPath+"/")
	first, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains(output.Subfolders(), first)
}

// typeIn writes a type as it is written in a package.
func typeIn(pkg *types.Package, t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	})
}

// returnsKeys reports whether f can be called with a *T and returns a []KEY, whatever KEY is: its
// parameter is a *T, an interface that *T implements, or of a type parameter that *T can stand for.
func returnsKeys(f *types.Func, t *types.Named) bool {
	s := f.Signature()
	if s.TypeParams().Len() > 1 || s.Variadic() || s.Params().Len() != 1 || s.Results().Len() != 1 {
		return false
	}
	_, list := types.Unalias(s.Results().At(0).Type()).(*types.Slice)
	param := types.Unalias(s.Params().At(0).Type())
	constraint, generic := param.(*types.TypeParam)
	switch {
	case !list, !generic && s.TypeParams().Len() > 0:
		return false
	case generic:
		param = constraint.Constraint()
	}
	if methods, ok := param.Underlying().(*types.Interface); ok {
		return methods.IsMethodSet() && hidden(t, methods) == ""
	}
	return isPointerTo(param, t)
}

func isPointerTo(t types.Type, named *types.Named) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && types.Identical(p.Elem(), named)
}
