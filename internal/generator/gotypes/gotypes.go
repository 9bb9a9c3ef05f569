// SPDX-License-Identifier: Apache-2.0

// Package gotypes answers questions about Go's types and packages that go/types leaves open.
package gotypes

import (
	"go/types"
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
	for _, method := range []string{"MarshalJSON", "MarshalText"} {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}

func invalid(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Named:
		return invalid(t.Underlying(), seen)
	case *types.Pointer:
		return invalid(t.Elem(), seen)
	case *types.Slice:
		return invalid(t.Elem(), seen)
	case *types.Array:
		return invalid(t.Elem(), seen)
	case *types.Map:
		return invalid(t.Key(), seen) || invalid(t.Elem(), seen)
	case *types.Struct:
		for f := range t.Fields() {
			if invalid(f.Type(), seen) {
				return true
			}
		}
	case *types.Tuple:
		for v := range t.Variables() {
			if invalid(v.Type(), seen) {
				return true
			}
		}
	}
	return false
}
