// SPDX-License-Identifier: Apache-2.0

// Package project reads the markers of projections: types with some fields of an API type. It
// follows field paths through Go types and returns the generated types, for the templates and as
// go/types, in which indexes of projections follow their own paths.
package project

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/gotypes"
	"github.com/informer-gen/informer-gen/internal/generator/jsonpath"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// Kind is a type that may have projections.
type Kind struct {
	Name string
	// Type is a struct that embeds metav1.TypeMeta and metav1.ObjectMeta.
	Type    *types.Named
	Markers []*marker.Project
}

// Declared is a projection with its marker.
type Declared struct {
	*model.Projection
	Marker *marker.Project
	// Type is the generated type, without methods.
	Type *types.Named
}

// Package is the package name of generated types in messages.
const Package = "projections"

// Reader reads the projections of kinds.
type Reader struct {
	report *report.Report
	output string
	docs   *gotypes.Docs
}

// NewReader returns a Reader that reports errors to r. output is the import path of the output
// folder.
func NewReader(r *report.Report, output string) *Reader {
	return &Reader{report: r, output: output, docs: &gotypes.Docs{Position: r.Position}}
}

// Read returns the correct projections of k, in the order of its markers, and reports errors in the
// others.
func (r *Reader) Read(k Kind) []Declared {
	var all []Declared
	first := map[string]token.Position{}
	for _, m := range k.Markers {
		name := m.Name.Text
		if !names.IsExported(name) {
			r.report.Fail(m.At, m.Name.Pos, fmt.Sprintf("name %q isn't an exported Go name: it becomes the name of a type%s", name, names.SuggestExported(name)))
			continue
		}
		if other, ok := first[name]; ok {
			r.report.Fail(m.At, m.Name.Pos, fmt.Sprintf("type %s already has a projection %s, at %s", k.Name, name, r.report.Short(other)))
			continue
		}
		first[name] = m.Name.Pos
		before := r.report.Errors()
		p := projection{reader: r, kind: k, marker: m, root: &node{}}
		p.readFields()
		if r.report.Errors() > before {
			continue
		}
		if declared := p.build(); r.report.Errors() == before {
			all = append(all, declared)
		}
	}
	return all
}

type projection struct {
	reader *Reader
	kind   Kind
	marker *marker.Project
	root   *node
}

// node is the object, or one of its fields that the projection has wholly or in part.
type node struct {
	// value is the path of the field, or the first path into it.
	value marker.Value
	// last is the offset of the field's name in value.
	last   int
	whole  bool
	fields map[*types.Var]*node
}

// enter returns the node for a field, and adds it if it is missing.
func (n *node) enter(field *types.Var, value marker.Value, offset int) *node {
	next := n.fields[field]
	if next == nil {
		next = &node{value: value, last: offset}
		if n.fields == nil {
			n.fields = map[*types.Var]*node{}
		}
		n.fields[field] = next
	}
	return next
}

func (p *projection) fail(value marker.Value, problem *jsonpath.Error) {
	p.reader.report.Add(diag.Diagnostic{
		Pos: value.At(problem.Offset), Marker: p.marker.At.Name, Message: problem.Message, Allowed: problem.Allowed, Warning: problem.Warning,
	})
}

func (p *projection) readFields() {
	if gotypes.MarshalsItself(p.kind.Type) {
		p.reader.report.Fail(p.marker.At, p.marker.Pos, fmt.Sprintf("type %s has its own JSON encoding, so it can't have projections", p.kind.Name))
		return
	}
	for _, value := range p.marker.Fields {
		segments, problem := jsonpath.Parse(value.Text)
		if problem == nil {
			f := follower{value: value, at: p.root, end: p.kind.Type}
			problem = f.follow(segments)
		}
		if problem != nil {
			p.fail(value, problem)
		}
	}
}
