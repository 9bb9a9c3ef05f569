// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/token"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/fields"
)

// The limits of the text format without --all: places for each use, and for each kind lines whose
// removal would make its projection smaller.
const (
	mostPlaces = 3
	mostLines  = 5
)

type fieldsText struct {
	*tabwriter.Writer
	all bool
}

func printFields(out io.Writer, report *fields.Report, all bool) error {
	w := fieldsText{tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), all}
	for i, kind := range report.Kinds {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s of package %s\n", kind.Name, kind.Package)
		fmt.Fprintf(w, "  comes from %s\n", w.placesText(kind.From))
		gains := kind.Gains()
		w.uses(slices.DeleteFunc(slices.Clone(kind.Uses), func(u fields.Use) bool {
			return slices.ContainsFunc(gains, func(g fields.Gain) bool { return slices.Contains(g.Without, u) })
		}))
		w.projection(kind)
		w.gains(gains)
	}
	if len(report.Unknown) > 0 {
		fmt.Fprintf(w, "\nObjects of an unknown kind, which may be any of these\n")
		w.uses(report.Unknown)
	}
	return w.Flush()
}

// uses prints uses under their headings, each path or reason once.
func (w fieldsText) uses(uses []fields.Use) {
	for _, section := range []struct {
		heading string
		hows    []fields.How
	}{
		{"reads", []fields.How{fields.Read, fields.Present}},
		{"uses as a whole", []fields.How{fields.Whole, fields.Recursive, fields.WrittenBack}},
		{"can't follow", []fields.How{fields.Unfollowed}},
	} {
		type line struct{ path, why string }
		var lines []line
		places := map[line][]token.Position{}
		for _, u := range uses {
			if !slices.Contains(section.hows, u.How) {
				continue
			}
			l := line{pathText(u), u.Why}
			if u.How == fields.Present {
				l.why = "(present)"
			}
			if places[l] == nil {
				lines = append(lines, l)
			}
			places[l] = append(places[l], u.Pos)
		}
		if len(lines) > 0 {
			fmt.Fprintf(w, "  %s\n", section.heading)
		}
		for _, l := range lines {
			fmt.Fprintf(w, "    %s\t%s", l.path, w.placesText(places[l]))
			if l.why != "" {
				fmt.Fprintf(w, "\t%s", l.why)
			}
			fmt.Fprintln(w)
		}
	}
}

// gains prints the lines that keep a projection from being smaller.
func (w fieldsText) gains(gains []fields.Gain) {
	type line struct{ at, part, why string }
	left, hidden := mostLines, 0
	for i, g := range gains {
		var lines []line
		var names []string
		for _, u := range g.Without {
			l := line{diag.Place(u.Pos), pathText(u), u.Why}
			if !slices.Contains(lines, l) {
				lines = append(lines, l)
			}
			if !slices.Contains(names, l.at) {
				names = append(names, l.at)
			}
		}
		if left <= 0 && !w.all {
			hidden += len(lines)
			continue
		}
		without, too := "without this line", ""
		if len(names) > 1 {
			without = fmt.Sprintf("without these %d lines", len(names))
		}
		if i > 0 {
			too = ", too,"
		}
		fmt.Fprintf(w, "  %s%s a projection would have %d of %d fields\n", without, too, g.Kept, g.Total)
		for _, l := range lines {
			if left--; left < 0 && !w.all {
				hidden++
				continue
			}
			fmt.Fprintf(w, "    %s\t%s\t%s\n", l.part, l.at, l.why)
		}
	}
	if hidden > 0 {
		fmt.Fprintf(w, "    and %d more: see --all\n", hidden)
	}
}

func pathText(u fields.Use) string { return cmp.Or(u.Path, "the object") }

func (w fieldsText) placesText(places []token.Position) string {
	var names []string
	for _, pos := range places {
		if name := diag.Place(pos); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if more := len(names) - mostPlaces; more > 0 && !w.all {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostPlaces], ", "), more)
	}
	return strings.Join(names, ", ")
}

func (w fieldsText) projection(kind *fields.Kind) {
	named, ok := kind.Projection()
	switch {
	case kind.Projected:
		return
	case !ok:
		fmt.Fprintf(w, "  projection\tnone, because a whole object is used at once\n")
		return
	case len(named) == 0:
		fmt.Fprintf(w, "  projection\tnone is needed: the metadata that every object has is enough\n")
		return
	}
	if kind.Own {
		fmt.Fprintf(w, "  projection\n    // %s\n", kind.Marker())
	} else {
		fmt.Fprintf(w, "  projection, under packages in informer-gen.yaml\n    %s\n", strings.ReplaceAll(strings.TrimSpace(kind.Entry()), "\n", "\n    "))
	}
}

type useJSON struct {
	Path string     `json:"path"`
	How  fields.How `json:"how"`
	Why  string     `json:"why,omitempty"`
	placeJSON
}

type kindJSON struct {
	Kind       string          `json:"kind"`
	Package    string          `json:"package"`
	From       []placeJSON     `json:"from"`
	Uses       []useJSON       `json:"uses"`
	Projection *projectionJSON `json:"projection,omitempty"`
	Gains      []gainJSON      `json:"gains,omitempty"`
}

type gainJSON struct {
	Without []useJSON `json:"without"`
	Fields  []string  `json:"fields"`
	Kept    int       `json:"kept"`
	Total   int       `json:"total"`
}

type projectionJSON struct {
	Fields []string `json:"fields"`
	Marker string   `json:"marker,omitempty"`
	Entry  string   `json:"entry,omitempty"`
}

type fieldsJSON struct {
	Kinds    []kindJSON `json:"kinds"`
	Unknown  []useJSON  `json:"unknown"`
	Findings diag.List  `json:"findings"`
}

func toFieldsJSON(report *fields.Report) fieldsJSON {
	document := fieldsJSON{Kinds: []kindJSON{}, Unknown: toUsesJSON(report.Unknown), Findings: diag.List{}}
	for _, kind := range report.Kinds {
		j := kindJSON{Kind: kind.Name, Package: kind.Package, Uses: toUsesJSON(kind.Uses)}
		for _, pos := range kind.From {
			j.From = append(j.From, toPlaceJSON(pos))
		}
		if named, ok := kind.Projection(); ok {
			j.Projection = &projectionJSON{Fields: append([]string{}, named...), Marker: kind.Marker(), Entry: kind.Entry()}
		}
		for _, g := range kind.Gains() {
			j.Gains = append(j.Gains, gainJSON{toUsesJSON(g.Without), append([]string{}, g.Fields...), g.Kept, g.Total})
		}
		document.Kinds = append(document.Kinds, j)
	}
	return document
}

func toUsesJSON(uses []fields.Use) []useJSON {
	all := []useJSON{}
	for _, u := range uses {
		all = append(all, useJSON{u.Path, u.How, u.Why, toPlaceJSON(u.Pos)})
	}
	return all
}
