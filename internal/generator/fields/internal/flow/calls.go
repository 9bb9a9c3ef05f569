// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

type site struct {
	instr        ssa.CallInstruction
	common       *ssa.CallCommon
	value        *ssa.Call // nil for go and defer
	linked       map[*ssa.Function]bool
	unfollowed   map[string]bool // callees, by name
	known        bool            // the behavior of unfollowed callees is known
	stored       []storedResult
	escapeReason string // where the results go in unfollowed code, in words; "" if nowhere known
}

// storedResult is a vertex whose origins flow back to the source of a call's result.
type storedResult struct {
	n     *vertex
	index int
}

// pos returns the position of the call or, in a synthetic method, of the method's declaration.
func (s *site) pos() token.Pos {
	if pos := s.instr.Pos(); pos.IsValid() {
		return pos
	}
	return s.instr.Parent().Pos()
}

// result returns the vertex of a call's result; nil if it can't be used.
func (a *analysis) result(s *site, i int) *vertex {
	if s.value == nil {
		return nil
	}
	return a.component(s.value, i)
}

func (a *analysis) call(instr ssa.CallInstruction) {
	s := &site{instr: instr, common: instr.Common(), linked: map[*ssa.Function]bool{}, unfollowed: map[string]bool{}}
	if s.value, _ = instr.(*ssa.Call); s.value != nil {
		a.sites[s.value] = s
	}
	if s.common.IsInvoke() {
		a.invoke(s)
		return
	}
	switch fn := s.common.Value.(type) {
	case *ssa.Builtin:
		a.builtin(s, fn)
	case *ssa.Function:
		a.direct(s, fn)
	default:
		a.each(a.vertex(fn), func(o *origin) {
			switch {
			case o.fn != nil && !o.method && len(o.fn.Params) == len(s.common.Args):
				a.direct(s, o.fn)
			case o.cache:
				a.callUnfollowed(s, callee{name: "a function that yields objects", cache: true}, fn, s.common.Args)
			case o.unfollowed:
				a.callUnfollowed(s, callee{name: "a function of other code"}, nil, s.common.Args)
			}
		})
		a.dynamic = append(a.dynamic, s)
	}
}

func (a *analysis) direct(s *site, fn *ssa.Function) {
	to := a.describe(fn)
	switch {
	case isWrapper(fn):
		a.link(s, fn, s.common.Args)
	case to.copies() && (a.types.isAPI(to.recv) || len(fn.Blocks) == 0):
		a.copy(s, to, s.common.Args)
	case len(fn.Blocks) == 0 || to.known != nil || to.cache:
		a.callUnfollowed(s, to, nil, s.common.Args)
	case to.name == "init" && fn.Signature.Recv() == nil:
	default:
		a.link(s, fn, s.common.Args)
	}
}

// isWrapper reports whether fn is a synthetic wrapper of a method: its body has the call.
func isWrapper(fn *ssa.Function) bool {
	return len(fn.Blocks) > 0 && (strings.HasPrefix(fn.Synthetic, "bound ") || strings.HasPrefix(fn.Synthetic, "thunk ") || strings.HasPrefix(fn.Synthetic, "wrapper "))
}

// link connects the arguments of a call to a function's parameters, and its results to the call's.
// It skips a function with other numbers of these: though its origin got here, it can't be the
// callee.
func (a *analysis) link(s *site, fn *ssa.Function, args []ssa.Value) {
	fits := len(fn.Params) >= len(args) && fn.Signature.Results().Len() == s.common.Signature().Results().Len()
	if s.linked[fn] || !fits {
		return
	}
	s.linked[fn] = true
	f := a.reach(fn)
	f.callers = append(f.callers, s)
	// The receiver is not among the arguments of a call through an interface.
	params := fn.Params[len(fn.Params)-len(args):]
	for i, arg := range args {
		a.edge(a.vertex(arg), a.vertex(params[i]))
	}
	for i, result := range f.results {
		if !s.known {
			a.edge(result, a.result(s, i))
			continue
		}
		a.each(result, func(o *origin) {
			if o != a.cache(nil) { // the lister's type knows better
				a.add(a.result(s, i), o)
			}
		})
	}
	a.storedInArguments(s, fn)
	for _, values := range f.returns {
		a.storedInReturn(s, values)
	}
}

// storedInArguments passes values stored by fn in its parameters to the arguments of a call.
func (a *analysis) storedInArguments(s *site, fn *ssa.Function) {
	args := s.common.Args
	offset := len(fn.Params) - len(args)
	for i, param := range fn.Params {
		n := a.stores[param]
		switch {
		case n == nil:
		case i >= offset:
			a.edge(n, a.stored(args[i-offset]))
		case s.common.IsInvoke():
			a.edge(n, a.stored(s.common.Value))
		}
	}
}

// storedInReturn passes values stored in a call's results to the callee's returned values.
func (a *analysis) storedInReturn(s *site, values []ssa.Value) {
	for _, of := range s.stored {
		a.edge(of.n, a.stored(values[of.index]))
	}
}

func (a *analysis) invoke(s *site) {
	recv, m := s.common.Value, s.common.Method
	to := a.describeMethod(recv.Type(), m)
	s.known = to.copies() || to.known != nil || to.cache || to.client
	switch {
	case to.copies():
		a.copy(s, to, []ssa.Value{recv})
	case s.known:
		a.callUnfollowed(s, to, recv, s.common.Args)
	}
	a.invokes = append(a.invokes, s)
	for _, t := range a.converted {
		a.callMethodOf(s, t)
	}
	if s.known {
		return
	}
	a.each(a.vertex(recv), func(o *origin) {
		switch {
		case o.object():
			a.dispatch(s, o)
		case o.unfollowed:
			a.callUnfollowed(s, to, nil, s.common.Args)
		}
	})
	if !a.follows(m.Pkg()) {
		a.callUnfollowed(s, to, nil, s.common.Args)
	}
	a.dynamic = append(a.dynamic, s)
}

// dispatch handles a method call on an object, or on a part of one.
func (a *analysis) dispatch(s *site, o *origin) {
	typ := o.typ
	if typ == nil { // of any kind: it has metadata at least
		if a.objectMeta == nil || a.method(types.NewPointer(a.objectMeta), s.common.Method) == nil {
			if s.common.Method.Name() != "GetObjectKind" {
				a.escape(o, s.pos(), Unfollowed, "given to "+a.describeMethod(s.common.Value.Type(), s.common.Method).String())
			}
			return
		}
		typ = a.objectMeta
		o = a.get(origin{path: ".metadata", named: ".metadata", typ: typ, up: o})
	}
	if IsOpaque(typ) {
		a.read(o, s.pos())
		return
	}
	fn := a.method(types.NewPointer(typ), s.common.Method)
	if fn == nil {
		return
	}
	if len(fn.Blocks) == 0 {
		a.escape(o, s.pos(), Unfollowed, "given to "+a.describe(fn).String())
		return
	}
	a.link(s, fn, s.common.Args)
	a.add(a.vertex(fn.Params[0]), o)
}

func (a *analysis) callMethodOf(s *site, t types.Type) {
	if a.types.isAPI(t) {
		return // dispatch knows better
	}
	i := s.common.Value.Type().Underlying().(*types.Interface)
	if !types.Implements(t, i) {
		return
	}
	switch fn := a.method(t, s.common.Method); {
	case s.known && (fn == nil || len(fn.Blocks) == 0):
	case isInterface(t):
		a.callUnfollowed(s, a.describeMethod(t, s.common.Method), s.common.Value, s.common.Args)
	case fn == nil:
	case len(fn.Blocks) == 0:
		to, recv := a.describe(fn), s.common.Value
		if !to.cache && to.known == nil {
			recv = nil // of the possible values, only the one of type t has the method
		}
		a.callUnfollowed(s, to, recv, s.common.Args)
	default:
		a.link(s, fn, s.common.Args)
		a.edge(a.vertex(s.common.Value), a.vertex(fn.Params[0]))
	}
}

func (a *analysis) method(t types.Type, m *types.Func) *ssa.Function {
	sel := a.prog.MethodSets.MethodSet(t).Lookup(m.Pkg(), m.Name())
	if sel == nil {
		return nil
	}
	return a.prog.MethodValue(sel)
}

// callUnresolved leaves the calls without any callee, and reports whether there were any.
func (a *analysis) callUnresolved() (found bool) {
	for _, s := range a.dynamic {
		if len(s.linked) > 0 || len(s.unfollowed) > 0 || a.isCalled(s.instr.Parent()) {
			continue
		}
		to := callee{name: "a function that isn't known"}
		if m := s.common.Method; m != nil {
			to = a.describeMethod(s.common.Value.Type(), m)
			to.note = ", which no type of the program has"
		}
		a.callUnfollowed(s, to, nil, s.common.Args)
		for i := range s.common.Signature().Results().Len() {
			a.addResult(s, i) // possibly a lister's
		}
		found = true
	}
	if found {
		return true
	}
	for _, guess := range a.guesses {
		if !guess.known {
			a.add(guess.n, guess.o)
			found = true
		}
	}
	a.guesses = nil
	return found
}

// isCalled reports whether the program calls fn, or the function around it. Then nothing outside
// calls it: a parameter without origins holds no object.
func (a *analysis) isCalled(fn *ssa.Function) bool {
	for fn.Parent() != nil {
		fn = fn.Parent()
	}
	return len(a.functions[fn].callers) > 0
}

func (a *analysis) builtin(s *site, b *ssa.Builtin) {
	args := s.common.Args
	switch b.Name() {
	case "append":
		a.edge(a.vertex(args[0]), a.result(s, 0))
		a.edge(a.vertex(args[1]), a.result(s, 0))
		a.edge(a.vertex(args[1]), a.stored(args[0])) // which may have room
		if s.value != nil {
			a.puts = append(a.puts, put{args[1], s.value})
		}
	case "copy":
		// Only the elements: an array has its own type.
		a.selectElement(args[1], nil, a.stored(args[0]), s.pos())
		a.each(a.vertex(args[1]), func(o *origin) {
			if o.object() && o.typ != nil && same(args[1].Type(), o.typ) {
				a.present(o, s.pos())
			}
		})
		a.puts = append(a.puts, put{args[1], args[0]})
	case "len", "cap":
		a.each(a.vertex(args[0]), func(o *origin) {
			if o.object() && o.typ != nil && same(args[0].Type(), o.typ) {
				a.present(o, posOf(args[0], s.instr))
			}
		})
	case "ssa:wrapnilchk":
		a.edge(a.vertex(args[0]), a.result(s, 0))
	case "delete":
		a.escapeCompared(args[1], s.pos())
	case "clear", "close", "complex", "imag", "max", "min", "real", "recover", "Alignof", "Offsetof", "Sizeof":
	default: // print, and the functions of package unsafe
		for _, arg := range args {
			a.escapeAll(a.vertex(arg), s.pos(), "given to "+b.Name())
		}
	}
}
