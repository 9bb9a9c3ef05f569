// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/fields/internal/flow"
	"github.com/informer-gen/informer-gen/internal/generator/load"
)

// Unread is a field of a projection of which the program reads nothing.
type Unread struct {
	// Package is the import path of the projection's package, Name its name there.
	Package, Name string
	// Path is that of the field, as in the projection's declaration.
	Path string
	// Pos is where the field stands in the generated code.
	Pos token.Position
}

// unread returns the fields that nothing reads of the projections in the program's own packages,
// sorted by package, name and path. A use of an object whose kind isn't known may be of any.
func (r *Report) unread(code *load.Code, at *places) {
	byType := map[*types.TypeName]*Kind{}
	for _, k := range r.Kinds {
		byType[k.typ.Obj()] = k
	}
	for _, p := range code.Packages {
		if !p.Root && !p.Main {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			obj, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
			if !ok || obj.IsAlias() {
				continue
			}
			declared := declaredFields(obj.Type())
			uses := r.Unknown
			if k := byType[obj]; k != nil {
				uses = slices.Concat(uses, k.Uses)
			}
			for _, f := range declared {
				if !slices.ContainsFunc(uses, func(u Use) bool { return within(f.path, u.field) || within(u.field, f.path) }) {
					r.Unread = append(r.Unread, Unread{p.Path, name, f.path, at.position(f.v.Pos())})
				}
			}
		}
	}
	slices.SortFunc(r.Unread, func(a, b Unread) int {
		return strings.Compare(a.Package+" "+a.Name+" "+a.Path, b.Package+" "+b.Name+" "+b.Path)
	})
}

// projectedField is a field that the declaration of a projection names.
type projectedField struct {
	path string
	v    *types.Var
}

// declaredFields returns the fields that the declaration of a projection names, as its type has
// them; nil if t is no projection.
func declaredFields(t types.Type) []projectedField {
	n, ok := t.(*types.Named)
	if !ok {
		return nil
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var meta, typed *types.Var
	for v := range s.Fields() {
		switch {
		case v.Embedded() && isProjectedMeta(v.Type()):
			meta = v
		case v.Embedded() && v.Name() == "TypeMeta":
			typed = v
		}
	}
	switch {
	case meta == nil:
		return nil
	case typed != nil && hasAllMetadata(meta.Type(), typed.Type()):
		return append([]projectedField{{".metadata", meta}}, partsOf(n.Obj().Pkg(), s, "", meta)...)
	}
	return partsOf(n.Obj().Pkg(), s, "", nil)
}

// hasAllMetadata reports whether the metadata of a projection has every field of metav1.ObjectMeta,
// which is declared beside metav1.TypeMeta.
func hasAllMetadata(meta, typeMeta types.Type) bool {
	n, ok := types.Unalias(typeMeta).(*types.Named)
	if !ok {
		return false
	}
	whole, ok := n.Obj().Pkg().Scope().Lookup("ObjectMeta").(*types.TypeName)
	if !ok {
		return false
	}
	has := map[string]bool{}
	for v := range meta.Underlying().(*types.Struct).Fields() {
		has[v.Name()] = true
	}
	all, ok := whole.Type().Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for v := range all.Fields() {
		if !has[v.Name()] {
			return false
		}
	}
	return true
}

// isProjectedMeta reports whether t is the metadata of a projection.
func isProjectedMeta(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok || s.NumFields() == 0 {
		return false
	}
	first, ok := types.Unalias(s.Field(0).Type()).(*types.Named)
	return ok && s.Field(0).Embedded() && first.Obj().Name() == "NoMeta" && first.Obj().Pkg().Path() == flow.RuntimePath+"object"
}

// partsOf returns the fields of a struct that was generated in pkg, but for one: those of structs
// that were generated there, too, in their place.
func partsOf(pkg *types.Package, s *types.Struct, path string, but *types.Var) (parts []projectedField) {
	for i := range s.NumFields() {
		v := s.Field(i)
		name, inline := flow.JSONName(v, s.Tag(i))
		if v == but || inline || name == "" {
			continue
		}
		here := path + "." + name
		t := v.Type()
		below := here
		for {
			switch u := types.Unalias(t).(type) {
			case *types.Pointer:
				t = u.Elem()
				continue
			case *types.Slice:
				t, below = u.Elem(), below+each
				continue
			case *types.Array:
				t, below = u.Elem(), below+each
				continue
			case *types.Map:
				t, below = u.Elem(), below+each
				continue
			}
			break
		}
		n, ok := types.Unalias(t).(*types.Named)
		inner, isStruct := t.Underlying().(*types.Struct)
		switch {
		case ok && isStruct && n.Obj().Pkg() == pkg:
			parts = append(parts, partsOf(pkg, inner, below, nil)...)
		case !slices.Contains(always, here):
			parts = append(parts, projectedField{here, v})
		}
	}
	return parts
}
