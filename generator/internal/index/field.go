// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"go/types"

	"github.com/informer-gen/informer-gen/generator/diag"
)

// promoted returns an error if the name of a field, which an unexported embedded struct may have,
// means another field in Go.
func promoted(from types.Type, field *types.Var, s segment) *textError {
	if obj, _, _ := types.LookupFieldOrMethod(from, true, nil, field.Name()); obj == field {
		return nil
	}
	return textErrorf(s.offset, "%s is field %s of an unexported embedded struct, and in Go the name is that of another field too, so that generated code can't read it: use func with a function that returns the keys", s.name, field.Name())
}

// deref returns what t points to, and whether it is a pointer.
func deref(t types.Type) (types.Type, bool) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return types.Unalias(p.Elem()), true
	}
	return types.Unalias(t), false
}

func typeString(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// fieldOf finds the field that segment means in t, which the path soFar led to.
func fieldOf(t types.Type, soFar string, s segment) (jsonField, *textError) {
	where := soFar
	if where == "" {
		where = typeString(t)
	}
	structure, ok := t.Underlying().(*types.Struct)
	switch {
	case !ok:
		return jsonField{}, textErrorf(s.offset, "%s (%s) has no fields: the path ends there", where, typeString(t))
	case soFar != "" && marshalsItself(t):
		return jsonField{}, textErrorf(s.offset, "%s (%s) writes its JSON itself, so that it has no field %s: use func with a function that returns the keys", where, typeString(t), s.name)
	}
	fields := jsonFields(structure)
	for _, f := range fields {
		if f.name == s.name {
			return f, nil
		}
	}
	names := fieldNames(fields)
	message := fmt.Sprintf("%s has no field %q", where, s.name)
	if soFar != "" {
		message = fmt.Sprintf("%s (%s) has no field %q", where, typeString(t), s.name)
	}
	hint := ""
	for v := range structure.Fields() {
		if v.Name() == s.name && !v.Exported() {
			message = fmt.Sprintf("field %s of %s is unexported, so it isn't part of the API", s.name, typeString(t))
			return jsonField{}, &textError{offset: s.offset, message: message, allowed: names}
		}
	}
	for _, f := range fields {
		if f.v.Name() == s.name {
			hint = fmt.Sprintf(", did you mean %s? (paths are made of JSON names)", f.name)
		}
	}
	if hint == "" {
		hint = diag.DidYouMean(s.name, names)
	}
	return jsonField{}, &textError{offset: s.offset, message: message + hint, allowed: names}
}

// marshalsItself reports whether the JSON of a type isn't made of its fields.
func marshalsItself(t types.Type) bool {
	for _, method := range []string{"MarshalJSON", "MarshalText"} {
		obj, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
		if _, ok := obj.(*types.Func); ok {
			return true
		}
	}
	return false
}

// fieldNames returns what can stand in a path, in the order of the struct.
func fieldNames(fields []jsonField) []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range fields {
		if !seen[f.name] {
			seen[f.name] = true
			names = append(names, f.name)
		}
	}
	return names
}
