// SPDX-License-Identifier: Apache-2.0

// Package report collects what is wrong with the input of a run, each finding with its position.
//
// A step of the generator that finds something wrong reports it and goes on, so that one run shows
// everything.
package report

import (
	"go/token"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// Report is what was found so far.
type Report struct {
	fset     *token.FileSet
	dir      string
	findings diag.List
}

// New returns an empty report about the syntax of fset. Names of files inside of messages are
// relative to dir.
func New(fset *token.FileSet, dir string) *Report { return &Report{fset: fset, dir: dir} }

// Apart returns an empty report about the same syntax, whose findings r doesn't have.
func (r *Report) Apart() *Report { return New(r.fset, r.dir) }

// Position returns the position of a piece of syntax.
func (r *Report) Position(pos token.Pos) token.Position { return r.fset.Position(pos) }

// Short returns a position to be named inside of a message: like those in front of messages, but
// without the column.
func (r *Report) Short(pos token.Position) string {
	pos.Filename = diag.ShortPath(r.dir, pos.Filename)
	return diag.Place(pos)
}

// Add adds findings.
func (r *Report) Add(findings ...diag.Diagnostic) { r.findings = append(r.findings, findings...) }

// Fail adds an error about a marker, and what it could say at pos instead.
func (r *Report) Fail(at marker.At, pos token.Position, message string, allowed ...string) {
	r.Add(diag.Diagnostic{Pos: pos, Marker: at.Name, Message: message, Allowed: allowed})
}

// FailAt adds an error that no marker is to blame for.
func (r *Report) FailAt(pos token.Position, message string) {
	r.Add(diag.Diagnostic{Pos: pos, Message: message})
}

// Warn adds a warning about a marker.
func (r *Report) Warn(at marker.At, pos token.Position, message string) {
	r.Add(diag.Diagnostic{Pos: pos, Marker: at.Name, Message: message, Warning: true})
}

// WarnAt adds a warning that is about no marker.
func (r *Report) WarnAt(pos token.Position, message string) {
	r.Add(diag.Diagnostic{Pos: pos, Message: message, Warning: true})
}

// Errors returns how many errors there are. A step that reports none leaves it as it was.
func (r *Report) Errors() int {
	errs, _ := r.findings.Split()
	return len(errs)
}

// Findings returns everything that was added, in that order.
func (r *Report) Findings() diag.List { return r.findings }
