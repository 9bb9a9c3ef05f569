// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
	"github.com/informer-gen/informer-gen/generator/model"
)

// listerMethods are the methods that every lister has.
var listerMethods = []string{"All", "Get", "List", "Namespace", "Resource", "Scope", "Snapshot"}

// indexes fills k.Indexes from the markers above the type.
func (r *resolver) indexes(a *api, d *declared, k *kind, t *types.Named) {
	first := map[string]token.Position{}
	methods := map[string]string{}
	for _, m := range listerMethods {
		methods[m] = "every lister has a method of this name"
	}
	if k.Namespaced {
		methods[k.Plural] = "the lister's method for a namespace is called so"
	}
	for _, m := range marker.All[marker.Index](d.markers) {
		name := m.Name.Text
		if !token.IsIdentifier(name) || !token.IsExported(name) {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("name %q is no exported Go name: it becomes the lister's method%s", name, didYouMeanExported(name)), nil)
			continue
		}
		if other, ok := first[name]; ok {
			r.fail(m.At, m.Name.Pos, fmt.Sprintf("type %s has an index %s already, at %s", k.Name, name, r.short(other)), nil)
			continue
		}
		first[name] = m.Name.Pos
		clash := false
		for _, method := range []string{name, "List" + name} {
			if why, ok := methods[method]; ok && !clash {
				r.fail(m.At, m.Name.Pos, fmt.Sprintf("an index can't be called %s: %s", name, why), nil)
				clash = true
			}
		}
		methods[name] = "it is the method of an index already"
		methods["List"+name] = fmt.Sprintf("it is a method of index %s already", name)
		if clash {
			continue
		}
		x := &model.Index{Name: name}
		switch {
		case m.Field.IsSet() && m.Func.IsSet():
			r.fail(m.At, m.Func.Pos, "index "+name+" has a field and a func: it takes one of them", nil)
			continue
		case m.Field.IsSet():
			path, key, ok := r.fieldPath(t, m)
			if !ok {
				continue
			}
			x.Paths, x.Key = []*model.FieldPath{path}, key
		case m.Func.IsSet():
			f, key, ok := r.indexFunc(a, t, m)
			if !ok {
				continue
			}
			x.Func, x.Key = f, key
		default:
			r.fail(m.At, m.Pos, "index "+name+" has neither a field nor a func: write field=.path.to.key or func=Name", nil)
			continue
		}
		k.Indexes = append(k.Indexes, x)
		k.indexes = append(k.indexes, m.Name.Pos)
	}
}

func didYouMeanExported(name string) string {
	if up := upperFirst(name); token.IsIdentifier(up) && token.IsExported(up) {
		return ", did you mean " + up + "?"
	}
	return ""
}

// indexFunc looks at the function that an index names.
func (r *resolver) indexFunc(a *api, t *types.Named, m *marker.Index) (*model.Func, model.GoType, bool) {
	name := m.Func.Text
	scope := a.pkg.Types.Scope()
	want := fmt.Sprintf("func %s(*%s) []KEY", upperFirst(name), t.Obj().Name())
	var funcs, allowed []string
	for _, n := range scope.Names() {
		if f, ok := scope.Lookup(n).(*types.Func); ok && f.Exported() {
			funcs = append(funcs, n)
			if returnsKeys(f, t) {
				allowed = append(allowed, n)
			}
		}
	}
	fail := func(format string, args ...any) (*model.Func, model.GoType, bool) {
		r.fail(m.At, m.Func.Pos, fmt.Sprintf(format, args...), allowed)
		return nil, model.GoType{}, false
	}
	if !token.IsIdentifier(name) {
		return fail("%q is no function's name: write the bare name of a function in package %s", name, a.pkg.Path)
	}
	obj := scope.Lookup(name)
	if obj == nil {
		if hint := diag.DidYouMean(name, funcs); hint != "" {
			return fail("package %s has no function %s%s", a.pkg.Path, name, hint)
		}
		return fail("package %s has no function %s: declare %s", a.pkg.Path, name, want)
	}
	f, ok := obj.(*types.Func)
	if !ok {
		return fail("%s is not a function: declare %s", name, want)
	}
	if !f.Exported() {
		return fail("function %s is unexported, so generated code can't call it: declare %s", name, want)
	}
	signature := f.Signature()
	is := strings.TrimPrefix(types.TypeString(signature, func(p *types.Package) string {
		if p == a.pkg.Types {
			return ""
		}
		return p.Name()
	}), "func")
	switch {
	case invalid(signature.Params(), map[types.Type]bool{}), invalid(signature.Results(), map[types.Type]bool{}):
		return fail("func %s%s doesn't compile: declare %s", name, is, want)
	case !returnsKeys(f, t):
		return fail("func %s%s has the wrong signature: declare %s", name, is, want)
	}
	key, why := r.key(signature.Results().At(0).Type().Underlying().(*types.Slice).Elem(), true)
	if why != "" {
		allowed = nil // it names this function too
		return fail("func %s%s returns what can't be a key: %s", name, is, why)
	}
	return &model.Func{Package: model.GoPackage{Path: a.pkg.Path, Name: a.pkg.Name}, Name: name}, key, true
}

// returnsKeys says whether f is a func(*T) []KEY, whatever KEY is.
func returnsKeys(f *types.Func, t *types.Named) bool {
	s := f.Signature()
	if s.TypeParams().Len() > 0 || s.Variadic() || s.Params().Len() != 1 || s.Results().Len() != 1 {
		return false
	}
	_, list := types.Unalias(s.Results().At(0).Type()).(*types.Slice)
	return list && isPointerTo(s.Params().At(0).Type(), t)
}

func isPointerTo(t types.Type, named *types.Named) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && types.Identical(p.Elem(), named)
}

// key returns the type of an index's keys as generated code names it, or the reason why it can't be one. Structs are
// for those who know how to compare them: functions.
func (r *resolver) key(t types.Type, structs bool) (model.GoType, string) {
	t = types.Unalias(t)
	str := types.TypeString(t, func(p *types.Package) string { return p.Name() })
	const want = "a key is a string, a bool or an integer, or a type declared as one"
	switch u := t.Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Kind() == types.Invalid:
			return model.GoType{}, "its type doesn't compile"
		case u.Info()&(types.IsString|types.IsBoolean|types.IsInteger) == 0 || u.Kind() == types.Uintptr || u.Kind() == types.UnsafePointer:
			return model.GoType{}, str + " can't be compared reliably; " + want
		}
	case *types.Struct:
		if !structs {
			return model.GoType{}, str + " is a struct; " + want
		}
		if !types.Comparable(t) {
			return model.GoType{}, str + " isn't comparable; " + want
		}
	default:
		return model.GoType{}, str + " isn't comparable by its value; " + want
	}
	switch t := t.(type) {
	case *types.Basic:
		return model.GoType{Name: t.Name()}, ""
	case *types.Named:
		obj := t.Obj()
		switch {
		case t.TypeArgs().Len() > 0:
			return model.GoType{}, str + " has type arguments: declare a type of its own"
		case !obj.Exported():
			return model.GoType{}, str + " is unexported, so generated code can't name it"
		case obj.Pkg() != nil && !canImport(r.importPath, obj.Pkg().Path()):
			return model.GoType{}, str + " comes from an internal package, which the output can't import"
		case obj.Parent() != obj.Pkg().Scope():
			return model.GoType{}, str + " isn't declared at the top of its package"
		}
		return model.GoType{Path: obj.Pkg().Path(), Package: obj.Pkg().Name(), Name: obj.Name()}, ""
	}
	return model.GoType{}, str + " has no name: declare a type for it"
}

// fieldNames returns what can stand in a path, in the order of the struct.
func fieldNames(fields []jsonField) []string {
	var names []string
	for _, f := range fields {
		if !slices.Contains(names, f.name) {
			names = append(names, f.name)
		}
	}
	return names
}
