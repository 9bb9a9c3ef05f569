// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// escapeAll passes the origins of a vertex to unfollowed code.
func (a *analysis) escapeAll(n *vertex, pos token.Pos, why string) {
	a.each(n, a.opened(func(o *origin) { a.escapeOrigin(o, pos, why) }))
}

// escapeOrigin passes an origin to unfollowed code.
func (a *analysis) escapeOrigin(o *origin, pos token.Pos, why string) {
	switch {
	case o.unfollowed:
	case o.cache:
		a.found(o.kind, pos)
		a.escape(a.root(o.kind), pos, Unfollowed, why)
	case o.dynamic != nil:
		a.escapeMethods(o.dynamic, pos, why)
	case o.fn != nil:
		a.escapeFunction(o.fn, pos, why)
	default:
		a.escape(o, pos, Unfollowed, why)
	}
}

func (a *analysis) escapeMethods(of types.Type, pos token.Pos, why string) {
	for _, fn := range a.methodsIn(of) {
		a.escapeFunction(fn, pos, why)
	}
}

func (a *analysis) escapeFunction(fn *ssa.Function, pos token.Pos, why string) {
	key := escapeKey{fn, pos, why}
	if len(fn.Blocks) == 0 || a.escaped[key] {
		return
	}
	a.escaped[key] = true
	for _, result := range a.reach(fn).results {
		a.escapeAll(result, pos, why)
	}
	for _, p := range fn.Params {
		a.add(a.vertex(p), a.get(origin{unfollowed: true}))
		a.escapeAll(a.stored(p), pos, why)
	}
}

type escapeKey struct {
	of  *ssa.Function
	pos token.Pos
	why string
}

// everything calls hook with the origins of v and of its fields, behind interfaces too.
func (a *analysis) everything(v ssa.Value, hook func(*origin)) {
	hook = a.opened(hook)
	a.each(a.vertex(v), hook)
	if a.contains(v.Type()) {
		a.each(a.contents(v.Type()), hook)
	}
}

// opened returns a hook that also gets the origins in struct fields behind interfaces.
func (a *analysis) opened(hook func(*origin)) func(*origin) {
	seen := map[*origin]bool{}
	var open func(*origin)
	open = func(o *origin) {
		if o.dynamic != nil && !o.fieldsKnown && !seen[o] && a.contains(o.dynamic) {
			seen[o] = true
			a.each(a.contents(o.dynamic), open)
		}
		hook(o)
	}
	return open
}
