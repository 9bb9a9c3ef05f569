// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"fmt"
	"slices"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/generator/names"
	"github.com/informer-gen/informer-gen/internal/generator/project"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// readProjections adds the projections of all kinds to their packages, and returns types with the
// projections inserted behind their kinds.
func readProjections(reader *project.Reader, r *report.Report, in Input, apis []*api, types []Type) []Type {
	for _, a := range apis {
		for _, k := range slices.Clone(a.kinds) {
			for _, declared := range reader.Read(project.Kind{Name: k.Name, Type: k.goType, Markers: marker.All[marker.Project](k.decl.markers)}) {
				p := projectionOf(r, in, k, declared)
				a.kinds = append(a.kinds, p)
				at := slices.IndexFunc(types, func(t Type) bool { return t.kind == k })
				for at++; at < len(types) && types[at].kind != nil && types[at].kind.projectionOf == k; at++ {
				}
				t := Type{Package: a.pkg.Path, Name: p.Name, Pos: p.pos, api: a, kind: p}
				t.setReason(declared.Marker.Where().Name+" of type "+k.Name, declared.Marker.At)
				types = slices.Insert(types, at, t)
			}
		}
	}
	return types
}

// projectionOf returns the projection of k as a kind, served like k.
func projectionOf(r *report.Report, in Input, k *kind, declared project.Declared) *kind {
	m := declared.Marker
	plural := Fact{Text: pluralByRule(m.Name.Text), From: ruleOfGengo}
	switch exception, ok := in.Plurals[m.Name.Text]; {
	case m.Plural.IsSet() && names.IsExported(m.Plural.Text):
		plural = Fact{m.Plural.Text, m.At.Name, m.Plural.Pos}
	case m.Plural.IsSet():
		r.Fail(m.At, m.Plural.Pos, fmt.Sprintf("%q isn't an exported Go name%s", m.Plural.Text, names.SuggestExported(m.Plural.Text)))
	case ok:
		plural = exception
	}
	return &kind{
		api: k.api, decl: k.decl, pos: m.Name.Pos, plural: plural, scope: k.scope, resource: k.resource,
		goType: declared.Type, projectionOf: k,
		Type: &model.Type{
			Name: m.Name.Text, Plural: plural.Text, Resource: k.Resource, Namespaced: k.Namespaced, Deprecated: k.Deprecated,
			Projection: declared.Projection,
		},
	}
}

// indexesOf returns a kind's index markers; for a projection, those with its name.
func indexesOf(k *kind) []*marker.Index {
	name := ""
	if k.projectionOf != nil {
		name = k.Name
	}
	return slices.DeleteFunc(marker.All[marker.Index](k.decl.markers), func(m *marker.Index) bool { return m.Projection.Text != name })
}

func reportUnknownProjections(r *report.Report, k *kind) {
	var projections []string
	for _, m := range marker.All[marker.Project](k.decl.markers) {
		projections = append(projections, m.Name.Text)
	}
	for _, m := range marker.All[marker.Index](k.decl.markers) {
		if name := m.Projection.Text; m.Projection.IsSet() && !slices.Contains(projections, name) {
			r.Fail(m.At, m.Projection.Pos, fmt.Sprintf("type %s has no projection %s%s", k.Name, name, diag.DidYouMean(name, projections)), projections...)
		}
	}
}
