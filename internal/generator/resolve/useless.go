// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/report"
)

// reportNotSelected reports markers without effect because the type isn't selected.
func reportNotSelected(r *report.Report, d *typeDecl) {
	if d.incomplete {
		return // a wrong marker may have selected the type
	}
	s, name := d.selection, d.spec.Name.Name
	for _, at := range d.listed {
		why := s.advice
		if why == "" {
			why = s.reason + whereReason(r, s)
		}
		r.Fail(at, at.Pos, "nothing is generated for type "+name+": "+why)
	}
	for _, m := range d.markers {
		at := m.Where()
		if _, ok := m.(*marker.Generate); ok {
			continue
		}
		switch {
		case at.InFile() && s.advice != "":
			r.Fail(at, at.Pos, "nothing is generated for type "+name+": mark it, or add generate: true here")
		case at.InFile():
			r.Fail(at, at.Pos, "nothing is generated for type "+name+": "+s.reason+whereReason(r, s))
		case strings.HasPrefix(at.Name, "+informer:") && s.advice != "":
			r.Fail(at, at.Pos, "nothing is generated for type "+name+": "+s.advice)
		case strings.HasPrefix(at.Name, "+informer:") && !s.at.InFile():
			r.Fail(at, at.Pos, "nothing is generated for type "+name+": "+s.reason)
		case strings.HasPrefix(at.Name, "+genclient:") && s.advice != "":
			r.Add(diag.Diagnostic{
				Pos: at.Pos, Marker: at.Name, Warning: true,
				Message: "has no effect without +genclient above type " + name,
			})
		}
	}
}

// reportNotGenerated reports settings of a selected type without generated code. Markers for other
// tools don't count.
func reportNotGenerated(r *report.Report, d *typeDecl, why string) {
	places := slices.Clone(d.listed)
	for _, m := range d.markers {
		switch m.(type) {
		case *marker.Generate: // reported as a contradiction
		case *marker.Index, *marker.Plural, *marker.Project:
			places = append(places, m.Where())
		default:
			if m.Where().InFile() {
				places = append(places, m.Where())
			}
		}
	}
	for _, at := range places {
		r.Fail(at, at.Pos, "nothing is generated for type "+d.spec.Name.Name+": "+why)
	}
}
