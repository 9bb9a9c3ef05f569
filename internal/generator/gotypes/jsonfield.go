// SPDX-License-Identifier: Apache-2.0

package gotypes

import (
	"go/types"
	"reflect"
	"slices"
	"strings"
)

// Field is a struct field with its name in JSON.
type Field struct {
	Name string
	Var  *types.Var
	Tag  string
	// Through are the embedded structs on the way to the field.
	Through []*types.Var

	tagged bool
}

// Fields returns the fields of a struct visible to encoding/json, level by level. Fields of an
// embedded struct count as the outer struct's own unless a tag names the embedded struct. A name
// nearer to the top hides deeper ones; among equal names on one level, the only one with a tag
// wins, or none.
func Fields(s *types.Struct) []Field {
	type level struct {
		s       *types.Struct
		through []*types.Var
		more    bool // embedded more than once on this level
	}
	var (
		visible []Field
		known   = map[string]bool{}     // names of the levels above
		seen    = map[types.Type]bool{} // embedded types of this level and those above
		next    = []*level{{s: s}}
	)
	for len(next) > 0 {
		current := next
		next = nil
		embedded := map[types.Type]*level{}
		found := map[string][]Field{}
		var names []string
		for _, l := range current {
			for i := range l.s.NumFields() {
				v := l.s.Field(i)
				name, inline := JSONName(v, l.s.Tag(i))
				switch {
				case name == "" && !inline:
				case !inline:
					f := Field{Name: name, Var: v, Tag: l.s.Tag(i), Through: l.through, tagged: hasName(l.s.Tag(i))}
					if found[name] == nil {
						names = append(names, name)
					}
					if found[name] = append(found[name], f); l.more {
						found[name] = append(found[name], f)
					}
				default:
					t, _ := Deref(v.Type())
					switch {
					case embedded[t] != nil:
						embedded[t].more = true
					case !seen[t]:
						embedded[t] = &level{s: t.Underlying().(*types.Struct), through: append(l.through[:len(l.through):len(l.through)], v)}
						next = append(next, embedded[t])
						seen[t] = true
					}
				}
			}
		}
		for _, name := range names {
			if f, ok := dominant(found[name]); ok && !known[name] {
				visible = append(visible, f)
			}
			known[name] = true
		}
	}
	return visible
}

// dominant returns the field visible to encoding/json among fields of one name and level, if any.
func dominant(fields []Field) (f Field, ok bool) {
	if len(fields) == 1 {
		return fields[0], true
	}
	fields = slices.DeleteFunc(fields, func(f Field) bool { return !f.tagged })
	if len(fields) == 1 {
		return fields[0], true
	}
	return Field{}, false
}

// JSONName returns the name of a field in JSON; "" if JSON doesn't have the field, or has the
// fields of an embedded struct instead (inline).
func JSONName(v *types.Var, tag string) (name string, inline bool) {
	value := reflect.StructTag(tag).Get("json")
	if value == "-" {
		return "", false
	}
	name, _, _ = strings.Cut(value, ",")
	if v.Embedded() {
		t, pointer := Deref(v.Type())
		_, isStruct := t.Underlying().(*types.Struct)
		if !v.Exported() && (!isStruct || pointer) {
			return "", false
		}
		if name == "" && isStruct {
			return "", true
		}
	}
	if !v.Exported() {
		return "", false
	}
	if name == "" {
		name = v.Name()
	}
	return name, false
}

func hasName(tag string) bool {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name != ""
}
