// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/types/typeutil"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// deref strips all pointers from t, declared pointer types included. It returns a t that points to
// itself unchanged.
func deref(t types.Type) types.Type {
	var declared []types.Type
	for {
		t = types.Unalias(t)
		p, ok := t.Underlying().(*types.Pointer)
		if !ok || slices.Contains(declared, t) {
			return t
		}
		if _, named := t.(*types.Named); named {
			declared = append(declared, t)
		}
		t = p.Elem()
	}
}

// same reports whether a u, or its target, is a part of type t itself, not a container of it.
func same(u, t types.Type) bool {
	return types.IdenticalIgnoreTags(deref(u).Underlying(), t.Underlying())
}

func isBasic(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() != types.UnsafePointer
}

func isInterface(t types.Type) bool {
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return false
	}
	return types.IsInterface(t)
}

// isObject reports whether t is the struct of an API object: it embeds metav1.TypeMeta, and its
// pointer has the methods of objects.
func isObject(t types.Type) (*types.Named, bool) {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || n.TypeParams().Len() > 0 {
		return nil, false
	}
	s, ok := n.Underlying().(*types.Struct)
	if !ok || s.NumFields() == 0 {
		return nil, false
	}
	typed := false
	for f := range s.Fields() {
		typed = typed || f.Embedded() && f.Name() == "TypeMeta"
	}
	if !typed {
		return nil, false
	}
	for _, name := range []string{"DeepCopyObject", "GetName", "GetResourceVersion"} {
		if _, index, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), name); index == nil {
			return nil, false
		}
	}
	return n, true
}

// IsOpaque reports whether a type has its own form in JSON, such as a time or a quantity. Nothing
// can select parts of it.
func IsOpaque(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	if !ok || isInterface(n) {
		return false
	}
	m, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, n.Obj().Pkg(), "MarshalJSON")
	_, ok = m.(*types.Func)
	return ok
}

// isPlain reports whether a type has no struct in it with selectable parts.
func isPlain(t types.Type) bool { return plainWithin(t, nil) }

// plainWithin is isPlain inside the lists and maps outer.
func plainWithin(t types.Type, outer []types.Type) bool {
	t = deref(t)
	if IsOpaque(t) || slices.ContainsFunc(outer, func(o types.Type) bool { return types.Identical(o, t) }) {
		return true
	}
	outer = append(outer, t)
	if _, ok := t.Underlying().(*types.Basic); ok {
		return true
	}
	elem, ok := gotypes.Elem(t)
	_, channel := t.Underlying().(*types.Chan)
	return ok && !channel && plainWithin(elem, outer)
}

// structs knows which struct types are the same, or convertible into each other.
type structs struct {
	known  map[*types.Struct]*types.Struct
	byType typeutil.Map // *types.Struct by type, without tags
}

// field returns the representative of field i of s, and of all equal structs.
func (k *structs) field(s *types.Struct, i int) *types.Var {
	v := s.Field(i)
	if v.Origin() != v {
		return v.Origin() // of a generic type
	}
	first := k.known[s]
	if first == nil {
		bare := types.NewStruct(slices.Collect(s.Fields()), nil)
		if first, _ = k.byType.At(bare).(*types.Struct); first == nil {
			first = s
			k.byType.Set(bare, s)
		}
		k.known[s] = first
	}
	return first.Field(i)
}

type typeFacts struct {
	api      map[*types.TypeName]bool // structs inside objects
	walked   typeutil.Map             // set of the types seen by addAPI
	heldBy   typeutil.Map             // *reach by type
	objects  typeutil.Map             // []*types.Named by type: results of objectsIn
	yielding typeutil.Map             // bool by type: results of yieldsObjects
}

// held is the set of types that values of a type can hold.
type heldTypes struct {
	anything bool          // an interface, or a function
	types    *typeutil.Map // all types on the way, and their underlying types
}

func (f *typeFacts) held(t types.Type) *heldTypes {
	if r, ok := f.heldBy.At(t).(*heldTypes); ok {
		return r
	}
	r := &heldTypes{types: new(typeutil.Map)}
	r.anything = !f.add(r, t)
	if r.anything {
		r.types = nil
	}
	f.heldBy.Set(t, r)
	return r
}

// add adds the types that values of t can hold to r. It returns false if they can hold anything.
func (f *typeFacts) add(r *heldTypes, t types.Type) bool {
	t = types.Unalias(t)
	if r.types.At(t) != nil {
		return true
	}
	r.types.Set(t, true)
	if f.opaque(t) {
		return true
	}
	r.types.Set(t.Underlying(), true)
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Interface, *types.Signature:
		return false
	}
	for part := range gotypes.Parts(t) {
		if !f.add(r, part) {
			return false
		}
	}
	return true
}

// opaque is IsOpaque for types inside objects; false for other structs with their own form in JSON.
func (f *typeFacts) opaque(t types.Type) bool { return f.walked.At(t) != nil && IsOpaque(t) }

// holds reports whether a value of type u may be, point to, or contain t.
func (f *typeFacts) holds(u types.Type, t *origin) bool {
	if isBasic(u) {
		return false
	}
	switch {
	case t.unfollowed, t.dynamic != nil:
		return holdsInterface(u)
	case f.isCacheType(deref(u)):
		if t.cache && t.kind == nil {
			return len(f.objectsIn(deref(u))) == 0
		}
		return t.cache || t.fn != nil
	}
	r := f.held(u)
	switch {
	case r.anything:
		return true
	case t.fn != nil, t.cache, t.kind == nil && t.typ == nil:
		return false
	}
	return r.types.At(t.typ) != nil || !isBasic(t.typ) && r.types.At(t.typ.Underlying()) != nil
}

// yieldsObjects reports whether a value of type t can yield objects: by being or containing one, by
// a function or method that returns one, or by calling a function with one.
func (f *typeFacts) yieldsObjects(t types.Type) bool {
	if known, ok := f.yielding.At(t).(bool); ok {
		return known
	}
	found := f.yields(t, new(typeutil.Map))
	f.yielding.Set(t, found)
	return found
}

func (f *typeFacts) yields(t types.Type, seen *typeutil.Map) bool {
	t = types.Unalias(t)
	if seen.At(t) != nil || isError(t) {
		return false
	}
	seen.Set(t, true)
	if f.isAPI(t) || f.isCacheType(t) {
		return true
	}
	if n, ok := t.(*types.Named); ok && !isInterface(n) {
		for m := range n.Methods() {
			if m.Exported() && f.yields(m.Type(), seen) {
				return true
			}
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Signature:
		for v := range u.Params().Variables() {
			if takes, ok := v.Type().Underlying().(*types.Signature); ok && f.yields(takes.Params(), seen) {
				return true
			}
		}
		return f.yields(u.Results(), seen)
	case *types.Interface:
		for m := range u.Methods() {
			if f.yields(m.Type(), seen) {
				return true
			}
		}
		return u.NumMethods() == 0 || mayBeObject(t)
	}
	for part := range gotypes.Parts(t) {
		if f.yields(part, seen) {
			return true
		}
	}
	return false
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

func holdsInterface(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Interface, *types.Signature, *types.Tuple:
		return true
	case *types.Pointer:
		_, named := types.Unalias(t).(*types.Named)
		return !named && holdsInterface(u.Elem())
	}
	elem, ok := gotypes.Elem(t)
	return ok && (isInterface(elem) || isFunc(elem))
}
