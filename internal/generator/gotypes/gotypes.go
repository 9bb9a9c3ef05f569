// SPDX-License-Identifier: Apache-2.0

// Package gotypes answers questions about Go types and packages beyond go/types.
package gotypes

import (
	"go/types"
	"iter"
	"slices"
	"strings"
)

// Compiles reports whether all parts of t compile.
func Compiles(t types.Type) bool { return !invalid(t, map[types.Type]bool{}) }

// Hidden returns the name of a method in the interface required that n hides behind something else
// of this name, or "". Methods missing from n don't count: those of imported types may be unread.
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

// CanImport reports whether Go's rule for internal packages lets package from import package to.
// Both are import paths.
func CanImport(from, to string) bool {
	i := strings.LastIndex("/"+to+"/", "/internal/")
	if i < 0 {
		return true
	}
	parent := strings.TrimSuffix(to[:i], "/")
	return parent == "" || from == parent || strings.HasPrefix(from, parent+"/")
}

// MetaPath is the import path of TypeMeta, ObjectMeta and ListMeta.
const MetaPath = "k8s.io/apimachinery/pkg/apis/meta/v1"

// MetaField returns the index of the field that embeds a type of package MetaPath in s, or -1. An
// embedded alias gives the field another name than the type's.
func MetaField(s *types.Struct, name string) int {
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && IsNamed(f.Type(), MetaPath, name) {
			return i
		}
	}
	return -1
}

// IsNamed reports whether t is the type called name in the package at path.
func IsNamed(t types.Type, path, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == path
}

// Deref returns the type that t points to, or t itself, without aliases, and whether t is a
// pointer.
func Deref(t types.Type) (types.Type, bool) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return types.Unalias(p.Elem()), true
	}
	return types.Unalias(t), false
}

// String formats a type with package names as qualifiers.
func String(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// MarshalsItself reports whether a method writes the type's JSON, instead of encoding/json field by
// field.
func MarshalsItself(t types.Type) bool {
	return hasMethod(t, "MarshalJSON", "MarshalText")
}

// UnmarshalsItself reports whether a method reads the type's JSON, instead of encoding/json field
// by field.
func UnmarshalsItself(t types.Type) bool {
	return hasMethod(t, "UnmarshalJSON", "UnmarshalText")
}

// hasMethod reports whether addressable values of a type have one of some methods.
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

// Parts yields the types of t's fields, keys, elements, variables or pointer target. Functions and
// interfaces have none.
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

// Elem returns the type of t's pointer target or elements.
func Elem(t types.Type) (elem types.Type, ok bool) {
	if u, ok := t.Underlying().(interface{ Elem() types.Type }); ok {
		return u.Elem(), true
	}
	return nil, false
}
