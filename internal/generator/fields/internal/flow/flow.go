// SPDX-License-Identifier: Apache-2.0

// Package flow follows API objects through a program, from caches to the uses of their fields.
//
// It works on the program in SSA form. Each value has a vertex, and origins move between vertices
// as values do in the program: an origin at a vertex means the value may be, point to or contain a
// certain part of an object. The analysis knows nothing else of values; above all, it ignores the
// order of statements and the callers of a function. A field of a struct type is one vertex for all
// structs of the type. A pointer shares its target's vertex; a list, map or channel shares one
// vertex with its contents.
//
//	handlers, listers ─▶ origin Pod ─▶ .Spec ─▶ origin Pod .spec ─▶ .NodeName ─▶ a read
//	                         └─▶ DeepCopy, assignments, calls, closures … ─▶ origin Pod
//	                                      └─▶ unfollowed code ─▶ an escape
//
// Unfollowed code is code whose function bodies are not analyzed. Whatever comes from a cache and
// reaches such code escapes there, and is reported:
//
//   - an object or a part of one, also in a struct, a list or a map, and behind an interface;
//   - all objects of a lister, a store, an informer or a client;
//   - results of functions, and of methods of values, callable from there.
//
// It gets there as an argument, through the code's variables, structs, maps or lists, as a result
// of a function called there, or by panic. Nothing escapes into code with known behavior: known
// lists containers and functions that read a few fields. Clients write the objects passed to them.
// The packages of caches hand out the contents of their caches, call their function arguments with
// those, and keep the results.
//
// So the analysis reports too many reads rather than too few. It misses some only where
//
//   - code outside the program calls it with values made nowhere in the program;
//   - a program circumvents Go's types by package unsafe or assembly;
//   - unfollowed code has a cache of its own, not named in the types of its functions.
package flow

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

func (a *analysis) addTypes(p *types.Package) {
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

func (a *analysis) addRoot(p *ssa.Package) {
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

// run follows everything until nothing new turns up. Calls without a callee are left only once all
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
		if !a.flowBack() && !a.callUnresolved() {
			return
		}
	}
}
