// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Methods that code may call that isn't looked into.

// enterMethods reaches the methods of a value that becomes an interface: fmt, encoding/json and
// others look for them there.
func (a *analysis) enterMethods(v ssa.Value) {
	for sel := range a.prog.MethodSets.MethodSet(v.Type()).Methods() {
		if !sel.Obj().Exported() {
			continue
		}
		fn := a.prog.MethodValue(sel)
		if fn != nil && isWrapper(fn) {
			fn = a.prog.FuncValue(sel.Obj().(*types.Func).Origin())
		}
		if fn == nil || len(fn.Blocks) == 0 || fn.TypeParams().Len() > 0 {
			continue
		}
		a.reach(fn)
		a.edge(a.vertex(v), a.vertex(fn.Params[0]))
	}
}

// exposure is an interface that has what is in another interface, or a value.
type exposure struct {
	to, from *vertex
	i        *types.Interface
}

// expose notes that what is in an interface comes to be in another one.
func (a *analysis) expose(to, from ssa.Value) {
	n := a.component(to, 0)
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

// exposeMethods gives an interface the methods of t, if it may have a t.
func (a *analysis) exposeMethods(e exposure, t types.Type) {
	if a.types.isAPI(t) || !types.Implements(t, e.i) {
		return
	}
	for m := range e.i.Methods() {
		fn := a.method(t, m)
		if fn == nil || len(fn.Blocks) == 0 || len(fn.Params) < 2 || a.follows(m.Pkg()) {
			continue
		}
		a.edge(e.from, a.vertex(fn.Params[0]))
		a.add(e.to, a.function(fn, true))
	}
}
