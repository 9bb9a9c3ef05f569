// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// How is what a program does with a part of an object.
type How string

// The ways of use. Those but Read and Present use all that is in a part.
const (
	// Read means that the value is read: a string, a number, a list of strings.
	Read How = "read"
	// Present means that the program looks whether the part is there, or how many elements it has,
	// and reads nothing in it.
	Present How = "present"
	// Whole means that it is compared or copied as a whole.
	Whole How = "whole"
	// Recursive means that its type contains itself, so that there is no end to the paths.
	Recursive How = "recursive"
	// WrittenBack means that it is sent to the API server.
	WrittenBack How = "written back"
	// Unfollowed means that it goes to code that isn't looked into: all of it may be read there.
	Unfollowed How = "not followed"
)

// Use is a place where a program uses a part of an object.
type Use struct {
	// Path is where the part stands in the object: JSON names behind dots, [*] behind lists and
	// maps, or ['key']; "" is the whole object.
	Path string
	// Field is the field that a projection needs for it, as a path without a key and without [*] at
	// its end; "" for a whole object.
	Field string
	How   How
	Pos   token.Pos
	// Why is what it goes to, in words, if How isn't Read or Present.
	Why string
}

// Kind is a kind of objects that a program has from a cache.
type Kind struct {
	Type *types.Named
	// From are the places where the objects come from, sorted.
	From []token.Pos
	// Uses are sorted by path and position.
	Uses []Use
}

// Found is what a program does with objects of caches.
type Found struct {
	// Kinds are sorted by package and name.
	Kinds []Kind
	// Unknown are uses of objects of which it couldn't be found out which kind they are of, sorted
	// by path and position. Each may be of any of the kinds.
	Unknown []Use
}

// record collects what is found out.
type record struct {
	uses map[*types.Named]map[used]bool // by kind, nil for those of an unknown one
	from map[*types.Named]map[token.Pos]bool
}

// found notes that objects of a kind come from a cache; nil if the kind isn't known.
func (r *record) found(kind *types.Named, pos token.Pos) {
	if kind == nil {
		return
	}
	if r.from[kind] == nil {
		r.from[kind] = map[token.Pos]bool{}
	}
	r.from[kind][pos] = true
}

// used is a Use in less memory: a large program has hundreds of thousands.
type used struct {
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
		r.uses[o.kind] = map[used]bool{}
	}
	r.uses[o.kind][used{o, why, pos, how}] = true
}

func (r *record) read(o *origin, pos token.Pos) { r.use(o, Read, pos, "") }

// present notes that the program looks whether o is there. An object always is.
func (r *record) present(o *origin, pos token.Pos) {
	switch {
	case o.whole():
	case isPlain(o.typ):
		r.read(o, pos)
	default:
		r.use(o, Present, pos, "")
	}
}

// escape notes that all of o is used.
func (r *record) escape(o *origin, pos token.Pos, how How, why string) {
	if o.object() && o.typ != nil && isPlain(o.typ) {
		r.read(o, pos)
		return
	}
	r.use(o, how, pos, why)
}

// kinds returns all that is known.
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
func sorted(found map[used]bool) []Use {
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
