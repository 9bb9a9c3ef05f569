// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/load"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
)

func (r *Reader) function(k Kind, m *marker.Index, x *model.Index) bool {
	path, name := splitFunc(m.Func.Text)
	pkg := k.Package
	if path != "" && path != pkg.Path {
		why := ""
		if pkg, why = r.funcs.find(path, pkg, r.output); why != "" {
			r.failIn(m, m.Func, jsonpath.Errorf(0, "%s", why))
			return false
		}
	}
	f, problem := findFunc(pkg, name, k)
	var (
		elem types.Type
		key  model.GoType
	)
	if problem == nil {
		elem, key, problem = funcKey(r.output, pkg, f)
	}
	if problem != nil {
		problem.Offset = len(m.Func.Text) - len(name)
		r.failIn(m, m.Func, problem)
		return false
	}
	x.Func, x.Key = &model.Func{Package: model.GoPackage{Path: pkg.Path, Name: pkg.Name}, Name: name}, key
	x.Deprecated = r.docs.IsDeprecated(f) || r.docs.IsTypeDeprecated(elem)
	return true
}

// findFunc returns the named function of a package, if it returns keys for objects of kind k.
func findFunc(pkg *load.Package, name string, k Kind) (*types.Func, *jsonpath.Error) {
	var funcs, allowed []string
	fail := func(format string, args ...any) (*types.Func, *jsonpath.Error) {
		problem := jsonpath.Errorf(0, format, args...)
		problem.Allowed = allowed
		return nil, problem
	}
	scope := pkg.Types.Scope()
	want := fmt.Sprintf("func %s(*%s) []KEY", names.UpperFirst(name), typeIn(pkg.Types, k.Type))
	if k.ProjectionOf != nil { // it doesn't exist before this run
		want = fmt.Sprintf("func %s(metav1.Object) []KEY", names.UpperFirst(name))
	}
	for _, n := range scope.Names() {
		if f, ok := scope.Lookup(n).(*types.Func); ok && f.Exported() {
			funcs = append(funcs, n)
			if returnsKeys(f, k.Type) {
				allowed = append(allowed, n)
			}
		}
	}
	if !token.IsIdentifier(name) {
		return fail("%q isn't a function name: name a function of package %s", name, pkg.Path)
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
	switch {
	case !gotypes.Compiles(f.Signature().Params()), !gotypes.Compiles(f.Signature().Results()):
		return fail("%s doesn't compile: declare %s", declaration(pkg, f), want)
	case !returnsKeys(f, k.Type):
		return fail("%s has the wrong signature: declare %s", declaration(pkg, f), want)
	}
	return f, nil
}

// funcKey returns the type of f's keys, for Go and for the model.
func funcKey(output Output, pkg *load.Package, f *types.Func) (types.Type, model.GoType, *jsonpath.Error) {
	elem := f.Signature().Results().At(0).Type().Underlying().(*types.Slice).Elem()
	key, why := keyType(output, elem)
	if why == nil {
		return elem, key, nil
	}
	if why.instead != "" {
		why.reason += "; return " + why.instead
	}
	return nil, key, jsonpath.Errorf(0, "%s has an invalid key type: %s", declaration(pkg, f), why.reason)
}

func declaration(pkg *load.Package, f *types.Func) string {
	return "func " + f.Name() + strings.TrimPrefix(typeIn(pkg.Types, f.Signature()), "func")
}

func typeIn(pkg *types.Package, t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string {
		if p == pkg {
			return ""
		}
		return p.Name()
	})
}

// returnsKeys reports whether f can be called with a *T and returns a []KEY, whatever KEY is. Its
// parameter is a *T, an interface that *T implements, or a type parameter that *T satisfies.
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
		return methods.IsMethodSet() && gotypes.Hidden(t, methods) == ""
	}
	return isPointerTo(param, t)
}

func isPointerTo(t types.Type, named *types.Named) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && types.Identical(p.Elem(), named)
}
