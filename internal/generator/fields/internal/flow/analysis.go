// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

type analysis struct {
	graph
	record

	prog       *ssa.Program
	objectMeta types.Type // metav1.ObjectMeta; nil if the program lacks it

	vertices   map[ssa.Value]*vertex
	tuples     map[component]*vertex
	structs    structs
	fields     map[*types.Var]*vertex   // of structs made by the program
	pending    map[*types.Var][]*vertex // contents vertices to link once the field has a vertex
	contentsOf typeutil.Map             // *vertex by type: results of contents
	stores     map[ssa.Value]*vertex

	follows   func(*types.Package) bool
	functions map[*ssa.Function]*function
	bodies    []*ssa.Function // functions yet to be analyzed
	callbacks map[callbackOf]bool
	escaped   map[escapeKey]bool
	sites     map[*ssa.Call]*site
	bindings  map[*ssa.FreeVar][]ssa.Value
	concrete  typeutil.Map // set of the types converted to interfaces
	converted []types.Type // the same, in order
	invokes   []*site      // calls of methods of interfaces
	dynamic   []*site      // invokes and calls of function values
	exposed   []exposure   // interfaces with methods callable from unfollowed code
	methods   typeutil.Map // []*ssa.Function by type: results of methodsIn
	guesses   []*guess
	puts      []put
}

type component struct {
	of    ssa.Value
	index int
}

type function struct {
	results []*vertex
	returns [][]ssa.Value // by return statement
	callers []*site
}

func (a *analysis) vertex(v ssa.Value) *vertex {
	n := a.vertices[v]
	if n != nil {
		return n
	}
	if isBasic(v.Type()) {
		return basic
	}
	n = &vertex{typ: v.Type()}
	a.vertices[v] = n
	switch v := v.(type) {
	case *ssa.Function:
		a.add(n, a.function(v, false))
		if len(v.Blocks) > 0 {
			a.reach(v)
		}
	case *ssa.Const, *ssa.Builtin:
	case *ssa.Global:
		a.reach(v.Pkg.Func("init")) // which sets it
		if !a.follows(v.Pkg.Pkg) {
			a.add(n, a.get(origin{unfollowed: true}))
		}
		a.addCache(n)
	default:
		a.addCache(n)
	}
	return n
}

// addCache makes a vertex a source of objects if its type is a lister or the like.
func (a *analysis) addCache(n *vertex) {
	t := deref(n.typ)
	if !a.types.isCacheType(t) {
		return
	}
	kinds := a.types.objectsIn(t)
	for _, kind := range kinds {
		a.add(n, a.cache(kind))
	}
	if len(kinds) == 0 {
		guess := &guess{n: n, o: a.cache(nil)}
		a.each(n, func(o *origin) { guess.known = guess.known || o.cache })
		a.guesses = append(a.guesses, guess)
	}
}

// component returns the vertex of component i of v; v's own if v is no tuple.
func (a *analysis) component(v ssa.Value, i int) *vertex {
	tuple, ok := v.Type().(*types.Tuple)
	if !ok {
		return a.vertex(v)
	}
	key := component{v, i}
	n := a.tuples[key]
	if n == nil {
		n = &vertex{typ: tuple.At(i).Type()}
		a.tuples[key] = n
		a.addCache(n)
	}
	return n
}

func (a *analysis) heap(s *types.Struct, i int) *vertex {
	v := a.structs.field(s, i)
	n := a.fields[v]
	if n == nil {
		n = &vertex{typ: v.Type()}
		a.fields[v] = n
		a.addCache(n)
		if v.Pkg() != nil && !a.follows(v.Pkg()) {
			a.add(n, a.get(origin{unfollowed: true}))
		}
		for _, in := range a.pending[v] {
			a.edge(n, in)
		}
		delete(a.pending, v)
	}
	return n
}

// contents returns a vertex with the contents of all struct fields that a value of type t can hold,
// except those of API objects.
func (a *analysis) contents(t types.Type) *vertex {
	if n, ok := a.contentsOf.At(t).(*vertex); ok {
		return n
	}
	n := &vertex{typ: types.NewInterfaceType(nil, nil)}
	a.contentsOf.Set(t, n)
	var seen typeutil.Map
	var walk func(types.Type)
	walk = func(t types.Type) {
		t = types.Unalias(t)
		if seen.At(t) != nil || a.types.isAPI(t) || a.types.opaque(t) || a.types.isCacheType(t) {
			return
		}
		seen.Set(t, true)
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			for part := range gotypes.Parts(t) {
				walk(part)
			}
			return
		}
		for i := range s.NumFields() {
			v := a.structs.field(s, i)
			if a.fields[v] != nil {
				a.edge(a.fields[v], n)
			} else {
				a.pending[v] = append(a.pending[v], n)
			}
			walk(v.Type())
		}
	}
	walk(t)
	return n
}

// stored returns a vertex for values stored through v, a pointer, list, map or channel. Its origins
// flow back to the source of v, and from there to everything sharing it.
func (a *analysis) stored(v ssa.Value) *vertex {
	if n := a.stores[v]; n != nil {
		return n
	}
	if isBasic(v.Type()) {
		return basic
	}
	n := &vertex{typ: v.Type()}
	a.stores[v] = n
	back := func(values ...ssa.Value) {
		for _, x := range values {
			a.edge(n, a.stored(x))
		}
	}
	switch v := v.(type) {
	case *ssa.FieldAddr:
		a.storedInField(n, v.X.Type(), v.Field, v.Pos())
	case *ssa.Field:
		a.storedInField(n, v.X.Type(), v.Field, v.Pos())
	case *ssa.IndexAddr:
		back(v.X)
	case *ssa.Index:
		back(v.X)
	case *ssa.Lookup:
		back(v.X)
	case *ssa.Slice:
		back(v.X)
	case *ssa.Phi:
		back(v.Edges...)
	case *ssa.ChangeType:
		back(v.X)
	case *ssa.Convert:
		back(v.X)
	case *ssa.MultiConvert:
		back(v.X)
	case *ssa.ChangeInterface:
		back(v.X)
	case *ssa.MakeInterface:
		back(v.X)
		a.storedBehind(n, v)
	case *ssa.SliceToArrayPointer:
		back(v.X)
	case *ssa.TypeAssert:
		back(v.X)
	case *ssa.UnOp:
		back(v.X)
	case *ssa.Range:
		n.typ = v.X.Type() // the type of a Range is unknown to package typeutil
		back(v.X)
	case *ssa.Next:
		back(v.Iter)
	case *ssa.Select:
		for _, state := range v.States {
			back(state.Chan)
		}
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok {
			a.edge(n, a.component(call, v.Index))
			a.storedInResults(n, call, v.Index)
		} else {
			back(v.Tuple)
		}
	case *ssa.Call:
		a.edge(n, a.vertex(v))
		if b, ok := v.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			back(v.Call.Args[0])
		}
		a.storedInResults(n, v, 0)
	case *ssa.Parameter:
		a.edge(n, a.vertex(v))
		if f := a.functions[v.Parent()]; f != nil {
			for _, s := range f.callers {
				a.storedInArguments(s, v.Parent())
			}
		}
	case *ssa.FreeVar:
		a.edge(n, a.vertex(v))
		back(a.bindings[v]...)
	default:
		a.edge(n, a.vertex(v))
	}
	return n
}

// storedInField passes values stored in a field to all structs of the type. Storing a part of an
// object in another object counts as a use of the whole part: the other object isn't followed.
func (a *analysis) storedInField(n *vertex, of types.Type, index int, pos token.Pos) {
	of = deref(of)
	s := of.Underlying().(*types.Struct)
	field := a.heap(s, index)
	if !a.types.isAPI(of) {
		a.edge(n, field)
		if p := s.Field(index).Pkg(); !a.follows(p) && !isCachePackage(p.Path()) && known[qualified(of)] == nil {
			a.escapeAll(n, pos, "stored in "+gotypes.String(of)+"."+s.Field(index).Name())
		}
		return
	}
	a.each(n, func(o *origin) {
		if o.object() && !o.whole() {
			a.escape(o, pos, Whole, "copied into "+gotypes.String(of)+"."+s.Field(index).Name())
		} else {
			a.add(field, o)
		}
	})
}

// storedInResults passes values stored in a result of a call back to their source in the callees.
func (a *analysis) storedInResults(n *vertex, call *ssa.Call, index int) {
	s := a.sites[call]
	if s == nil {
		return
	}
	s.stored = append(s.stored, storedResult{n, index})
	if s.escapeReason != "" {
		a.escapeAll(n, s.pos(), s.escapeReason)
	}
	for fn := range s.linked {
		for _, values := range a.functions[fn].returns {
			a.edge(n, a.stored(values[index]))
		}
	}
}
