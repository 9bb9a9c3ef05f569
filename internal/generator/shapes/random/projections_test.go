// SPDX-License-Identifier: Apache-2.0

package random

import (
	"fmt"
	"slices"
	"strings"
)

// projection is a declared projection. If wider isn't empty, it is the name of a projection with
// all fields of this one.
type projection struct {
	name, marker, wider string
	paths               []string
}

// projection returns a random projection of a kind, with at least one field.
func (m *maker) projection(k *kind, n int) projection {
	var paths []string
	for len(paths) == 0 || len(paths) < 8 && m.IntN(6) > 0 {
		path := m.fieldPath(k.fields)
		if path != "" && !slices.ContainsFunc(paths, func(other string) bool { return within(path, other) || within(other, path) }) {
			paths = append(paths, path)
		}
	}
	return declare(fmt.Sprint(k.name, "Part", n), "", paths)
}

func declare(name, wider string, paths []string) projection {
	return projection{name, "+informer:project:name=" + name + ",fields=" + strings.Join(paths, ";"), wider, paths}
}

// narrower returns a projection with some fields of p, at least one.
func (m *maker) narrower(p projection) projection {
	some := m.Perm(len(p.paths))[:1+m.IntN(len(p.paths))]
	var paths []string
	for _, i := range some {
		paths = append(paths, p.paths[i])
	}
	return declare(p.name+"Less", p.name, paths)
}

// within reports whether path is other, or leads into it.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// fieldPath returns a random path to a field that a projection can have, or "".
func (m *maker) fieldPath(t *typ) string {
	path, field, looks := "", "", ""
	var whole *typ
	for {
		if field != "" && whole.isWhole() && (t.kind != "struct" || m.IntN(2) == 0) {
			return path + field
		}
		switch t.kind {
		case "pointer":
			t = t.elem
		case "slice", "array", "map":
			looks += "[*]"
			t = t.elem
		case "struct":
			if len(t.fields) == 0 {
				return ""
			}
			f := t.fields[m.IntN(len(t.fields))]
			path += field + looks
			field, looks, whole, t = "."+f.json(), "", f.t, f.t
		default:
			return ""
		}
	}
}

// isWhole reports whether a projection can have a field of this type as it is: generated code must
// be able to name it, and the types of package random have no methods that copy them.
func (t *typ) isWhole() bool {
	switch t.kind {
	case "struct":
		return t.isKey && !strings.HasPrefix(t.source, "struct")
	case "pointer", "slice", "array", "map":
		return t.elem.isWhole()
	}
	return true
}
