// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/container/intsets"
	"golang.org/x/tools/go/ssa"
)

// put passes a value to its storage: through addr, a pointer, list, map or channel. Later stores
// through the stored value come back to it.
func (a *analysis) put(v, addr ssa.Value, pos token.Pos) {
	a.edge(a.vertex(v), a.stored(addr))
	if variable := variableOf(addr); variable != nil && !a.follows(variable.Pkg.Pkg) {
		a.escapeAll(a.vertex(v), pos, "stored in "+variable.String())
	}
	if field, ok := addr.(*ssa.FieldAddr); ok && a.types.isAPI(field.X.Type()) {
		return
	}
	switch v.Type().Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Interface:
		a.puts = append(a.puts, put{v, addr})
	}
}

// variableOf returns the package variable through which v is reached; nil if there is none.
func variableOf(v ssa.Value) *ssa.Global {
	for {
		switch of := v.(type) {
		case *ssa.Global:
			return of
		case *ssa.UnOp:
			v = of.X
		case *ssa.FieldAddr:
			v = of.X
		case *ssa.IndexAddr:
			v = of.X
		case *ssa.Lookup:
			v = of.X
		default:
			return nil
		}
	}
}

// put is a value that can be stored through, and its container.
type put struct{ v, in ssa.Value }

// flowBack passes origins in the container of a value to everything sharing the value, and reports
// whether any were new to the value. It is called once all else is known: then origins from the
// value itself make no difference.
func (a *analysis) flowBack() bool {
	type addition struct {
		v ssa.Value
		o *origin
	}
	var additions []addition
	var missing intsets.Sparse
	var ids []int
	for _, p := range a.puts {
		v, in := a.vertex(p.v), a.vertex(p.in)
		if in.has == nil {
			continue
		}
		missing.Copy(in.has)
		if v.has != nil {
			missing.DifferenceWith(v.has)
		}
		ids = missing.AppendTo(ids[:0])
		for _, id := range ids {
			o := a.byID[id]
			if o.up != nil && v.got(o.up) {
				continue // a copied element
			}
			if n := a.stores[p.v]; o.object() && (n == nil || !n.got(o)) && a.types.holds(v.typ, o) {
				additions = append(additions, addition{p.v, o})
			}
		}
	}
	for _, of := range additions {
		a.add(a.stored(of.v), of.o)
	}
	return len(additions) > 0
}

// storedBehind adds objects to an interface's target that a client fills without knowing their
// kind.
func (a *analysis) storedBehind(n *vertex, made *ssa.MakeInterface) {
	kinds := a.types.objectsIn(made.X.Type())
	a.each(n, func(o *origin) {
		if !o.object() || o.typ != nil {
			return
		}
		for _, kind := range kinds {
			a.found(kind, nearestPos(made))
			a.add(a.stored(made.X), a.root(kind))
		}
	})
}
