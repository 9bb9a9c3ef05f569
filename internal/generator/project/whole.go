// SPDX-License-Identifier: Apache-2.0

package project

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// whole returns the value for a type that the projection takes over unchanged.
func (b *builder) whole(t types.Type, n *node) *model.Value {
	b.out.Deprecated = b.out.Deprecated || b.reader.docs.IsTypeDeprecated(t)
	v, why := copyOf(t, nil)
	if why == "" {
		why = b.setTypes(v, t)
	}
	if why != "" {
		b.failNode(n, why)
	}
	return v
}

func (b *builder) failNode(n *node, why string) {
	b.fail(n.value, jsonpath.Errorf(n.last, "a projection can't have %s: %s", n.value.Text, why))
}

func (b *builder) setTypes(v *model.Value, t types.Type) (why string) {
	if v.Type, why = b.expression(t); why == "" && v.Elem != nil {
		elem, _ := gotypes.Elem(t)
		why = b.setTypes(v.Elem, elem)
	}
	return why
}

// expression returns a type as generated code names it, or why it can't.
func (b *builder) expression(t types.Type) (e []model.GoType, why string) {
	prefixed := func(prefix string, elem types.Type) ([]model.GoType, string) {
		e, why := b.expression(elem)
		return append([]model.GoType{{Name: prefix}}, e...), why
	}
	switch t := t.(type) {
	case *types.Basic:
		if t.Kind() == types.Invalid {
			return nil, "its type doesn't compile"
		}
		return []model.GoType{{Name: t.Name()}}, ""
	case *types.Pointer:
		return prefixed("*", t.Elem())
	case *types.Slice:
		return prefixed("[]", t.Elem())
	case *types.Array:
		return prefixed(fmt.Sprintf("[%d]", t.Len()), t.Elem())
	case *types.Map:
		key, why := prefixed("map[", t.Key())
		if why != "" {
			return nil, why
		}
		elem, why := prefixed("]", t.Elem())
		return append(key, elem...), why
	case *types.Interface:
		if t.Empty() {
			return []model.GoType{{Name: "any"}}, ""
		}
	case *types.Alias:
		if obj := t.Obj(); t.TypeArgs().Len() == 0 && b.unnameable(obj) == "" {
			return []model.GoType{goType(obj)}, ""
		}
		return b.expression(types.Unalias(t))
	case *types.Named:
		return b.named(t)
	}
	return nil, fmt.Sprintf("its type %s has no name, so generated code can't name it: select its fields, or declare a type for it", gotypes.String(t))
}

func (b *builder) named(t *types.Named) (e []model.GoType, why string) {
	if why := b.unnameable(t.Obj()); why != "" {
		return nil, why
	}
	e = []model.GoType{goType(t.Obj())}
	separator := "["
	for argument := range t.TypeArgs().Types() {
		of, why := b.expression(argument)
		if why != "" {
			return nil, why
		}
		e = append(append(e, model.GoType{Name: separator}), of...)
		separator = ", "
	}
	if t.TypeArgs().Len() > 0 {
		e = append(e, model.GoType{Name: "]"})
	}
	return e, ""
}

// unnameable returns why generated code can't name a type; "" if it can.
func (b *builder) unnameable(obj *types.TypeName) string {
	switch {
	case obj.Pkg() == nil:
		return ""
	case !obj.Exported():
		return "its type " + gotypes.String(obj.Type()) + " is unexported, so generated code can't name it"
	case !gotypes.CanImport(b.reader.output, obj.Pkg().Path()):
		return "its type " + gotypes.String(obj.Type()) + " comes from an internal package, which the output can't import"
	case obj.Parent() != obj.Pkg().Scope():
		return "its type " + gotypes.String(obj.Type()) + " isn't declared at the top of its package"
	}
	return ""
}

func goType(obj *types.TypeName) model.GoType {
	if obj.Pkg() == nil {
		return model.GoType{Name: obj.Name()}
	}
	return model.GoType{Path: obj.Pkg().Path(), Package: obj.Pkg().Name(), Name: obj.Name()}
}

const (
	deepCopyInto = "DeepCopyInto"
	deepCopy     = "DeepCopy"
)

// copyOf returns how to copy a value of a type, or why that is impossible. outer are the enclosing
// types copied piece by piece.
func copyOf(t types.Type, outer []types.Type) (v *model.Value, why string) {
	v = &model.Value{Plain: isPlain(t, map[types.Type]bool{})}
	if v.Plain {
		return v, ""
	}
	if v.Copy = copyMethod(t); v.Copy != "" {
		return v, ""
	}
	if slices.ContainsFunc(outer, func(o types.Type) bool { return types.Identical(o, t) }) {
		return v, fmt.Sprintf("its type %s contains itself and has no method DeepCopy: let controller-gen object or deepcopy-gen write it first", gotypes.String(t))
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		v.Pointer = true
	case *types.Slice:
	case *types.Array:
		v.Array = true
	case *types.Map:
		v.Map = true
	case *types.Struct:
		return v, fmt.Sprintf("its type %s refers to other values and has no method DeepCopyInto: select its fields, or let controller-gen object or deepcopy-gen write it first", gotypes.String(t))
	case *types.Interface:
		if u.Empty() {
			return v, ""
		}
		return v, fmt.Sprintf("values of type %s can't be copied", gotypes.String(t))
	default:
		return v, fmt.Sprintf("values of type %s can't be copied", gotypes.String(t))
	}
	elem, _ := gotypes.Elem(t)
	v.Elem, why = copyOf(elem, append(outer, t))
	return v, why
}

// isPlain reports whether an assignment copies all of a value.
func isPlain(t types.Type, seen map[types.Type]bool) bool {
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" && n.Obj().Name() == "Time" {
		return true // its pointer target never changes
	}
	if seen[t] {
		return true
	}
	seen[t] = true
	switch t.Underlying().(type) {
	case *types.Basic, *types.Array, *types.Struct:
		for part := range gotypes.Parts(t) {
			if !isPlain(part, seen) {
				return false
			}
		}
		return true
	}
	return false
}

func copyMethod(t types.Type) string {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok {
		return ""
	}
	for method := range named.Methods() {
		s := method.Signature()
		switch method.Name() {
		case deepCopyInto:
			if _, byPointer := s.Recv().Type().(*types.Pointer); byPointer && s.Params().Len() == 1 && s.Results().Len() == 0 {
				return deepCopyInto
			}
		case deepCopy:
			if s.Params().Len() == 0 && s.Results().Len() == 1 && types.Identical(s.Results().At(0).Type(), named) {
				return deepCopy
			}
		}
	}
	return ""
}
