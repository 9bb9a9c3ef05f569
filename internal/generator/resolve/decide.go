// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// complete fills in what was decided about the kind that t is, if it is one.
func (t *Type) complete() {
	if k := t.kind; k != nil {
		t.Model, t.Indexes = k.Type, k.indexes
		t.Group, t.GroupGoName, t.Version = t.api.group, t.api.groupGoName, t.api.version
		t.Scope, t.Resource, t.Plural = k.scope, k.resource, k.plural
	}
}

// findKinds fills in the kinds of all packages, and returns the exported types that are marked or
// have metav1.ObjectMeta.
func findKinds(r *report.Report, in Input, apis []*api) []Type {
	var types []Type
	for _, a := range apis {
		for _, d := range a.declared {
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

// decide returns what is decided about the type that d declares.
func decide(r *report.Report, in Input, a *api, d *declared) Type {
	name := d.spec.Name
	t := Type{Package: a.pkg.Path, Name: name.Name, Pos: r.Position(name.Pos()), Advice: d.selection.advice, api: a}
	t.because(d.selection.reason, d.selection.at)
	before := r.Errors()
	if d.candidate() {
		t.kind = kindOf(r, in, a, d, &t)
	}
	if t.kind == nil && r.Errors() > before {
		t.because("it is wrong, which is reported", marker.At{})
		t.Advice = ""
	}
	return t
}

// because sets the reason, which speaks of at if that is set.
func (t *Type) because(reason string, at marker.At) { t.Reason = Fact{reason, at.Name, at.Pos} }

// marked reports whether a marker is about more than the history of the type.
func (d *declared) marked() bool {
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
