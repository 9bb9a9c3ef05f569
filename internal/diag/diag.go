// SPDX-License-Identifier: Apache-2.0

// Package diag holds what is wrong with a generator's input: findings with a position, the marker
// that they are about, a reason and what would have been allowed.
//
// Findings are collected and shown all at once, so that all of them can be fixed without another
// run.
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
	// Pos is the deepest position that is known: an argument inside of a marker rather than the
	// marker, a marker rather than the type below it. The zero Pos is a finding about the call
	// itself.
	Pos token.Position
	// Marker is the name of the marker with its "+"; empty if the finding isn't about a marker.
	Marker string
	// Message says what is wrong and, where it isn't obvious, what to do. It is one line.
	Message string
	// Allowed lists what would have been right; may be empty.
	Allowed []string
	// Warning means that the finding doesn't keep the generator from doing its work.
	Warning bool
}

// String returns "file:line:col: +marker: message (allowed: a, b)". Parts that are empty are left
// out, and warnings say "warning: " before the marker.
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

// text is the message with what would have been right.
func (d Diagnostic) text() string {
	if len(d.Allowed) == 0 {
		return d.Message
	}
	return fmt.Sprintf("%s (allowed: %s)", d.Message, strings.Join(d.Allowed, ", "))
}

// List is any number of findings. As an error it is shown with one finding a line.
// The zero List is empty and ready to use.
type List []Diagnostic

// Error returns the findings as they stand, one a line, without a line break at the end.
func (l List) Error() string {
	lines := make([]string, len(l))
	for i, d := range l {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// Add appends d.
func (l *List) Add(d Diagnostic) { *l = append(*l, d) }

// Sorted returns the findings ordered by file, line, column, marker and message, each of them once.
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

// Split returns the errors and the warnings of the list, each in the list's order.
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

// Relative returns a copy with the file names made relative to dir wherever that makes them
// shorter.
func (l List) Relative(dir string) List {
	rel := slices.Clone(l)
	for i := range rel {
		rel[i].Pos.Filename = ShortPath(dir, rel[i].Pos.Filename)
	}
	return rel
}

// Place returns "file:line", with slashes, for a position inside of a message; the file alone if
// the line is unknown.
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
