// SPDX-License-Identifier: Apache-2.0

package jsonpath

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// Promoted returns an error if the Go name of a field of t, or of an embedded struct on the way to
// it, selects another field, as it may behind an unexported embedded struct. instead is advice for
// the message.
func Promoted(t types.Type, field gotypes.Field, s Segment, instead string) *Error {
	for _, v := range append(slices.Clone(field.Through), field.Var) {
		if !v.Exported() {
			continue // its fields can be named without it
		}
		if obj, _, _ := types.LookupFieldOrMethod(t, true, nil, v.Name()); obj != v {
			return Errorf(s.Offset, "%s is field %s of an unexported embedded struct, and another field has the same name in Go, so generated code can't read it: %s", s.Name, v.Name(), instead)
		}
		t, _ = gotypes.Deref(v.Type())
	}
	return nil
}

// FieldOf returns the field of t that a segment names; soFar is the path to t. instead is advice
// for a t whose fields differ from its JSON's.
func FieldOf(t types.Type, soFar string, s Segment, instead string) (gotypes.Field, *Error) {
	where := soFar
	if where == "" {
		where = gotypes.String(t)
	}
	structure, ok := t.Underlying().(*types.Struct)
	switch {
	case !ok:
		return gotypes.Field{}, Errorf(s.Offset, "%s (%s) has no fields: the path must end there", where, gotypes.String(t))
	case soFar != "" && gotypes.MarshalsItself(t):
		return gotypes.Field{}, Errorf(s.Offset, "%s (%s) has its own JSON encoding, so it has no field %s: %s", where, gotypes.String(t), s.Name, instead)
	}
	fields := gotypes.Fields(structure)
	for _, f := range fields {
		if f.Name == s.Name {
			return f, nil
		}
	}
	names := FieldNames(fields)
	message := fmt.Sprintf("%s has no field %q", where, s.Name)
	if soFar != "" {
		message = fmt.Sprintf("%s (%s) has no field %q", where, gotypes.String(t), s.Name)
	}
	hint := ""
	for v := range structure.Fields() {
		if v.Name() == s.Name && !v.Exported() {
			message = fmt.Sprintf("field %s of %s is unexported, so it isn't part of the API", s.Name, gotypes.String(t))
			return gotypes.Field{}, &Error{Offset: s.Offset, Message: message, Allowed: names}
		}
	}
	for _, f := range fields {
		if f.Var.Name() == s.Name {
			hint = fmt.Sprintf(", did you mean %s? (paths use JSON names)", f.Name)
		}
	}
	if hint == "" {
		hint = diag.DidYouMean(s.Name, names)
	}
	return gotypes.Field{}, &Error{Offset: s.Offset, Message: message + hint, Allowed: names}
}

// FieldNames returns the names allowed in a path, in the order of the struct.
func FieldNames(fields []gotypes.Field) []string {
	var names []string
	seen := map[string]bool{}
	for _, f := range fields {
		if !seen[f.Name] {
			seen[f.Name] = true
			names = append(names, f.Name)
		}
	}
	return names
}
