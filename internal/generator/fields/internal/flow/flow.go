// SPDX-License-Identifier: Apache-2.0

// Package flow follows API objects through a program, from where it has them from a cache to where
// it uses their fields.
//
// It works on the program in SSA form. Each value has a vertex, and origins go from vertex to
// vertex as values do in the program: an origin means that the value may be, point to or contain a
// certain part of an object. Nothing else is known of values; above all, neither the order of
// statements nor who calls a function makes a difference. A field of a struct type is one vertex
// for all structs of that type, and a list, map or channel has one vertex with all that is in it.
//
//	handlers, listers ─▶ origin Pod ─▶ .Spec ─▶ origin Pod .spec ─▶ .NodeName ─▶ a read
//	                         └─▶ DeepCopy, assignments, calls, closures … ─▶ origin Pod
//	                                      └─▶ code that isn't looked into ─▶ an escape
//
// Whatever comes from a cache and goes to code that isn't looked into escapes there, and is told:
//
//   - an object or a part of one, also in a struct, a list or a map, and behind an interface;
//   - all objects that a lister, a store, an informer or a client hands out;
//   - what functions return, and methods of values, that such code can call.
//
// It goes there as an argument, by a variable, a struct, a map or a list that such code has, as a
// result of a function that it calls, and by panic. There is no escape where it is known what the
// code does: known lists functions that read some fields, and containers. Clients write what they
// get. The packages of caches hand out what their caches hold, call with it what they are given,
// and keep what that returns.
//
// So more is said to be read than is. Less is, only where
//
//   - code outside of it calls the program with values that nothing in the program makes;
//   - a program gets around Go's types by package unsafe or assembly;
//   - code that isn't looked into has a cache of its own, of which no type of its functions speaks.
package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// learn takes in the API objects of a package.
func (a *analysis) learn(p *types.Package) {
	scope := p.Scope()
	for _, name := range scope.Names() {
		if t, ok := scope.Lookup(name).(*types.TypeName); ok && !t.IsAlias() {
			if kind, ok := isObject(t.Type()); ok {
				a.types.addAPI(kind)
			}
		}
	}
	if meta, ok := scope.Lookup("ObjectMeta").(*types.TypeName); ok && p.Path() == gotypes.MetaPath {
		a.objectMeta = meta.Type()
	}
}

// enter reaches all functions and methods of a package.
func (a *analysis) enter(p *ssa.Package) {
	for _, member := range p.Members {
		switch member := member.(type) {
		case *ssa.Function:
			a.enterFunction(member)
		case *ssa.Type:
			t := member.Type()
			if n, ok := t.(*types.Named); !ok || n.TypeParams().Len() > 0 || isInterface(n) {
				continue
			}
			for sel := range a.prog.MethodSets.MethodSet(types.NewPointer(t)).Methods() {
				if len(sel.Index()) == 1 { // its own
					a.enterFunction(a.prog.MethodValue(sel))
				}
			}
		}
	}
}

func (a *analysis) enterFunction(fn *ssa.Function) {
	if fn != nil && fn.TypeParams().Len() == 0 {
		a.reach(fn)
	}
}

// run follows everything until there is nothing new. Calls without a callee are left only when all
// callees are known.
func (a *analysis) run() {
	for {
		for len(a.bodies) > 0 || len(a.work) > 0 {
			a.settle()
			if last := len(a.bodies) - 1; last >= 0 {
				fn := a.bodies[last]
				a.bodies = a.bodies[:last]
				a.body(fn)
			}
		}
		if !a.shared() && !a.unresolved() {
			return
		}
	}
}
