// SPDX-License-Identifier: Apache-2.0

// Package gotypes answers questions about Go's types and packages that go/types leaves open.
package gotypes

import (
	"go/types"
	"iter"
	"slices"
	"strings"
)

// Compiles reports whether everything that t is made of compiles.
func Compiles(t types.Type) bool { return !invalid(t, map[types.Type]bool{}) }

// Hidden returns the name of a method of the interface required for which n has something else; ""
// if there is none. Methods that n lacks count as right: those of imported types may not have been
// read.
func Hidden(n *types.Named, required types.Type) string {
	methods, ok := required.Underlying().(*types.Interface)
	if !ok {
		return "" // it doesn't compile
	}
	for want := range methods.Methods() {
		got, index, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), want.Name())
		if method, ok := got.(*types.Func); index != nil && !(ok && types.Identical(method.Signature(), want.Signature())) {
			return want.Name()
		}
	}
	return ""
}

// CanImport reports whether Go's rule for internal packages lets the package at path from import
// the one at path to.
func CanImport(from, to string) bool {
	i := strings.LastIndex("/"+to+"/", "/internal/")
	if i < 0 {
		return true
	}
	parent := strings.TrimSuffix(to[:i], "/")
	return parent == "" || from == parent || strings.HasPrefix(from, parent+"/")
}

// MetaPath is the import path of the package of TypeMeta, ObjectMeta and ListMeta.
const MetaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// MetaField returns the index of the field by which s embeds a type of that package, or -1. The
// field has another name than the type if s embeds an alias.
func MetaField(s *types.Struct, name string) int {
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && IsNamed(f.Type(), MetaPath, name) {
			return i
		}
	}
	return -1
}

// IsNamed reports whether t is the type with this name in the package at path.
func IsNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// Deref returns what t points to, and whether it is a pointer.
func Deref(t types.Type) (types.Type, bool) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return types.Unalias(p.Elem()), true
	}
	return types.Unalias(t), false
}

// String writes a type with the names of packages before those of types.
func String(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// MarshalsItself reports whether the JSON of a type isn't made of its fields.
func MarshalsItself(t types.Type) bool {
	return hasMethod(t, "MarshalJSON", "MarshalText")
}

// UnmarshalsItself reports whether a type isn't decoded field by field from JSON.
func UnmarshalsItself(t types.Type) bool {
	return hasMethod(t, "UnmarshalJSON", "UnmarshalText")
}

// hasMethod reports whether values of a type that have an address have one of some methods.
func hasMethod(t types.Type, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, name)
		_, ok := obj.(*types.Func)
		return ok
	})
}

func invalid(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind() == types.Invalid
	}
	for part := range Parts(t) {
		if invalid(part, seen) {
			return true
		}
	}
	return false
}

// Parts yields the types that t is made of: those of its fields, keys, elements or variables, or
// what it points to. Functions and interfaces have none.
func Parts(t types.Type) iter.Seq[types.Type] {
	return func(yield func(types.Type) bool) {
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for f := range u.Fields() {
				if !yield(f.Type()) {
					return
				}
			}
		case *types.Tuple:
			for v := range u.Variables() {
				if !yield(v.Type()) {
					return
				}
			}
		case *types.Map:
			_ = yield(u.Key()) && yield(u.Elem())
		default:
			if elem, ok := Elem(t); ok {
				yield(elem)
			}
		}
	}
}

// Elem returns what t points to, or the type of its elements.
func Elem(t types.Type) (elem types.Type, ok bool) {
	if u, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return u.Elem(), true
	}
	return nil, false
}
