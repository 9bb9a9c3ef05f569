// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/marker/kubebuilder"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// notServed returns why the type can't be listed and watched, and the marker behind that; the
// reason is empty if it can.
func notServed(r *report.Report, d *typeDecl) (reason string, at marker.At) {
	if m := marker.First[kubebuilder.UnservedVersion](d.markers); m != nil {
		return "+kubebuilder:unservedversion says that the API server doesn't serve it", m.At
	}
	verbs, at := verbs(r, d)
	for _, verb := range []string{"list", "watch"} {
		if !slices.Contains(verbs, verb) {
			return "the API server doesn't offer the verb " + verb + " for it", at
		}
	}
	return "", marker.At{}
}

// verbs returns the API server's verbs for a type, as far as informers need them, and the first
// marker about them.
func verbs(r *report.Report, d *typeDecl) ([]string, marker.At) {
	only, skip := marker.All[marker.OnlyVerbs](d.markers), marker.All[marker.SkipVerbs](d.markers)
	readOnly, none := marker.First[marker.ReadOnly](d.markers), marker.First[marker.NoVerbs](d.markers)
	switch {
	case none != nil:
		for _, m := range d.markers {
			switch m.(type) {
			case *marker.OnlyVerbs, *marker.SkipVerbs, *marker.ReadOnly:
				r.Fail(m.Where(), m.Where().Pos, "contradicts +genclient:noVerbs at "+r.Short(none.Pos))
			}
		}
		return nil, none.At
	case len(only) > 0 && len(skip) > 0:
		r.Fail(skip[0].At, skip[0].Pos, "contradicts +genclient:onlyVerbs at "+r.Short(only[0].Pos)+": one of them says it all")
	case readOnly != nil && len(skip) > 0:
		r.Fail(skip[0].At, skip[0].Pos, "contradicts +genclient:readonly at "+r.Short(readOnly.Pos)+": one of them says it all")
	}
	var at marker.At
	verbs := []string{"get", "list", "watch"}
	if len(only) > 0 && readOnly == nil {
		verbs, at = nil, only[0].At
	}
	for _, m := range only {
		for _, v := range m.Verbs {
			verbs = append(verbs, v.Text)
		}
	}
	for _, m := range skip {
		at = m.At
		for _, v := range m.Verbs {
			verbs = slices.DeleteFunc(verbs, func(verb string) bool { return verb == v.Text })
		}
	}
	return verbs, at
}
