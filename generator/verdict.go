// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/token"
	"slices"

	"github.com/informer-gen/informer-gen/generator/marker"
)

// verdict says what was decided about a type, and why. There is one for each exported type that is
// marked and for each exported struct type with metav1.ObjectMeta, in the order of packages and
// positions.
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

// kind returns the kind that d declares, or nil if it isn't one or is wrong, and records the
// verdict.
func (r *resolver) kind(a *api, d *declared) *kind {
	name := d.spec.Name
	v := verdict{api: a, name: name.Name, pos: r.fset.Position(name.Pos())}
	v.reason, v.at, v.advice = d.selection.reason, d.selection.at, d.selection.advice
	before := len(r.report)
	if d.candidate() {
		v.kind = r.decide(a, d, &v)
	}
	if errs, _ := r.report[before:].Split(); v.kind == nil && len(errs) > 0 {
		v.reason, v.at, v.advice = "it is wrong, which is reported", marker.At{}, ""
	}
	if name.IsExported() && (d.marked() || r.embeds(a, d, "ObjectMeta")) {
		r.verdicts = append(r.verdicts, v)
	}
	return v.kind
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
