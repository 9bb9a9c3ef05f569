// SPDX-License-Identifier: Apache-2.0

// Package report collects the findings about the input of a run, with their positions.
package report

import (
	"go/token"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// Report collects findings.
type Report struct {
	fset     *token.FileSet
	dir      string
	findings diag.List
}

// New returns an empty report about the syntax of fset. File names inside messages are relative to
// dir.
func New(fset *token.FileSet, dir string) *Report { return &Report{fset: fset, dir: dir} }

// Fork returns an empty, separate report about the same syntax.
func (r *Report) Fork() *Report { return New(r.fset, r.dir) }

// Position returns the position of a piece of syntax.
func (r *Report) Position(pos token.Pos) token.Position { return r.fset.Position(pos) }

// Short returns a position as written inside messages: like the one before a message, but without
// the column.
func (r *Report) Short(pos token.Position) string {
	pos.Filename = diag.ShortPath(r.dir, pos.Filename)
	return diag.Place(pos)
}

// Add adds findings.
func (r *Report) Add(findings ...diag.Diagnostic) { r.findings = append(r.findings, findings...) }

// Fail adds an error about a marker, and the values allowed at pos.
func (r *Report) Fail(at marker.At, pos token.Position, message string, allowed ...string) {
	r.Add(diag.Diagnostic{Pos: pos, Marker: at.Name, Message: message, Allowed: allowed})
}

// FailAt adds an error that is not about a marker.
func (r *Report) FailAt(pos token.Position, message string) {
	r.Add(diag.Diagnostic{Pos: pos, Message: message})
}

// Warn adds a warning about a marker.
func (r *Report) Warn(at marker.At, pos token.Position, message string) {
	r.Add(diag.Diagnostic{Pos: pos, Marker: at.Name, Message: message, Warning: true})
}

// WarnAt adds a warning that is not about a marker.
func (r *Report) WarnAt(pos token.Position, message string) {
	r.Add(diag.Diagnostic{Pos: pos, Message: message, Warning: true})
}

// Errors returns the number of errors. A step without new errors leaves it unchanged.
func (r *Report) Errors() int {
	errs, _ := r.findings.Split()
	return len(errs)
}

// Findings returns all findings in the order they were added.
func (r *Report) Findings() diag.List { return r.findings }
