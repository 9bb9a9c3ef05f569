// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// enterMethods reaches the methods of a value converted to an interface, and of the value's
// contents: fmt, encoding/json and others look for them there.
func (a *analysis) enterMethods(in *ssa.MakeInterface) {
	for _, fn := range a.methodsIn(in.X.Type()) {
		a.reach(fn)
		recv := a.vertex(fn.Params[0])
		a.edge(a.vertex(in.X), recv)
		if _, fields := deref(recv.typ).Underlying().(*types.Struct); !fields && a.contains(in.X.Type()) {
			a.edge(a.contents(in.X.Type()), recv)
		}
	}
}

// methodsIn returns the methods of a value of type t, and of its contents, callable from unfollowed
// code: exported ones, reached through exported fields.
func (a *analysis) methodsIn(t types.Type) []*ssa.Function {
	if found, ok := a.methods.At(t).([]*ssa.Function); ok {
		return found
	}
	var found []*ssa.Function
	var seen typeutil.Map
	var walk func(t, methods types.Type)
	walk = func(t, methods types.Type) {
		t = types.Unalias(t)
		if seen.At(t) != nil || a.types.isAPI(t) || isInterface(t) {
			return
		}
		seen.Set(t, true)
		n, named := t.(*types.Named)
		foreign := named && n.Obj().Pkg() != nil && !a.follows(n.Obj().Pkg())
		if foreign && n.TypeArgs().Len() == 0 {
			return // it knows no types of the program
		}
		for sel := range a.prog.MethodSets.MethodSet(methods).Methods() {
			of := sel.Obj().(*types.Func)
			if recv := of.Signature().Recv().Type(); !of.Exported() || isInterface(recv) || a.types.isAPI(recv) || !a.follows(of.Pkg()) {
				continue
			}
			if fn := a.prog.MethodValue(sel); fn != nil && len(fn.Blocks) > 0 {
				found = append(found, fn)
			}
		}
		if p, ok := t.(*types.Pointer); ok {
			walk(p.Elem(), t)
			return
		}
		within := func(t types.Type) { walk(t, types.NewPointer(t)) }
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			for part := range gotypes.Parts(t) {
				within(part)
			}
			return
		}
		for v := range s.Fields() {
			if foreign || v.Exported() || v.Embedded() {
				within(v.Type())
			}
		}
	}
	walk(t, t)
	a.methods.Set(t, found)
	return found
}

// exposure is an interface that receives the value of another interface, or a concrete value.
type exposure struct {
	to, from *vertex
	i        *types.Interface
}

func (a *analysis) expose(to, from ssa.Value) {
	n := a.component(to, 0)
	switch outer, _ := types.Unalias(from.Type()).(*types.Named); {
	case outer == nil || !isInterface(outer):
	case a.types.isCacheType(outer):
		a.addConverted(outer)
	case !mayBeObject(outer) && (outer.Obj().Pkg() == nil || !a.follows(outer.Obj().Pkg())):
		a.add(n, a.get(origin{unfollowed: true}))
	}
	i, ok := n.typ.Underlying().(*types.Interface)
	if !ok || i.NumMethods() == 0 {
		return
	}
	e := exposure{n, a.vertex(from), i}
	a.exposed = append(a.exposed, e)
	for _, t := range a.converted {
		a.exposeMethods(e, t)
	}
}

func (a *analysis) exposeMethods(e exposure, t types.Type) {
	if a.types.isAPI(t) || !types.Implements(t, e.i) {
		return
	}
	for m := range e.i.Methods() {
		fn := a.method(t, m)
		if fn == nil || len(fn.Blocks) == 0 || a.follows(m.Pkg()) {
			continue
		}
		a.edge(e.from, a.vertex(fn.Params[0]))
		a.add(e.to, a.function(fn, true))
	}
}
