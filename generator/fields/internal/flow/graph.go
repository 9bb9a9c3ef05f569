// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/types"
	"slices"
)

// vertex is a place in the program that holds values: an SSA value, a field of a struct type, a
// result of a function. What a pointer points to, and what a list, a map or a channel contains, is
// in the vertex of the pointer, list, map or channel itself.
type vertex struct {
	typ   types.Type
	all   []*origin
	has   map[*origin]bool
	to    []*vertex
	hooks []func(*origin)
}

// graph passes origins from vertex to vertex. Origins only ever get more, so that the order in
// which edges and origins are added doesn't matter.
type graph struct {
	types *typeFacts
	work  []arrival
}

// arrival is an origin that has come to a vertex and has not been passed on.
type arrival struct {
	n *vertex
	o *origin
}

// add adds an origin to a vertex, if its type can hold it.
func (g *graph) add(n *vertex, o *origin) {
	if o == nil || n == nil || n.has[o] || !g.types.holds(n.typ, o) {
		return
	}
	if n.has == nil {
		n.has = map[*origin]bool{}
	}
	n.has[o] = true
	n.all = append(n.all, o)
	g.work = append(g.work, arrival{n, o})
}

// edge lets all origins of one vertex go to another.
func (g *graph) edge(from, to *vertex) {
	if from == nil || to == nil || from == to || slices.Contains(from.to, to) {
		return
	}
	from.to = append(from.to, to)
	for _, o := range from.all {
		g.add(to, o)
	}
}

// each calls hook with each origin that the vertex has, or gets later; with some of them twice.
func (g *graph) each(n *vertex, hook func(*origin)) {
	if n == nil {
		return
	}
	n.hooks = append(n.hooks, hook)
	for _, o := range slices.Clone(n.all) {
		hook(o)
	}
}

// settle passes origins on until nothing changes.
func (g *graph) settle() {
	for len(g.work) > 0 {
		last := len(g.work) - 1
		a := g.work[last]
		g.work = g.work[:last]
		for i := 0; i < len(a.n.to); i++ {
			g.add(a.n.to[i], a.o)
		}
		for i := 0; i < len(a.n.hooks); i++ {
			a.n.hooks[i](a.o)
		}
	}
}
