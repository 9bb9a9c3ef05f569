// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// tell passes the origins of a vertex to unfollowed code.
func (a *analysis) tell(n *vertex, pos token.Pos, why string) {
	a.each(n, a.opened(func(o *origin) { a.leaves(o, pos, why) }))
}

// leaves passes an origin to unfollowed code.
func (a *analysis) leaves(o *origin, pos token.Pos, why string) {
	switch {
	case o.foreign:
	case o.cache:
		a.found(o.kind, pos)
		a.escape(a.root(o.kind), pos, Unfollowed, why)
	case o.made != nil:
		a.methodsLeave(o.made, pos, why)
	case o.fn != nil:
		a.functionLeaves(o.fn, pos, why)
	default:
		a.escape(o, pos, Unfollowed, why)
	}
}

func (a *analysis) methodsLeave(of types.Type, pos token.Pos, why string) {
	for _, fn := range a.methodsIn(of) {
		a.functionLeaves(fn, pos, why)
	}
}

func (a *analysis) functionLeaves(fn *ssa.Function, pos token.Pos, why string) {
	key := departure{fn, pos, why}
	if len(fn.Blocks) == 0 || a.left[key] {
		return
	}
	a.left[key] = true
	for _, result := range a.reach(fn).results {
		a.tell(result, pos, why)
	}
	for _, p := range fn.Params {
		a.add(a.vertex(p), a.get(origin{foreign: true}))
		a.tell(a.stored(p), pos, why)
	}
}

type departure struct {
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
		if o.made != nil && !o.bare && !seen[o] && a.contains(o.made) {
			seen[o] = true
			a.each(a.contents(o.made), open)
		}
		hook(o)
	}
	return open
}
