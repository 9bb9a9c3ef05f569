// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"slices"

	"golang.org/x/tools/container/intsets"
)

// vertex is a place for values in the program: an SSA value, a field of a struct type, a result of
// a function.
type vertex struct {
	typ   types.Type
	has   *intsets.Sparse // origins by number; nil if there are none
	fresh *intsets.Sparse // origins not yet passed on; nil if the vertex isn't in graph.work
	to    []*vertex
	hooks []func(*origin)
}

// basic is the vertex of all strings, numbers and bools. It never has origins.
var basic = &vertex{typ: types.Typ[types.String]}

func (n *vertex) got(o *origin) bool { return n.has != nil && n.has.Has(o.id) }

// graph passes origins between vertices. Origins are only ever added, so the order in which edges
// and origins are added doesn't matter.
type graph struct {
	origins
	types *typeFacts
	work  []*vertex
	ids   []int // scratch space of all
}

func (g *graph) all(n *vertex) []*origin {
	if n.has == nil {
		return nil
	}
	g.ids = n.has.AppendTo(g.ids[:0])
	all := make([]*origin, len(g.ids))
	for i, id := range g.ids {
		all[i] = g.byID[id]
	}
	return all
}

// add adds an origin to a vertex whose type can hold it.
func (g *graph) add(n *vertex, o *origin) {
	if o == nil || n == nil || n.got(o) || !g.types.holds(n.typ, o) {
		return
	}
	if n.has == nil {
		n.has = new(intsets.Sparse)
	}
	n.has.Insert(o.id)
	if n.fresh == nil {
		n.fresh = new(intsets.Sparse)
		g.work = append(g.work, n)
	}
	n.fresh.Insert(o.id)
}

// edge passes all origins of one vertex on to another.
func (g *graph) edge(from, to *vertex) {
	if from == nil || to == nil || from == to || isBasic(from.typ) || isBasic(to.typ) || slices.Contains(from.to, to) {
		return
	}
	from.to = append(from.to, to)
	for _, o := range g.all(from) {
		g.add(to, o)
	}
}

// each calls hook with each current and future origin of the vertex, with some of them twice.
func (g *graph) each(n *vertex, hook func(*origin)) {
	if n == nil || isBasic(n.typ) {
		return
	}
	n.hooks = append(n.hooks, hook)
	for _, o := range g.all(n) {
		hook(o)
	}
}

// settle passes origins on until nothing changes.
func (g *graph) settle() {
	var ids []int
	for len(g.work) > 0 {
		last := len(g.work) - 1
		n := g.work[last]
		g.work = g.work[:last]
		ids = n.fresh.AppendTo(ids[:0])
		n.fresh = nil
		for _, id := range ids {
			o := g.byID[id]
			for i := 0; i < len(n.to); i++ {
				g.add(n.to[i], o)
			}
			for i := 0; i < len(n.hooks); i++ {
				n.hooks[i](o)
			}
		}
	}
}
