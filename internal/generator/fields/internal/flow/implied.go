// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
)

// Reads by caches and controllers before a program sees an object: labels for selectors, owners to
// map it to, fields compared by predicates.

// readLabels notes that a cache's call with a selector reads the labels of the cache's objects.
func (a *analysis) readLabels(s *site, to callee, inputs []ssa.Value) {
	if !to.cache {
		return
	}
	var selector ssa.Value
	typed := false
	for _, input := range inputs {
		t := input.Type()
		if gotypes.IsNamed(t, labelsPackage, "Selector") && !selectsAll(input) {
			selector = input
		}
		typed = typed || a.types.isCacheType(deref(t)) && len(a.types.objectsIn(deref(t))) > 0
	}
	if selector == nil {
		return
	}
	for _, input := range inputs {
		a.each(a.vertex(input), func(o *origin) {
			if o.cache {
				a.readImplied(s, to, o.kind, labelsPath)
			}
		})
	}
	// A generated lister passes its own parameter on: its callers matter.
	if _, parameter := selector.(*ssa.Parameter); !typed && !parameter {
		a.readMeta(a.unknown(), labelsPath, s, to)
	}
}

const (
	labelsPackage = "k8s.io/apimachinery/pkg/labels"
	labelsPath    = ".metadata.labels"
	ownersPath    = ".metadata.ownerReferences"
)

// readImplied notes that a call reads a field of a cache's objects of one kind.
func (a *analysis) readImplied(s *site, to callee, kind *types.Named, path string) {
	a.found(kind, s.pos())
	a.readMeta(a.root(kind), path, s, to)
}

// selectsAll reports whether a selector is nil, or reads no labels.
func selectsAll(selector ssa.Value) bool {
	switch v := selector.(type) {
	case *ssa.Const:
		return v.IsNil()
	case *ssa.Call:
		fn := v.Call.StaticCallee()
		return fn != nil && fn.Pkg != nil && fn.Pkg.Pkg.Path() == labelsPackage && (fn.Name() == "Everything" || fn.Name() == "Nothing")
	}
	return false
}

var withoutLabels = set("Continue", "InNamespace", "Limit", "MatchingFields", "MatchingFieldsSelector", "UnsafeDisableDeepCopyOption")

func optionsHaveLabels(options ssa.Value) bool {
	if none, ok := options.(*ssa.Const); ok && none.IsNil() {
		return false
	}
	all, ok := elementsOf(options)
	if !ok {
		return true
	}
	for _, option := range all {
		made, ok := option.(*ssa.MakeInterface)
		if !ok {
			return true
		}
		if n, ok := types.Unalias(deref(made.X.Type())).(*types.Named); !ok || !withoutLabels[n.Obj().Name()] {
			return true
		}
	}
	return false
}

// readKind notes a call's reads in objects of the kind named by an argument: an empty object.
func (a *analysis) readKind(s *site, to callee, args []ssa.Value) {
	kinds := []*types.Named{nil}
	if made, ok := args[to.known.kindArg].(*ssa.MakeInterface); ok {
		kinds = a.types.objectsIn(made.X.Type())
	}
	for _, kind := range kinds {
		for _, path := range to.known.reads {
			if kind == nil {
				a.readMeta(a.unknown(), path, s, to)
			} else {
				a.readImplied(s, to, kind, path)
			}
		}
	}
}

// unfollowedCallback handles an unfollowed callback of a cache or a controller.
func (a *analysis) unfollowedCallback(s *site, to callee, fn *ssa.Function, inputs []ssa.Value) {
	callee := a.describe(fn)
	given := func(o *origin) {
		if callee.known == nil {
			a.escape(o, s.pos(), Unfollowed, "given to "+callee.String())
			return
		}
		for _, path := range callee.known.reads {
			a.readMeta(o, path, s, callee)
		}
	}
	for v := range fn.Signature.Params().Variables() {
		for _, kind := range a.types.objectsIn(v.Type()) {
			a.found(kind, s.pos())
			given(a.root(kind))
		}
		if !mayBeObject(v.Type()) {
			continue
		}
		for _, input := range inputs {
			a.each(a.vertex(input), func(o *origin) {
				if o.cache {
					a.found(o.kind, s.pos())
					given(a.root(o.kind))
				}
			})
		}
	}
}

// predicates are the fields compared by controller-runtime's predicates, by type name. The generic
// types have the prefix Typed.
var predicates = map[string]string{
	"AnnotationChangedPredicate": ".metadata.annotations",
	"GenerationChangedPredicate": ".metadata.generation",
	"LabelChangedPredicate":      labelsPath,
}

// predicate notes the field that a predicate compares in all watched objects.
func (a *analysis) predicate(in *ssa.MakeInterface) {
	n, ok := types.Unalias(deref(in.X.Type())).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sigs.k8s.io/controller-runtime/pkg/predicate" {
		return
	}
	if path := predicates[strings.TrimPrefix(n.Obj().Name(), "Typed")]; path != "" {
		a.read(a.get(origin{path: path, named: path, typ: types.Typ[types.String], up: a.unknown()}), nearestPos(in))
	}
}

// nearestPos returns the position of in, or of the next instruction with a known one.
func nearestPos(in ssa.Instruction) token.Pos {
	rest := in.Block().Instrs
	for _, next := range rest[slices.Index(rest, in):] {
		if next.Pos().IsValid() {
			return next.Pos()
		}
	}
	return in.Parent().Pos()
}
