// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/output"
)

const (
	formatText   = "text"
	formatJSON   = "json"
	formatGitHub = "github"
)

// findings collects findings about the input and the output, and shows them when the command ends.
type findings struct {
	format choice

	stdout, stderr io.Writer
	list           diag.List
	changes        []output.Change
}

func (f *findings) addTo(cmd *cobra.Command) {
	f.format = choice{value: formatText, allowed: []string{formatText, formatJSON, formatGitHub}}
	f.format.addTo(cmd, "format", "format of findings and differences (see informer-gen help formats)")
}

func (f *findings) begin(cmd *cobra.Command) {
	f.stdout, f.stderr = cmd.OutOrStdout(), cmd.ErrOrStderr()
}

// warn is generator.Config.Warn.
func (f *findings) warn(d diag.Diagnostic) { f.list.Add(d) }

// add adds the findings of err, which may be nil.
func (f *findings) add(err error) {
	var list diag.List
	switch {
	case err == nil:
	case errors.As(err, &list):
		f.list = list // includes the warnings
	default:
		f.list.Add(diag.Diagnostic{Message: err.Error()})
	}
}

// end shows everything, err included. Its error only stands for the exit code.
func (f *findings) end(err error) error {
	f.add(err)
	if showErr := f.show(); showErr != nil {
		return fmt.Errorf("printing the findings: %w", showErr)
	}
	switch {
	case err != nil:
		return errPrinted
	case len(f.changes) > 0:
		return errDifference
	}
	return nil
}

func (f *findings) show() error {
	switch f.format.value {
	case formatJSON:
		return f.json()
	case formatGitHub:
		return f.github()
	}
	if err := printFindings(f.stderr, f.list); err != nil {
		return err
	}
	_, err := f.stdout.Write(output.Unified(f.changes))
	return err
}

func printFindings(w io.Writer, list diag.List) error {
	for _, d := range list {
		line := d.String()
		if d.Pos.Filename == "" {
			line = prefix + line
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (f *findings) json() error {
	type change struct {
		Kind string `json:"kind"`
		File string `json:"file"`
		Line int    `json:"line,omitempty"`
	}
	document := struct {
		Findings diag.List `json:"findings"`
		Changes  []change  `json:"changes"`
	}{diag.List{}, []change{}}
	document.Findings = append(document.Findings, f.list...)
	for _, c := range f.changes {
		document.Changes = append(document.Changes, change{c.Kind.String(), c.Path, firstDifference(c)})
	}
	return writeJSON(f.stdout, document)
}

func writeJSON(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

// github prints the differences to the log, and everything as annotations.
func (f *findings) github() error {
	if _, err := f.stdout.Write(output.Unified(f.changes)); err != nil {
		return err
	}
	list := f.list
	for _, c := range f.changes {
		d := diag.Diagnostic{Message: map[output.ChangeKind]string{
			output.Missing: "is missing",
			output.Changed: "isn't what the generator writes",
			output.Stale:   "is stale: nothing generates it any more",
		}[c.Kind]}
		d.Message = c.Path + " " + d.Message + "; run go tool informer-gen and commit the changes"
		d.Pos.Filename = filepath.FromSlash(c.Path)
		d.Pos.Line = firstDifference(c)
		list = append(list, d)
	}
	for _, d := range list {
		d.Pos.Filename = inCheckout(d.Pos.Filename)
		if _, err := fmt.Fprintln(f.stdout, d.GitHub()); err != nil {
			return err
		}
	}
	return nil
}

// inCheckout makes a name relative to the root of the checkout, as GitHub expects.
func inCheckout(name string) string {
	checkout := os.Getenv("GITHUB_WORKSPACE")
	if checkout == "" || name == "" {
		return name
	}
	full, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	for _, dir := range []string{checkout, realPath(checkout)} {
		if rel, err := filepath.Rel(dir, full); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel
		}
	}
	return name
}

func realPath(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	return path
}

// firstDifference returns the number of the first different line, counted from 1, or 0 if the file
// is missing or stale.
func firstDifference(c output.Change) int {
	if c.Kind != output.Changed {
		return 0
	}
	line := 1
	rest := c.New
	for text := range bytes.Lines(c.Old) {
		if !bytes.HasPrefix(rest, text) {
			return line
		}
		rest = rest[len(text):]
		line++
	}
	return max(1, line-1) // lines are missing at the end
}
