// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// held queues the body of a function for analysis, once.
func (a *analysis) reach(fn *ssa.Function) *function {
	if f := a.functions[fn]; f != nil {
		return f
	}
	f := &function{}
	a.functions[fn] = f
	a.bodies = append(a.bodies, fn)
	for v := range fn.Signature.Results().Variables() {
		f.results = append(f.results, &vertex{typ: v.Type()})
	}
	return f
}

func (a *analysis) body(fn *ssa.Function) {
	if fn.Pkg != nil {
		a.reach(fn.Pkg.Func("init")) // its variables may be functions
	}
	f := a.functions[fn]
	for _, block := range fn.Blocks {
		for _, instr := range block.Instrs {
			a.instruction(f, instr)
		}
	}
}

func (a *analysis) instruction(f *function, instr ssa.Instruction) {
	switch in := instr.(type) {
	case ssa.CallInstruction:
		a.call(in)
	case *ssa.FieldAddr:
		a.selectField(in.X, in.Field, in)
	case *ssa.Field:
		a.selectField(in.X, in.Field, in)
	case *ssa.IndexAddr:
		a.selectElement(in.X, nil, a.vertex(in), in.Pos())
	case *ssa.Index:
		a.selectElement(in.X, nil, a.vertex(in), in.Pos())
	case *ssa.Lookup:
		key, _ := in.Index.(*ssa.Const)
		a.escapeCompared(in.Index, in.Pos())
		a.selectElement(in.X, key, a.component(in, 0), in.Pos())
	case *ssa.Range:
		a.edge(a.vertex(in.X), a.vertexOf(in, in.X.Type()))
	case *ssa.Next:
		a.next(in)
	case *ssa.UnOp:
		a.unary(in)
	case *ssa.BinOp:
		a.compare(in)
	case *ssa.Phi:
		for _, v := range in.Edges {
			a.edge(a.vertex(v), a.vertex(in))
		}
	case *ssa.Extract:
		a.edge(a.component(in.Tuple, in.Index), a.vertex(in))
	case *ssa.Slice:
		a.edge(a.vertex(in.X), a.vertex(in))
	case *ssa.ChangeInterface:
		a.edge(a.vertex(in.X), a.vertex(in))
		a.expose(in, in.X)
	case *ssa.ChangeType:
		a.convert(in.X, in)
		a.expose(in, in.X)
	case *ssa.Convert:
		a.convert(in.X, in)
	case *ssa.MultiConvert:
		a.convert(in.X, in)
	case *ssa.SliceToArrayPointer:
		a.convert(in.X, in)
	case *ssa.MakeInterface:
		a.makeInterface(in)
	case *ssa.TypeAssert:
		a.assert(in)
	case *ssa.MakeClosure:
		a.closure(in)
	case *ssa.Store:
		a.put(in.Val, in.Addr, in.Pos())
	case *ssa.MapUpdate:
		a.escapeCompared(in.Key, in.Pos())
		a.put(in.Key, in.Map, in.Pos())
		a.put(in.Value, in.Map, in.Pos())
	case *ssa.Send:
		a.put(in.X, in.Chan, in.Pos())
	case *ssa.Select:
		a.selectChannel(in)
	case *ssa.Return:
		for i, v := range in.Results {
			a.edge(a.vertex(v), f.results[i])
		}
		f.returns = append(f.returns, in.Results)
		for _, s := range f.callers {
			a.storedInReturn(s, in.Results)
		}
	case *ssa.Panic:
		a.escapeAll(a.vertex(in.X), in.Pos(), "given to panic")
	}
}

// vertexOf is vertex for a value with an uninformative type.
func (a *analysis) vertexOf(v ssa.Value, t types.Type) *vertex {
	n := a.vertex(v)
	n.typ = t
	return n
}

// selectField passes a field of x, or of the struct x points to, to the vertex of to.
func (a *analysis) selectField(x ssa.Value, index int, to ssa.Value) {
	s := deref(x.Type()).Underlying().(*types.Struct)
	a.edge(a.heap(s, index), a.vertex(to))
	a.each(a.vertex(x), func(o *origin) {
		switch {
		case o.typ == nil || !o.object() || !same(x.Type(), o.typ):
			// The fields of a program's struct contain the values stored there.
			if o.object() || !a.follows(s.Field(index).Pkg()) {
				a.add(a.vertex(to), o)
			}
		case IsOpaque(o.typ):
			a.read(o, to.Pos())
		default:
			a.give(o, a.field(o, o.typ.Underlying().(*types.Struct), index), a.vertex(to), to.Pos())
		}
	})
}

// give passes a part of an object to n. It is a read if both are strings, numbers or bools.
func (a *analysis) give(of, part *origin, n *vertex, pos token.Pos) {
	switch {
	case part == nil:
		a.escape(of, pos, Recursive, "its type contains itself")
	case isBasic(part.typ) && isBasic(n.typ):
		a.read(part, pos)
	default:
		a.add(n, part)
	}
}

// selectElement passes the elements of x, or only a known key's, to n.
func (a *analysis) selectElement(x ssa.Value, key *ssa.Const, n *vertex, pos token.Pos) {
	a.each(a.vertex(x), func(o *origin) {
		if o.typ == nil || !o.object() || !same(x.Type(), o.typ) {
			a.add(n, o)
			return
		}
		a.give(o, a.element(o, key), n, pos)
	})
}

// next handles a step of a range over a map. Unused keys and values have an invalid type.
func (a *analysis) next(in *ssa.Next) {
	if in.IsString {
		return
	}
	tuple := in.Type().(*types.Tuple)
	used := func(i int) bool { return tuple.At(i).Type() != types.Typ[types.Invalid] }
	m := in.Iter.(*ssa.Range).X
	a.each(a.vertex(in.Iter), func(o *origin) {
		if o.typ == nil || !o.object() || !same(m.Type(), o.typ) {
			for i := 1; i <= 2; i++ {
				if used(i) {
					a.add(a.component(in, i), o)
				}
			}
			return
		}
		if used(1) {
			a.read(a.keys(o), m.Pos())
		}
		if used(2) {
			a.give(o, a.element(o, nil), a.component(in, 2), m.Pos())
		}
		if !used(1) && !used(2) {
			a.present(o, m.Pos())
		}
	})
}

func (a *analysis) unary(in *ssa.UnOp) {
	to := a.component(in, 0)
	if in.Op != token.MUL || !isBasic(to.typ) {
		a.edge(a.vertex(in.X), to)
		return
	}
	a.each(a.vertex(in.X), func(o *origin) {
		if o.object() {
			a.read(o, posOf(in.X, in))
		} else {
			a.add(to, o)
		}
	})
}

func (a *analysis) compare(in *ssa.BinOp) {
	for _, side := range [][2]ssa.Value{{in.X, in.Y}, {in.Y, in.X}} {
		x, other := side[0], side[1]
		if isBasic(x.Type()) {
			continue // loading it was a read
		}
		_, pointer := types.Unalias(x.Type()).Underlying().(*types.Pointer)
		constant, _ := other.(*ssa.Const)
		if !pointer && (constant == nil || !constant.IsNil()) {
			a.escapeCompared(x, in.Pos())
			continue
		}
		a.each(a.vertex(x), func(o *origin) {
			if o.object() && o.typ != nil {
				a.present(o, in.Pos())
			}
		})
	}
}

// escapeCompared notes a comparison of a whole value, by an operator or as the key of a map.
func (a *analysis) escapeCompared(x ssa.Value, pos token.Pos) {
	escape := func(o *origin) {
		if o.object() && !o.whole() { // whole objects are compared by address
			a.escape(o, pos, Whole, "compared")
		}
	}
	switch x.Type().Underlying().(type) {
	case *types.Interface, *types.Array, *types.Struct:
		a.everything(x, escape)
	}
}

func (a *analysis) closure(in *ssa.MakeClosure) {
	fn := in.Fn.(*ssa.Function)
	a.add(a.vertex(in), a.function(fn, false))
	for i, v := range in.Bindings {
		free := fn.FreeVars[i]
		a.edge(a.vertex(v), a.vertex(free))
		a.bindings[free] = append(a.bindings[free], v)
		if n := a.stores[free]; n != nil {
			a.edge(n, a.stored(v))
		}
	}
	a.reach(fn)
}

func (a *analysis) selectChannel(in *ssa.Select) {
	received := 2
	for _, state := range in.States {
		if state.Dir == types.SendOnly {
			a.put(state.Send, state.Chan, state.Pos)
			continue
		}
		a.edge(a.vertex(state.Chan), a.component(in, received))
		received++
	}
}

// posOf returns the position of v's selection, or else instr's.
func posOf(v ssa.Value, instr ssa.Instruction) token.Pos {
	if v.Pos().IsValid() {
		return v.Pos()
	}
	return instr.Pos()
}
