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

// What caches and controllers read of objects before a program sees them: labels that a selector is
// held against, owners for which an object counts, what a predicate compares.

// selects notes that a call of a cache reads the labels of the objects among which it selects.
func (a *analysis) selects(s *site, to called, inputs []ssa.Value) {
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
		typed = typed || a.types.shaped(deref(t)) && len(a.types.objectsIn(deref(t))) > 0
	}
	if selector == nil {
		return
	}
	for _, input := range inputs {
		a.each(a.vertex(input), func(o *origin) {
			if o.cache {
				a.implied(s, to, o.kind, labelsPath)
			}
		})
	}
	// A generated lister hands its own parameter on: its callers are what matters.
	if _, parameter := selector.(*ssa.Parameter); !typed && !parameter {
		a.readMeta(a.unknown(), labelsPath, s, to)
	}
}

const (
	labelsPackage = "k8s.io/apimachinery/pkg/labels"
	labelsPath    = ".metadata.labels"
	ownersPath    = ".metadata.ownerReferences"
)

// implied notes that a call reads a field of the objects of a kind that a cache has.
func (a *analysis) implied(s *site, to called, kind *types.Named, path string) {
	a.found(kind, s.pos())
	a.readMeta(a.root(kind), path, s, to)
}

// selectsAll reports whether a selector is nil, or one that needs no labels.
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

// withoutLabels are controller-runtime's options of a list that read no labels.
var withoutLabels = set("Continue", "InNamespace", "Limit", "MatchingFields", "MatchingFieldsSelector", "UnsafeDisableDeepCopyOption")

// optionsSelect reports whether options of a list by controller-runtime's client may select by
// labels.
func optionsSelect(options ssa.Value) bool {
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

// ofKind notes what a call reads of the objects of the kind that one of its arguments is of: the
// object itself is an empty one, which only names the kind.
func (a *analysis) ofKind(s *site, to called, args []ssa.Value) {
	kinds := []*types.Named{nil}
	if made, ok := args[to.known.names].(*ssa.MakeInterface); ok {
		kinds = a.types.objectsIn(made.X.Type())
	}
	for _, kind := range kinds {
		for _, path := range to.known.reads {
			if kind == nil {
				a.readMeta(a.unknown(), path, s, to)
			} else {
				a.implied(s, to, kind, path)
			}
		}
	}
}

// bodiless handles a function that a cache or a controller calls and that isn't looked into.
func (a *analysis) bodiless(s *site, to called, fn *ssa.Function, inputs []ssa.Value) {
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

// predicates are the fields that controller-runtime's predicates compare, by their types without
// what stands before GenerationChanged and so on.
var predicates = map[string]string{
	"AnnotationChangedPredicate": ".metadata.annotations",
	"GenerationChangedPredicate": ".metadata.generation",
	"LabelChangedPredicate":      labelsPath,
}

// predicate notes what a value compares of all objects that are watched, if it is a predicate.
func (a *analysis) predicate(in *ssa.MakeInterface) {
	n, ok := types.Unalias(deref(in.X.Type())).(*types.Named)
	if !ok || n.Obj().Pkg() == nil || n.Obj().Pkg().Path() != "sigs.k8s.io/controller-runtime/pkg/predicate" {
		return
	}
	if path := predicates[strings.TrimPrefix(n.Obj().Name(), "Typed")]; path != "" {
		a.read(a.get(origin{path: path, named: path, typ: types.Typ[types.String], up: a.unknown()}), near(in))
	}
}

// near returns where an instruction stands or, if that isn't known, the next one of which it is.
func near(in ssa.Instruction) token.Pos {
	rest := in.Block().Instrs
	for _, next := range rest[slices.Index(rest, in):] {
		if next.Pos().IsValid() {
			return next.Pos()
		}
	}
	return in.Parent().Pos()
}
