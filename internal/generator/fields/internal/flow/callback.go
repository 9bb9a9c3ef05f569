// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"strings"

	"golang.org/x/tools/go/ssa"
)

// callback handles a function argument: the callee calls it with the objects that it has.
func (a *analysis) callback(s *site, to callee, f *origin, inputs []ssa.Value) {
	fn := f.fn
	done := callbackOf{s, f, to.cache}
	contained := f.method && to.known != nil && to.known.keeps // containers call no methods
	if to.client || contained || a.callbacks[done] {
		return
	}
	a.callbacks[done] = true
	if len(fn.Blocks) == 0 {
		if to.cache {
			a.unfollowedCallback(s, to, fn, inputs)
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
				if a.types.isCacheType(deref(p.Type())) || isFunc(p.Type()) {
					continue // a lister, for example: it has its own objects
				}
				a.found(kind, fn.Pos())
				a.add(n, a.root(kind))
			}
		}
		guess := &guess{n: n, o: a.unknown()}
		for _, input := range inputs {
			a.everything(input, func(o *origin) {
				switch {
				case o.fn != nil, o.unfollowed, o.dynamic != nil:
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
	if !to.cache && to.known == nil {
		a.escapeOrigin(f, s.pos(), "given to "+to.String())
		return
	}
	for _, result := range body.results {
		for i := range s.common.Signature().Results().Len() {
			if t := s.common.Signature().Results().At(i).Type(); !isError(t) && (mayBeObject(t) || !a.types.held(t).anything) {
				a.edge(result, a.result(s, i))
			}
		}
		a.each(result, func(o *origin) {
			if to.cache && (isError(result.typ) || o.object() && !o.whole()) {
				a.escapeOrigin(o, s.pos(), "given to "+to.String())
			}
		})
	}
}

// callbackOf is a function passed to a callee; a cache calls it with objects.
type callbackOf struct {
	s     *site
	f     *origin
	cache bool
}

// guess is the fallback for a value, unless something better becomes known.
type guess struct {
	n     *vertex
	o     *origin
	known bool
}
