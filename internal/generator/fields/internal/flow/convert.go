// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

func (a *analysis) convert(x ssa.Value, to ssa.Value) {
	n := a.vertex(to)
	a.each(a.vertex(x), func(o *origin) {
		// A conversion from bytes to a string, for instance, loses the object.
		if o.object() && o.typ != nil && !a.types.holds(n.typ, o) {
			a.escape(o, to.Pos(), Unfollowed, "converted to "+gotypes.String(to.Type()))
			return
		}
		a.add(n, o)
	})
}

// makeInterface also notes which methods the interface makes callable.
func (a *analysis) makeInterface(in *ssa.MakeInterface) {
	t := in.X.Type()
	a.predicate(in)
	a.edge(a.vertex(in.X), a.vertex(in))
	a.addConverted(t)
	if values, ok := literal(in.X); ok {
		for _, v := range values {
			a.edge(a.vertex(v), a.vertex(in))
			if a.contains(v.Type()) {
				a.add(a.vertex(in), a.get(origin{dynamic: v.Type()}))
			}
		}
		a.add(a.vertex(in), a.get(origin{dynamic: t, fieldsKnown: true}))
	} else {
		a.add(a.vertex(in), a.get(origin{dynamic: t}))
	}
	a.enterMethods(in)
	if i, ok := in.Type().Underlying().(*types.Interface); ok {
		a.exposeMethods(exposure{a.vertex(in), a.vertex(in.X), i}, t)
	}
}

// addConverted notes a conversion of values of type t to an interface. A t of interface type is a
// lister, a store or the like.
func (a *analysis) addConverted(t types.Type) {
	if a.concrete.At(t) != nil {
		return
	}
	a.concrete.Set(t, true)
	a.converted = append(a.converted, t)
	for _, s := range a.invokes {
		a.callMethodOf(s, t)
	}
	for _, e := range a.exposed {
		a.exposeMethods(e, t)
	}
}

// literal returns the field values of the struct literal v; ok is false if v is no literal, or has
// other uses.
func literal(v ssa.Value) (values []ssa.Value, ok bool) {
	if _, zero := v.(*ssa.Const); zero {
		return nil, true
	}
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return nil, false
	}
	made, ok := load.X.(*ssa.Alloc)
	if !ok {
		return nil, false
	}
	for _, use := range *made.Referrers() {
		switch use := use.(type) {
		case *ssa.DebugRef:
		case *ssa.FieldAddr:
			for _, of := range *use.Referrers() {
				store, ok := of.(*ssa.Store)
				if !ok || store.Addr != use {
					return nil, false
				}
				values = append(values, store.Val)
			}
		default:
			if use != load {
				return nil, false
			}
		}
	}
	return values, true
}

func (a *analysis) assert(in *ssa.TypeAssert) {
	n := a.component(in, 0)
	i, _ := in.AssertedType.Underlying().(*types.Interface)
	a.expose(in, in.X)
	a.each(a.vertex(in.X), func(o *origin) {
		switch {
		case !o.object():
			a.add(n, o)
		case o.typ == nil: // of any kind
			if kind, ok := isObject(deref(in.AssertedType)); ok {
				a.found(kind, in.Pos())
				o = a.root(kind)
			}
			a.add(n, o)
		case i == nil || types.Implements(types.NewPointer(o.typ), i) || !types.IsInterface(in.X.Type()):
			a.add(n, o)
		}
	})
}
