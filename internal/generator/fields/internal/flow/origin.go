// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// origin is one thing that a value may be, point to, or contain. Each is made once, so that
// pointers are compared.
type origin struct {
	// kind is that of the object; nil if it isn't known.
	kind *types.Named
	// path is where in the object the part stands, and typ its type without pointers. Of an object
	// of an unknown kind, typ is nil.
	path string
	typ  types.Type
	// named is the path by which a projection has the part: keys and entries are had with the whole
	// map.
	named string
	// up is the part that this one is a field or an element of; nil for a whole object.
	up *origin
	// cache means that the value isn't such objects, but hands them out.
	cache bool
	// fn isn't nil if the value is this function, with a receiver if method is set; then nothing
	// above is set.
	fn     *ssa.Function
	method bool
	// id is the number of the origin; it isn't set in keys of origins.made.
	id int
	// foreign means that the value is of code that isn't looked into: a function, or something with
	// methods. Then nothing above is set.
	foreign bool
	// made isn't nil if the value is an interface in which a value of this type is; bare means that
	// what is in its fields is known better. Then nothing above is set.
	made types.Type
	bare bool
}

// object reports whether t is an object, or a part of one.
func (t *origin) object() bool { return t.fn == nil && !t.cache && !t.foreign && t.made == nil }

// whole reports whether t is an object, and not a part of it.
func (t *origin) whole() bool { return t.object() && t.up == nil }

// origins makes origins.
type origins struct {
	made map[origin]*origin
	byID []*origin
}

func (m *origins) get(t origin) *origin {
	made := m.made[t]
	if made == nil {
		made = &t
		m.made[t] = made
		made.id = len(m.byID)
		m.byID = append(m.byID, made)
	}
	return made
}

// root is an object of a kind, nil for one that isn't known.
func (m *origins) root(kind *types.Named) *origin {
	if kind == nil {
		return m.unknown()
	}
	return m.get(origin{kind: kind, typ: kind})
}

// cache is what hands out objects of a kind, nil for one that isn't known.
func (m *origins) cache(kind *types.Named) *origin { return m.get(origin{kind: kind, cache: true}) }

// unknown is an object of a kind that isn't known.
func (m *origins) unknown() *origin { return m.get(origin{}) }

func (m *origins) function(fn *ssa.Function, method bool) *origin {
	return m.get(origin{fn: fn, method: method})
}

// field is the i-th field of a struct that t is; nil if the field is of a type that has contained
// t before: then there is no end to the paths.
func (m *origins) field(t *origin, s *types.Struct, i int) *origin {
	v := s.Field(i)
	segment := jsonSegment(v, s.Tag(i))
	if strings.HasPrefix(segment, ".(") {
		return m.part(t, segment, "", v.Type())
	}
	return m.part(t, segment, segment, v.Type())
}

// element is an element of the list or map that t is, at the key if there is one.
func (m *origins) element(t *origin, key *ssa.Const) *origin {
	segment := "[*]"
	if key != nil && key.Value != nil {
		text := key.Value.ExactString()
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		segment = "['" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "']"
	}
	switch u := t.typ.Underlying().(type) {
	case *types.Slice:
		return m.part(t, "[*]", "[*]", u.Elem())
	case *types.Array:
		return m.part(t, "[*]", "[*]", u.Elem())
	case *types.Map:
		return m.part(t, segment, "[*]", u.Elem())
	}
	return nil
}

// keys are the keys of the map that t is.
func (m *origins) keys(t *origin) *origin {
	return m.part(t, "[keys]", "[*]", t.typ.Underlying().(*types.Map).Key())
}

func (m *origins) part(t *origin, segment, named string, typ types.Type) *origin {
	typ = deref(typ)
	if _, ok := typ.(*types.Named); ok {
		for up := t; up != nil; up = up.up {
			if up.typ != nil && types.Identical(up.typ, typ) {
				return nil
			}
		}
	}
	return m.get(origin{kind: t.kind, path: t.path + segment, named: t.named + named, typ: typ, up: t})
}

// jsonSegment is what a field adds to a path: its name in JSON behind a dot, or "" for a struct
// whose fields take its place. A field that JSON doesn't have stands under its name in Go, in
// parentheses.
func jsonSegment(v *types.Var, tag string) string {
	name, inline := gotypes.JSONName(v, tag)
	switch {
	case inline:
		return ""
	case name == "":
		return ".(" + v.Name() + ")"
	case strings.ContainsAny(name, ".['\""):
		return "['" + name + "']"
	}
	return "." + name
}
