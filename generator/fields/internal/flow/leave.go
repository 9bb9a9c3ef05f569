// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// leave handles a call whose callee isn't looked into. recv is nil if there is no receiver, or if
// it is the first argument.
func (a *analysis) leave(s *site, to called, recv ssa.Value, args []ssa.Value) {
	if s.left[to.String()] {
		return
	}
	s.left[to.String()] = true
	switch {
	case to.known == nil:
	case to.known.fills > 0:
		a.fill(s, to, args)
		return
	case to.known.names > 0:
		a.ofKind(s, to, args)
		return
	case to.known.ofAny:
		for _, path := range to.known.reads {
			a.readMeta(a.unknown(), path, s, to)
		}
	}
	inputs := args
	if values, ok := printed(to, args); ok {
		inputs = values
	}
	if recv != nil {
		inputs = append([]ssa.Value{recv}, inputs...)
	}
	a.handedOut(s, to)
	if recv != nil {
		a.guessResults(s, to, recv)
	}
	a.selects(s, to, inputs)
	for i, input := range inputs {
		goes := func(o *origin) {
			if to.known != nil && to.known.keeps {
				a.keep(s, to, o, i, inputs)
			}
			switch {
			case o.fn != nil:
				a.callback(s, to, o, inputs)
			case o.cache:
				a.fromCache(s, to, o)
			case o.foreign:
			default:
				a.given(s, to, o, i, inputs)
			}
		}
		a.each(a.vertex(input), goes)
		if a.contains(input.Type()) {
			a.each(a.contents(input.Type()), goes)
		}
	}
	a.foreign(s, to)
}

// keep lets what a container gets be had again from it.
func (a *analysis) keep(s *site, to called, o *origin, i int, inputs []ssa.Value) {
	if i == 1 && typeName(to.recv) == "sync.Map" && o.object() && !o.whole() {
		a.escape(o, s.pos(), Whole, "compared") // a key
	}
	a.add(a.stored(inputs[0]), o)
	for i := range s.common.Signature().Results().Len() {
		a.add(a.result(s, i), o)
	}
}

// foreign marks the results of a call that are interfaces or functions, but for functions that
// yield objects of a cache: what they do isn't known.
func (a *analysis) foreign(s *site, to called) {
	if s.value == nil {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		switch t := results.At(i).Type().Underlying().(type) {
		case *types.Signature:
			if !to.cache || len(a.types.objectsIn(results.At(i).Type())) == 0 {
				a.add(a.result(s, i), a.get(origin{foreign: true}))
			}
		case *types.Interface:
			if t.NumMethods() > 0 {
				a.add(a.result(s, i), a.get(origin{foreign: true}))
			}
		}
	}
}

// contains reports whether the fields of structs are to be looked at to know what a value of type t
// takes along. Behind an interface it is known from where the value was converted.
func (a *analysis) contains(t types.Type) bool {
	t = deref(t)
	return !isBasic(t) && !isInterface(t) && !a.types.isAPI(t) && !a.types.shaped(t)
}

// handedOut gives the results of a call what they say that they have of a cache.
func (a *analysis) handedOut(s *site, to called) {
	if s.value == nil || !to.cache || to.known != nil {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		for _, kind := range a.types.objectsIn(results.At(i).Type()) {
			a.handOver(s, kind, i)
		}
	}
}

// guessResults has the results of a call be objects of an unknown kind, unless it is known what
// recv, a lister or a store, hands out.
func (a *analysis) guessResults(s *site, to called, recv ssa.Value) {
	if s.value == nil || to.known != nil || !a.types.shaped(deref(recv.Type())) {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		if t := results.At(i).Type(); mayBeObject(t) {
			guess := &guess{n: a.result(s, i)}
			a.each(a.vertex(recv), func(o *origin) { guess.known = guess.known || o.cache })
			a.guesses = append(a.guesses, guess)
		}
	}
}

// handOver gives a result of a call objects of a kind, or what yields them.
func (a *analysis) handOver(s *site, kind *types.Named, result int) {
	t := s.common.Signature().Results().At(result).Type()
	if _, yields := t.Underlying().(*types.Signature); yields || a.types.shaped(deref(t)) {
		a.add(a.result(s, result), a.cache(kind))
		return
	}
	a.found(kind, s.pos())
	a.add(a.result(s, result), a.root(kind))
}

// fromCache handles a call that gets, or is a method of, what hands out objects.
func (a *analysis) fromCache(s *site, to called, o *origin) {
	if to.known != nil {
		for _, path := range to.known.reads {
			a.implied(s, to, o.kind, path)
		}
	}
	if s.value == nil || to.client || to.known != nil {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		n := a.result(s, i)
		a.add(n, o)
		if t := results.At(i).Type(); a.types.holds(t, a.root(o.kind)) && mayBeObject(t) {
			a.handOver(s, o.kind, i)
		}
	}
}

// given handles an object that a call gets. If all of it counts as used, it isn't followed further.
func (a *analysis) given(s *site, to called, o *origin, i int, inputs []ssa.Value) {
	switch k := to.known; {
	case k != nil && k.keeps:
	case k != nil && len(k.reads) > 0 && i >= k.from && !isPrinted(inputs[i]):
		for _, path := range k.reads {
			a.readMeta(o, path, s, to)
		}
	case k != nil && k.nothing:
	case to.client:
		a.escape(o, s.pos(), WrittenBack, "written back by "+to.String())
	case comparisons[to.path()] && len(inputs) > 1:
		a.escape(o, s.pos(), Whole, "compared by "+to.String())
	default:
		a.escape(o, s.pos(), Unfollowed, "given to "+to.String())
	}
}

// readMeta notes that a call reads a field that every object has.
func (a *analysis) readMeta(o *origin, path string, s *site, to called) {
	if !o.whole() && o.path != ".metadata" {
		a.escape(o, s.pos(), Unfollowed, "given to "+to.String())
		return
	}
	a.read(a.get(origin{kind: o.kind, path: path, named: path, typ: types.Typ[types.String], up: o}), s.pos())
}

// callback handles a function that a call gets: it is called with what the callee has.
func (a *analysis) callback(s *site, to called, f *origin, inputs []ssa.Value) {
	fn := f.fn
	done := callbackOf{s, f, to.cache}
	if to.client || a.called[done] {
		return
	}
	a.called[done] = true
	if len(fn.Blocks) == 0 {
		if to.cache {
			a.bodiless(s, to, fn, inputs)
		}
		return
	}
	body := a.reach(fn)
	params := fn.Params
	if f.method {
		params = params[1:]
	}
	for _, p := range params {
		n := a.vertex(p)
		if to.cache {
			for _, kind := range a.types.objectsIn(p.Type()) {
				if a.types.shaped(deref(p.Type())) || isFunc(p.Type()) {
					continue // it has what it hands out
				}
				a.found(kind, fn.Pos())
				a.add(n, a.root(kind))
			}
		}
		guess := &guess{n: n}
		for _, input := range inputs {
			a.each(a.vertex(input), func(o *origin) {
				switch {
				case o.fn != nil, o.foreign:
				case !o.cache:
					guess.known = true
					a.add(n, o)
				case mayBeObject(p.Type()):
					guess.known = true
					a.found(o.kind, fn.Pos())
					a.add(n, a.root(o.kind))
				}
			})
		}
		if to.cache && !strings.HasPrefix(to.path(), RuntimePath) && mayBeObject(p.Type()) && len(a.types.objectsIn(p.Type())) == 0 {
			a.guesses = append(a.guesses, guess)
		}
	}
	for _, result := range body.results {
		for i := range s.common.Signature().Results().Len() {
			a.edge(result, a.result(s, i))
		}
		if !to.cache {
			a.each(result, func(o *origin) { a.escape(o, s.pos(), Unfollowed, "given to "+to.String()) })
		}
	}
}

// callbackOf is a function that a callee is given in a call; that of a cache calls it with objects.
type callbackOf struct {
	s     *site
	f     *origin
	cache bool
}

// guess is a parameter or a result of a function that is an object of an unknown kind, unless it is
// known what it is.
type guess struct {
	n     *vertex
	known bool
}

// isPrinted reports whether v holds the arguments of a message.
func isPrinted(v ssa.Value) bool {
	list, ok := v.Type().(*types.Slice)
	return ok && isInterface(list.Elem())
}

// copy handles DeepCopy and the like: the copy has what the original has.
func (a *analysis) copy(s *site, to called, values []ssa.Value) {
	if to.name != "DeepCopyInto" {
		a.edge(a.vertex(values[0]), a.result(s, 0))
		return
	}
	args := s.common.Args
	a.edge(a.vertex(values[0]), a.stored(args[len(args)-1]))
}

// fill handles a call that puts objects of a cache into one of its arguments.
func (a *analysis) fill(s *site, to called, args []ssa.Value) {
	into := args[to.known.fills]
	selects := to.known.options > 0 && to.known.options < len(args) && optionsSelect(args[to.known.options])
	if made, ok := into.(*ssa.MakeInterface); ok {
		for _, kind := range a.types.objectsIn(made.X.Type()) {
			a.found(kind, s.pos())
			a.add(a.stored(into), a.root(kind))
			if selects {
				a.implied(s, to, kind, labelsPath)
			}
		}
		return
	}
	a.add(a.stored(into), a.unknown())
	if selects {
		a.readMeta(a.unknown(), labelsPath, s, to)
	}
}

func isFunc(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// mayBeObject reports whether t is an interface, or a struct or list of interfaces, behind which an
// object may be.
func mayBeObject(t types.Type) bool {
	var lists []types.Type
	for list, ok := deref(t).Underlying().(*types.Slice); ok; list, ok = deref(t).Underlying().(*types.Slice) {
		if slices.ContainsFunc(lists, func(l types.Type) bool { return types.Identical(l, t) }) {
			return false // it has nothing but lists in it
		}
		lists, t = append(lists, t), list.Elem()
	}
	switch u := deref(t).Underlying().(type) {
	case *types.Interface:
		if u.NumMethods() == 0 {
			return true
		}
		for m := range u.Methods() {
			if m.Name() == "DeepCopyObject" || m.Name() == "GetResourceVersion" {
				return true
			}
		}
	case *types.Struct:
		for v := range u.Fields() {
			if i, ok := v.Type().Underlying().(*types.Interface); ok && i.NumMethods() > 0 && mayBeObject(i) {
				return true
			}
		}
	}
	return false
}
