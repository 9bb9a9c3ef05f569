// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// callUnfollowed handles a call of an unfollowed function. recv is nil if there is no receiver, or
// if it is the first argument.
func (a *analysis) callUnfollowed(s *site, to callee, recv ssa.Value, args []ssa.Value) {
	if s.unfollowed[to.String()] {
		return
	}
	s.unfollowed[to.String()] = true
	switch {
	case to.known == nil:
	case to.known.filledArg > 0:
		a.fill(s, to, args)
		return
	case to.known.kindArg > 0:
		a.readKind(s, to, args)
		return
	case to.known.ofAnyKind:
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
	a.addResults(s, to)
	a.readLabels(s, to, inputs)
	modelled := to.known != nil || to.cache || to.client
	keeps := to.known != nil && to.known.keeps
	for i, input := range inputs {
		// A method doesn't get the objects in its receiver, unless that is a container.
		receiver := i == 0 && (recv != nil || (to.client || to.cache) && to.recv != nil) && !keeps
		pass := func(o *origin) {
			if keeps {
				a.keep(s, to, o, i, inputs)
			}
			switch {
			case o.cache:
				a.passCache(s, to, o)
			case receiver, o.unfollowed:
			case o.dynamic != nil:
				if !modelled {
					a.escapeMethods(o.dynamic, s.pos(), "given to "+to.String())
				}
			case o.fn != nil:
				a.callback(s, to, o, inputs)
			default:
				a.passObject(s, to, o, i, inputs)
			}
		}
		a.each(a.vertex(input), pass)
		if receiver {
			continue
		}
		a.everything(input, func(o *origin) {
			// A cache calls functions and methods in a struct, and reads no objects there.
			if !to.cache || !o.object() {
				pass(o)
			}
		})
		if !modelled {
			a.escapeMethods(input.Type(), s.pos(), "given to "+to.String())
		}
	}
	a.unfollowedResults(s, to)
	if !modelled && s.escapeReason == "" {
		s.escapeReason = "given to " + to.String()
		for _, of := range s.stored {
			a.escapeAll(of.n, s.pos(), s.escapeReason)
		}
		for v := range s.common.Signature().Results().Variables() {
			if n, ok := deref(v.Type()).(*types.Named); ok && a.contains(n) && n.Obj().Pkg() != nil && a.follows(n.Obj().Pkg()) {
				a.escapeAll(a.contents(n), s.pos(), s.escapeReason) // the callee may keep it
			}
		}
	}
}

// keep stores an argument of a container's method in the container, and passes it to the results.
func (a *analysis) keep(s *site, to callee, o *origin, i int, inputs []ssa.Value) {
	of := gotypes.String(to.recv)
	compares := i == 1 && of == "sync.Map" || strings.HasPrefix(to.name, "CompareAnd") && !strings.HasPrefix(of, "atomic.Pointer")
	if compares && o.object() && !o.whole() {
		a.escape(o, s.pos(), Whole, "compared") // a key, or a value
	}
	a.add(a.stored(inputs[0]), o)
	for i := range s.common.Signature().Results().Len() {
		a.add(a.result(s, i), o)
	}
}

// unfollowedResults marks the results of a call as values of unfollowed code, with unknown methods.
// It skips objects of a cache and functions yielding them.
func (a *analysis) unfollowedResults(s *site, to callee) {
	if s.value == nil || to.known != nil && to.known.keeps {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		t := results.At(i).Type()
		if objects := mayBeObject(t) || isFunc(t) && len(a.types.objectsIn(t)) > 0; !objects || !to.cache {
			a.add(a.result(s, i), a.get(origin{unfollowed: true}))
		}
	}
}

// contains reports whether a value of type t carries the contents of struct fields. Those behind an
// interface are known from the conversion to it.
func (a *analysis) contains(t types.Type) bool {
	t = deref(t)
	return !isBasic(t) && !isInterface(t) && !a.types.isAPI(t) && !a.types.isCacheType(t)
}

func (a *analysis) addResults(s *site, to callee) {
	if s.value == nil || !to.cache || to.known != nil {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		a.addResult(s, i)
	}
}

func (a *analysis) addResult(s *site, result int) {
	for _, kind := range a.types.objectsIn(s.common.Signature().Results().At(result).Type()) {
		a.addObjects(s, kind, result)
	}
}

// addObjects adds objects of a kind, or their source, to a result of a call.
func (a *analysis) addObjects(s *site, kind *types.Named, result int) {
	if s.value == nil {
		return
	}
	t := s.common.Signature().Results().At(result).Type()
	if _, yields := t.Underlying().(*types.Signature); yields || a.types.isCacheType(deref(t)) {
		a.add(a.result(s, result), a.cache(kind))
		return
	}
	a.found(kind, s.pos())
	a.add(a.result(s, result), a.root(kind))
}

// passCache handles a call with a source of objects as an argument or receiver.
func (a *analysis) passCache(s *site, to callee, o *origin) {
	if to.known != nil {
		for _, path := range to.known.reads {
			a.readImplied(s, to, o.kind, path)
		}
	}
	if to.known == nil && !to.cache && !to.client {
		a.escapeOrigin(o, s.pos(), "given to "+to.String())
	}
	if s.value == nil || to.client || to.known != nil {
		return
	}
	results := s.common.Signature().Results()
	for i := range results.Len() {
		t := results.At(i).Type()
		if a.types.yieldsObjects(t) {
			a.add(a.result(s, i), o)
		}
		if a.types.holds(t, a.root(o.kind)) && mayBeObject(t) {
			a.addObjects(s, o.kind, i)
		}
	}
}

// passObject handles an object passed to a call. If all of it counts as used, it isn't followed
// further.
func (a *analysis) passObject(s *site, to callee, o *origin, i int, inputs []ssa.Value) {
	switch k := to.known; {
	case k != nil && k.keeps:
	case k != nil && len(k.reads) > 0 && !isPrinted(inputs[i]):
		for _, path := range k.reads {
			a.readMeta(o, path, s, to)
		}
	case k != nil && k.usesNothing:
	case to.client:
		a.escape(o, s.pos(), WrittenBack, "written back by "+to.String())
	case comparisons[to.path()] && len(inputs) > 1:
		a.escape(o, s.pos(), Whole, "compared by "+to.String())
	default:
		a.escape(o, s.pos(), Unfollowed, "given to "+to.String())
	}
}

// readMeta notes that a call reads a field common to all objects.
func (a *analysis) readMeta(o *origin, path string, s *site, to callee) {
	if !o.whole() && o.path != ".metadata" {
		a.escape(o, s.pos(), Unfollowed, "given to "+to.String())
		return
	}
	a.read(a.get(origin{kind: o.kind, path: path, named: path, typ: types.Typ[types.String], up: o}), s.pos())
}

func isPrinted(v ssa.Value) bool {
	list, ok := v.Type().(*types.Slice)
	return ok && isInterface(list.Elem())
}

// copy handles DeepCopy and the like: the copy has the origins of the original.
func (a *analysis) copy(s *site, to callee, values []ssa.Value) {
	if to.name != "DeepCopyInto" {
		a.edge(a.vertex(values[0]), a.result(s, 0))
		return
	}
	args := s.common.Args
	a.edge(a.vertex(values[0]), a.stored(args[len(args)-1]))
}

// fill handles a call that fills an argument with objects of a cache.
func (a *analysis) fill(s *site, to callee, args []ssa.Value) {
	into := args[to.known.filledArg]
	selects := to.known.optionsArg > 0 && to.known.optionsArg < len(args) && optionsHaveLabels(args[to.known.optionsArg])
	if made, ok := into.(*ssa.MakeInterface); ok {
		for _, kind := range a.types.objectsIn(made.X.Type()) {
			a.found(kind, s.pos())
			a.add(a.stored(into), a.root(kind))
			if selects {
				a.readImplied(s, to, kind, labelsPath)
			}
			if to.known.wholeReason != "" {
				a.escape(a.root(kind), s.pos(), WrittenBack, to.known.wholeReason+" by "+to.String())
			}
		}
		return
	}
	a.add(a.stored(into), a.unknown())
	if to.known.wholeReason != "" {
		a.escape(a.unknown(), s.pos(), WrittenBack, to.known.wholeReason+" by "+to.String())
	}
	if selects {
		a.readMeta(a.unknown(), labelsPath, s, to)
	}
}

func isFunc(t types.Type) bool {
	_, ok := t.Underlying().(*types.Signature)
	return ok
}

// mayBeObject reports whether t is an interface that an object may be behind, or a struct or list
// of such interfaces.
func mayBeObject(t types.Type) bool {
	var lists []types.Type
	for list, ok := deref(t).Underlying().(*types.Slice); ok; list, ok = deref(t).Underlying().(*types.Slice) {
		if slices.ContainsFunc(lists, func(l types.Type) bool { return types.Identical(l, t) }) {
			return false // it contains only lists
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
