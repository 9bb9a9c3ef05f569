// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

func (t *Type) fillFacts() {
	if k := t.kind; k != nil {
		t.Model, t.Indexes = k.Type, k.indexes
		t.Group, t.GroupGoName, t.Version = t.api.group, t.api.groupGoName, t.api.version
		t.Scope, t.Resource, t.Plural = k.scope, k.resource, k.plural
	}
}

// findKinds fills in the kinds of all packages, and returns [Result].Types.
func findKinds(r *report.Report, in Input, apis []*api) []Type {
	var types []Type
	for _, a := range apis {
		for _, d := range a.decls {
			t := decide(r, in, a, d)
			if t.kind != nil {
				a.kinds = append(a.kinds, t.kind)
			}
			if d.spec.Name.IsExported() && (d.marked() || embeds(a, d, "ObjectMeta")) {
				types = append(types, t)
			}
		}
	}
	return types
}

func decide(r *report.Report, in Input, a *api, d *typeDecl) Type {
	name := d.spec.Name
	t := Type{Package: a.pkg.Path, Name: name.Name, Pos: r.Position(name.Pos()), Advice: d.selection.advice, api: a}
	t.setReason(d.selection.reason, d.selection.at)
	before := r.Errors()
	if d.candidate() {
		t.kind = kindOf(r, in, a, d, &t)
	}
	if t.kind == nil && r.Errors() > before {
		t.setReason("it has errors, which are reported", marker.At{})
		t.Advice = ""
	}
	return t
}

// setReason sets the reason; at, if set, is its place.
func (t *Type) setReason(reason string, at marker.At) { t.Reason = Fact{reason, at.Name, at.Pos} }

// marked reports whether the type has a marker other than one about its lifecycle.
func (d *typeDecl) marked() bool {
	if d.incomplete {
		return true
	}
	return slices.ContainsFunc(d.markers, func(m marker.Marker) bool {
		switch m.(type) {
		case *marker.LifecycleDeprecated, *marker.LifecycleRemoved, *marker.LifecycleReplacement:
			return false
		}
		return true
	})
}
