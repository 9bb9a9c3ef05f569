// SPDX-License-Identifier: Apache-2.0

package project

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/typename"
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
	if v.Type, why = typename.Of(t, b.reader.output); why == "" && v.Elem != nil {
		elem, _ := gotypes.Elem(t)
		why = b.setTypes(v.Elem, elem)
	}
	return why
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
