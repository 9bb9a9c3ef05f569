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
type How int

const (
	// Read means that the value at the path is read: a string, a number, all of a list of strings.
	Read How = iota
	// Present means that the program only looks whether something is there, or how many.
	Present
	// Whole means that all below the path is used at once: it is compared, or copied into another
	// object.
	Whole
	// Recursive means that the path has no end, because a type contains itself.
	Recursive
	// WrittenBack means that a client writes it to the API server.
	WrittenBack
	// Unfollowed means that it goes to code that isn't looked into: all below the path may be read
	// there.
	Unfollowed
)

// Use is a place where a program uses a part of an object.
type Use struct {
	// Path is where the part stands in the object: JSON names behind dots, [*] behind lists and
	// maps, or ['key']; "" is the whole object.
	Path string
	// Field is the field that a projection needs for it, as a path without a key and without [*] at
	// its end; "" for a whole object.
	Field string
	// Type is that of the part, without pointers.
	Type types.Type
	How  How
	Pos  token.Pos
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
		typ := u.of.typ
		if typ == nil {
			typ = types.Typ[types.Invalid]
		}
		field := u.of.named
		for strings.HasSuffix(field, "[*]") {
			field = strings.TrimSuffix(field, "[*]")
		}
		uses = append(uses, Use{u.of.path, field, typ, u.how, u.pos, u.why})
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Pos, b.Pos), cmp.Compare(a.How, b.How), strings.Compare(a.Why, b.Why))
	})
	return slices.Compact(uses)
}

// typeName is a type as code in another package writes it.
func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
