// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/types"
	"reflect"
	"strings"
)

// jsonField is a field of a struct under its name in JSON.
type jsonField struct {
	name string
	v    *types.Var
	// through are the embedded structs on the way to the field.
	through []*types.Var

	tagged bool
}

// jsonFields returns the fields of a struct that encoding/json sees, in the order of the struct: those of embedded
// structs count as the struct's own unless a tag gives the embedded struct a name, a name nearer to the top hides one
// below it, and among two on one level the one with a tag wins, or none.
func jsonFields(s *types.Struct) []jsonField {
	type level struct {
		s       *types.Struct
		through []*types.Var
	}
	var (
		all  []jsonField
		best = map[string]int{} // position in all, or -1 for names that are ambiguous
		seen = map[*types.Struct]bool{s: true}
		next = []level{{s: s}}
	)
	for len(next) > 0 {
		current := next
		next = nil
		var found []jsonField
		for _, l := range current {
			for i := range l.s.NumFields() {
				v := l.s.Field(i)
				name, inline, ok := jsonName(v, l.s.Tag(i))
				if !ok {
					continue
				}
				if !inline {
					found = append(found, jsonField{name: name, v: v, through: l.through, tagged: name != v.Name() || hasName(l.s.Tag(i))})
					continue
				}
				t, _ := deref(v.Type())
				if embedded, ok := t.Underlying().(*types.Struct); ok && !seen[embedded] {
					seen[embedded] = true
					next = append(next, level{embedded, append(l.through[:len(l.through):len(l.through)], v)})
				}
			}
		}
		atThisLevel := map[string]int{}
		for _, f := range found {
			if _, hidden := best[f.name]; hidden {
				if i, here := atThisLevel[f.name]; here {
					switch {
					case f.tagged && !all[i].tagged:
						all[i] = f
					case f.tagged == all[i].tagged:
						best[f.name] = -1
					}
				}
				continue
			}
			all = append(all, f)
			best[f.name] = len(all) - 1
			atThisLevel[f.name] = len(all) - 1
		}
	}
	visible := all[:0]
	for i, f := range all {
		if best[f.name] == i {
			visible = append(visible, f)
		}
	}
	return visible
}

// jsonName returns the name of a field in JSON, or that the fields of an embedded struct take its place. ok is false
// for fields that JSON doesn't see.
func jsonName(v *types.Var, tag string) (name string, inline, ok bool) {
	value := reflect.StructTag(tag).Get("json")
	if value == "-" {
		return "", false, false
	}
	name, _, _ = strings.Cut(value, ",")
	if v.Embedded() {
		t, pointer := deref(v.Type())
		_, isStruct := t.Underlying().(*types.Struct)
		if !v.Exported() && (!isStruct || pointer) {
			return "", false, false
		}
		if name == "" && isStruct {
			return "", true, true
		}
	}
	if !v.Exported() {
		return "", false, false
	}
	if name == "" {
		name = v.Name()
	}
	return name, false, true
}

func hasName(tag string) bool {
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	return name != ""
}
