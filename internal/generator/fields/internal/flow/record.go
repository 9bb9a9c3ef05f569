// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// How is the way in which a program uses a part of an object.
type How string

// The ways of use. All except Read and Present use everything in a part.
const (
	// Read means that a value is read: a string, a number, a list of strings.
	Read How = "read"
	// Present means that the program checks whether the part is there, or how many elements it has,
	// and reads nothing in it.
	Present How = "present"
	// Whole means the whole part is compared or copied.
	Whole How = "whole"
	// Recursive means the part's type contains itself, so paths into it would never end.
	Recursive How = "recursive"
	// WrittenBack means the part is sent to the API server.
	WrittenBack How = "written back"
	// Unfollowed means the part goes to unfollowed code, which may read all of it.
	Unfollowed How = "not followed"
)

// Use is a place where a program uses a part of an object.
type Use struct {
	// Path locates the part in the object: JSON names behind dots, [*] behind lists and maps, or
	// ['key']; "" is the whole object.
	Path string
	// Field is the projection's path to the part, without keys and without a trailing [*]; "" for
	// a whole object.
	Field string
	How   How
	Pos   token.Pos
	// Why says where the part goes, if How isn't Read or Present.
	Why string
}

// Kind is a kind of objects a program gets from a cache.
type Kind struct {
	Type *types.Named
	// From are the places where the program gets the objects, sorted.
	From []token.Pos
	// Uses are sorted by path and position.
	Uses []Use
}

// Found describes a program's use of cached objects.
type Found struct {
	// Kinds are sorted by package and name.
	Kinds []Kind
	// Unknown are uses of objects of an undetermined kind, perhaps any of the kinds, sorted by path
	// and position.
	Unknown []Use
}

type record struct {
	uses map[*types.Named]map[useKey]bool // by kind; nil for an unknown one
	from map[*types.Named]map[token.Pos]bool
}

// found notes that objects of a kind come from a cache. It ignores an unknown kind, nil.
func (r *record) found(kind *types.Named, pos token.Pos) {
	if kind == nil {
		return
	}
	if r.from[kind] == nil {
		r.from[kind] = map[token.Pos]bool{}
	}
	r.from[kind][pos] = true
}

// useKey is a compact Use: a large program has hundreds of thousands.
type useKey struct {
	of  *origin
	why string
	pos token.Pos
	how How
}

func (r *record) use(o *origin, how How, pos token.Pos, why string) {
	if o == nil || !o.object() {
		return
	}
	if r.uses[o.kind] == nil {
		r.uses[o.kind] = map[useKey]bool{}
	}
	r.uses[o.kind][useKey{o, why, pos, how}] = true
}

func (r *record) read(o *origin, pos token.Pos) { r.use(o, Read, pos, "") }

// present notes a check for the presence of o. Whole objects are always present.
func (r *record) present(o *origin, pos token.Pos) {
	switch {
	case o.whole():
	case isPlain(o.typ):
		r.read(o, pos)
	default:
		r.use(o, Present, pos, "")
	}
}

func (r *record) escape(o *origin, pos token.Pos, how How, why string) {
	if o.object() && o.typ != nil && isPlain(o.typ) {
		r.read(o, pos)
		return
	}
	r.use(o, how, pos, why)
}

func (r *record) kinds() Found {
	var kinds []Kind
	for kind, places := range r.from {
		k := Kind{Type: kind}
		for pos := range places {
			k.From = append(k.From, pos)
		}
		slices.Sort(k.From)
		k.Uses = sorted(r.uses[kind])
		kinds = append(kinds, k)
	}
	slices.SortFunc(kinds, func(a, b Kind) int {
		return cmp.Or(strings.Compare(a.Type.Obj().Pkg().Path(), b.Type.Obj().Pkg().Path()), strings.Compare(a.Type.Obj().Name(), b.Type.Obj().Name()))
	})
	return Found{kinds, sorted(r.uses[nil])}
}

// sorted returns uses by path and position. Different parts of an object may have the same path.
func sorted(found map[useKey]bool) []Use {
	uses := make([]Use, 0, len(found))
	for u := range found {
		field := u.of.named
		for strings.HasSuffix(field, "[*]") {
			field = strings.TrimSuffix(field, "[*]")
		}
		uses = append(uses, Use{u.of.path, field, u.how, u.pos, u.why})
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.How, b.How), strings.Compare(a.Why, b.Why))
	})
	return slices.Compact(uses)
}
