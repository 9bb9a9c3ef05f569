// SPDX-License-Identifier: Apache-2.0

package fields

import (
	"go/types"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// selection is a choice of fields by JSON name, and of elements by "[*]". A nil selection selects
// everything below it.
type selection map[string]selection

const each = "[*]"

func newSelection(fields []string) selection {
	s := selection{}
	for _, path := range slices.Concat(commonFields, fields) {
		s.add(path)
	}
	return s
}

// add adds the field at a path without keys.
func (s selection) add(path string) {
	for path != "" {
		var name string
		if rest, ok := strings.CutPrefix(path, each); ok {
			name, path = each, rest
		} else if rest, ok := strings.CutPrefix(path, "['"); ok {
			name, path, _ = strings.Cut(rest, "']")
		} else {
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path+".", ".[")
			name, path = path[:end], path[end:]
		}
		below, there := s[name]
		switch {
		case there && below == nil:
			return
		case path == "":
			s[name] = nil
		case !there:
			s[name] = selection{}
		}
		s = s[name]
	}
}

// reduce returns t reduced to its selected parts.
func (s selection) reduce(t types.Type) types.Type {
	if s == nil {
		return t
	}
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		return types.NewPointer(s.reduce(u.Elem()))
	case *types.Slice:
		return types.NewSlice(s[each].reduce(u.Elem()))
	case *types.Array:
		return types.NewArray(s[each].reduce(u.Elem()), u.Len())
	case *types.Map:
		return types.NewMap(u.Key(), s[each].reduce(u.Elem()))
	case *types.Struct:
		var fields []*types.Var
		var tags []string
		for i := range u.NumFields() {
			v, tag := u.Field(i), u.Tag(i)
			below, ok := s, true
			if name, inline := gotypes.JSONName(v, tag); !inline {
				below, ok = s[name]
			}
			if ok {
				fields = append(fields, types.NewField(v.Pos(), v.Pkg(), v.Name(), below.reduce(v.Type()), v.Embedded()))
				tags = append(tags, tag)
			}
		}
		return types.NewStruct(fields, tags)
	}
	return t
}
