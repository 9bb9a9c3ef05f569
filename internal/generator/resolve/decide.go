// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"go/token"
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// verdict is a Type while it is being decided about.
type verdict struct {
	// api has the group and the version, which are only decided for packages with kinds.
	api  *api
	name string
	pos  token.Position
	// kind is nil if nothing is generated.
	kind *kind
	// reason is one sentence; at is the marker or the line of the config file that it speaks of, if
	// any; advice is what would get the type generated, if that is all that is missing.
	reason string
	at     marker.At
	advice string
}

// result returns the verdict as Result has it.
func (v verdict) result() Type {
	t := Type{Package: v.api.pkg.Path, Name: v.name, Pos: v.pos, Reason: Fact{v.reason, v.at.Name, v.at.Pos}, Advice: v.advice}
	if k := v.kind; k != nil {
		t.Model, t.Indexes = k.Type, k.indexes
		t.Group, t.GroupGoName, t.Version = v.api.group, v.api.groupGoName, v.api.version
		t.Scope, t.Resource, t.Plural = k.scope, k.resource, k.plural
	}
	return t
}

// findKinds fills in the kinds of all packages, and returns the verdicts about exported types that
// are marked or have metav1.ObjectMeta.
func findKinds(r *report.Report, in Input, apis []*api) []verdict {
	var verdicts []verdict
	for _, a := range apis {
		for _, d := range a.declared {
			v := decide(r, in, a, d)
			if v.kind != nil {
				a.kinds = append(a.kinds, v.kind)
			}
			if d.spec.Name.IsExported() && (d.marked() || embeds(a, d, "ObjectMeta")) {
				verdicts = append(verdicts, v)
			}
		}
	}
	return verdicts
}

// decide returns the verdict about the type that d declares.
func decide(r *report.Report, in Input, a *api, d *declared) verdict {
	name := d.spec.Name
	v := verdict{api: a, name: name.Name, pos: r.Position(name.Pos())}
	v.reason, v.at, v.advice = d.selection.reason, d.selection.at, d.selection.advice
	before := r.Errors()
	if d.candidate() {
		v.kind = kindOf(r, in, a, d, &v)
	}
	if v.kind == nil && r.Errors() > before {
		v.reason, v.at, v.advice = "it is wrong, which is reported", marker.At{}, ""
	}
	return v
}

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
