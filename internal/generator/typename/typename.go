// SPDX-License-Identifier: Apache-2.0

// Package typename writes Go types as generated code names them.
package typename

import (
	"fmt"
	"go/types"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

// Of returns a type in pieces, as code in the output folder with this import path names it, or why
// it can't.
func Of(t types.Type, output string) (e []model.GoType, why string) {
	prefixed := func(prefix string, elem types.Type) ([]model.GoType, string) {
		e, why := Of(elem, output)
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
	case *types.Struct:
		if t.NumFields() == 0 {
			return []model.GoType{{Name: "struct{}"}}, ""
		}
	case *types.Interface:
		if t.Empty() {
			return []model.GoType{{Name: "any"}}, ""
		}
	case *types.Alias:
		if obj := t.Obj(); t.TypeArgs().Len() == 0 && Unnameable(obj, output) == "" {
			return []model.GoType{goType(obj)}, ""
		}
		return Of(types.Unalias(t), output)
	case *types.Named:
		return named(t, output)
	}
	return nil, fmt.Sprintf("its type %s has no name, so generated code can't name it: select its fields, or declare a type for it", gotypes.String(t))
}

func named(t *types.Named, output string) (e []model.GoType, why string) {
	if why := Unnameable(t.Obj(), output); why != "" {
		return nil, why
	}
	e = []model.GoType{goType(t.Obj())}
	separator := "["
	for argument := range t.TypeArgs().Types() {
		of, why := Of(argument, output)
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

// Unnameable returns why code in the output folder can't name a type; "" if it can.
func Unnameable(obj *types.TypeName, output string) string {
	switch {
	case obj.Pkg() == nil:
		return ""
	case !obj.Exported():
		return "its type " + gotypes.String(obj.Type()) + " is unexported, so generated code can't name it"
	case !gotypes.CanImport(output, obj.Pkg().Path()):
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
