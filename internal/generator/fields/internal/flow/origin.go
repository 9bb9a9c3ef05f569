// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// origin is one thing that a value may be, point to, or contain. Equal origins are one pointer.
type origin struct {
	// kind is the object's kind; nil if unknown.
	kind *types.Named
	// path locates the part in the object, and typ is the part's type without pointers; nil for an
	// object of an unknown kind.
	path string
	typ  types.Type
	// named is the projection's path to the part: keys and entries come with the map.
	named string
	// up is the part around this one; nil for a whole object.
	up *origin
	// cache means the value hands out such objects and is none itself.
	cache bool
	// fn isn't nil if the value is this function, with a receiver if method is set. The fields
	// above are unset then, as with unfollowed and dynamic.
	fn     *ssa.Function
	method bool
	// id numbers the origins; unset in keys of origins.interned.
	id int
	// unfollowedResults means the value comes from unfollowed code: a function, or something with
	// methods.
	unfollowed bool
	// dynamic isn't nil if the value is an interface that holds a value of this type. fieldsKnown
	// means that the contents of its fields are known more exactly.
	dynamic     types.Type
	fieldsKnown bool
}

// object reports whether t is an object, or a part of one.
func (t *origin) object() bool { return t.fn == nil && !t.cache && !t.unfollowed && t.dynamic == nil }

func (t *origin) whole() bool { return t.object() && t.up == nil }

// origins interns origins.
type origins struct {
	interned map[origin]*origin
	byID     []*origin
}

func (m *origins) get(t origin) *origin {
	made := m.interned[t]
	if made == nil {
		made = &t
		m.interned[t] = made
		made.id = len(m.byID)
		m.byID = append(m.byID, made)
	}
	return made
}

// root returns an object of a kind; of an unknown one for nil.
func (m *origins) root(kind *types.Named) *origin {
	if kind == nil {
		return m.unknown()
	}
	return m.get(origin{kind: kind, typ: kind})
}

// cache returns a source of objects of a kind; of an unknown one for nil.
func (m *origins) cache(kind *types.Named) *origin { return m.get(origin{kind: kind, cache: true}) }

func (m *origins) unknown() *origin { return m.get(origin{}) }

func (m *origins) function(fn *ssa.Function, method bool) *origin {
	return m.get(origin{fn: fn, method: method})
}

// field returns field i of the struct t; nil if the field's type already contains t, since the
// paths would never end.
func (m *origins) field(t *origin, s *types.Struct, i int) *origin {
	v := s.Field(i)
	segment := jsonSegment(v, s.Tag(i))
	if strings.HasPrefix(segment, ".(") {
		return m.part(t, segment, "", v.Type())
	}
	return m.part(t, segment, segment, v.Type())
}

// element returns an element of the list or map t, at the key if there is one.
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

// jsonSegment returns a field's segment of a path: a dot and its JSON name, or "" for an inlined
// struct. A field absent from JSON has its Go name in parentheses.
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
