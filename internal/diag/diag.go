// SPDX-License-Identifier: Apache-2.0

// Package diag holds findings about a generator's input: each with a position, its marker, a reason
// and the allowed values. Findings are collected and shown all at once, so that users can fix them
// without another run.
package diag

import (
	"cmp"
	"fmt"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// Diagnostic is one finding.
type Diagnostic struct {
	// Pos is the deepest known position: an argument rather than its marker, a marker rather than
	// its type. The zero Pos is a finding about the call itself.
	Pos token.Position
	// Marker is the name of the marker with its "+"; empty if the finding isn't about a marker.
	Marker string
	// Message names the problem and, where it isn't obvious, the remedy. It is one line.
	Message string
	// Allowed lists the allowed values; may be empty.
	Allowed []string
	// Warning means that the generator can go on.
	Warning bool
}

// String returns "file:line:col: +marker: message (allowed: a, b)". Empty parts are omitted, and
// warnings have "warning: " before the marker.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.Pos.IsValid() || d.Pos.Filename != "" {
		b.WriteString(d.Pos.String())
		b.WriteString(": ")
	}
	if d.Warning {
		b.WriteString("warning: ")
	}
	if d.Marker != "" {
		b.WriteString(d.Marker)
		b.WriteString(": ")
	}
	b.WriteString(d.text())
	return b.String()
}

func (d Diagnostic) text() string {
	if len(d.Allowed) == 0 {
		return d.Message
	}
	return fmt.Sprintf("%s (allowed: %s)", d.Message, strings.Join(d.Allowed, ", "))
}

// List is a list of findings, and an error with one finding a line.
type List []Diagnostic

// Error returns the findings in order, one a line, without a line break at the end.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Add appends d.
func (l *List) Add(d Diagnostic) { *l = append(*l, d) }

// Sorted returns the findings ordered by file, line, column, marker and message, without
// duplicates.
func (l List) Sorted() List {
	sorted := slices.Clone(l)
	slices.SortStableFunc(sorted, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.Filename, b.Pos.Filename),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Column, b.Pos.Column),
			cmp.Compare(a.Marker, b.Marker),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(sorted, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Marker == b.Marker && a.Message == b.Message && a.Warning == b.Warning
	})
}

// Split returns the errors and the warnings, each in the list's order.
func (l List) Split() (errs, warnings List) {
	for _, d := range l {
		if d.Warning {
			warnings = append(warnings, d)
		} else {
			errs = append(errs, d)
		}
	}
	return errs, warnings
}

// Relative returns a copy with file names relative to dir where that is shorter.
func (l List) Relative(dir string) List {
	rel := slices.Clone(l)
	for i := range rel {
		rel[i].Pos.Filename = ShortPath(dir, rel[i].Pos.Filename)
	}
	return rel
}

// Place formats a position for the inside of a message: "file:line", with slashes, or the file
// alone if the line is unknown.
func Place(pos token.Position) string {
	name := filepath.ToSlash(pos.Filename)
	if pos.Line == 0 {
		return name
	}
	return fmt.Sprintf("%s:%d", name, pos.Line)
}

// ShortPath returns path relative to dir if that is shorter, else path itself.
func ShortPath(dir, path string) string {
	if path == "" || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(dir, path); err == nil && len(rel) < len(path) {
		return rel
	}
	return path
}
