// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/token"
	"path"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/diag"
)

// inspection holds the flags shared by list and explain.
type inspection struct {
	inputs

	format choice
}

func (in *inspection) addTo(cmd *cobra.Command) {
	in.inputs.addTo(cmd)
	for _, name := range []string{"prune", "allow-empty"} { // nothing is written
		must(cmd.Flags().MarkHidden(name))
	}
	in.format = choice{value: formatText, allowed: []string{formatText, formatJSON}}
	in.format.addTo(cmd, "format", "output format (see informer-gen help formats)")
}

func (in *inspection) inspect(cmd *cobra.Command, patterns []string) (generator.Inspection, error) {
	return generator.Inspect(cmd.Context(), in.config(cmd, patterns))
}

// fail prints an error that leaves nothing else to show. Its result stands for the exit code.
func (in *inspection) fail(cmd *cobra.Command, found generator.Inspection, err error) error {
	f := findings{format: in.format, list: found.Findings}
	if in.format.value == formatJSON {
		f.add(err)
		found.Findings = f.list
		if err := printJSON(cmd, found, nil); err != nil {
			return err
		}
		return errPrinted
	}
	f.begin(cmd)
	return f.end(err)
}

// finish prints the findings, unless a JSON document has them already, and returns errPrinted if
// one of them is an error.
func (in *inspection) finish(cmd *cobra.Command, list diag.List) error {
	if in.format.value != formatJSON {
		f := findings{format: in.format, list: list}
		f.begin(cmd)
		if err := f.show(); err != nil {
			return err
		}
	}
	if errs, _ := list.Split(); len(errs) > 0 {
		return errPrinted
	}
	return nil
}

type typeJSON struct {
	Kind    string `json:"kind"`
	Package string `json:"package"`
	placeJSON
	Generated bool        `json:"generated"`
	Reason    factJSON    `json:"reason"`
	Advice    string      `json:"advice,omitempty"`
	Group     *factJSON   `json:"group,omitempty"`
	GroupName *factJSON   `json:"groupGoName,omitempty"`
	Version   *factJSON   `json:"version,omitempty"`
	Resource  *factJSON   `json:"resource,omitempty"`
	Plural    *factJSON   `json:"plural,omitempty"`
	Scope     *factJSON   `json:"scope,omitempty"`
	Indexes   []indexJSON `json:"indexes,omitempty"`
	Accessor  string      `json:"accessor,omitempty"`
	Files     []string    `json:"files,omitempty"` // in the output
}

type factJSON struct {
	Value string `json:"value"`
	From  string `json:"from,omitempty"`
	placeJSON
}

type placeJSON struct {
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
}

func toPlaceJSON(pos token.Position) placeJSON {
	return placeJSON{filepath.ToSlash(pos.Filename), pos.Line, pos.Column}
}

type indexJSON struct {
	Name       string `json:"name"`
	Key        string `json:"key"`
	Of         string `json:"of"`
	Namespaced bool   `json:"namespaced,omitempty"`
	placeJSON
}

func toJSON(t generator.InspectedType) typeJSON {
	fact := func(f generator.Fact) *factJSON {
		return &factJSON{f.Text, f.From, toPlaceJSON(f.Pos)}
	}
	j := typeJSON{
		Kind: t.Name, Package: t.Package, placeJSON: toPlaceJSON(t.Pos),
		Generated: t.Generated, Reason: *fact(t.Reason), Advice: t.Advice, Accessor: t.Accessor, Files: t.Files,
	}
	if !t.Generated {
		return j
	}
	j.Group, j.GroupName, j.Version = fact(t.Group), fact(t.GroupGoName), fact(t.Version)
	j.Resource, j.Plural, j.Scope = fact(t.Resource), fact(t.Plural), fact(t.Scope)
	for _, x := range t.Indexes {
		j.Indexes = append(j.Indexes, indexJSON{x.Name, x.Key, x.Of, x.Namespaced, toPlaceJSON(x.Pos)})
	}
	return j
}

type inspectionJSON struct {
	Config   string     `json:"config,omitempty"`
	Output   string     `json:"output,omitempty"`
	Types    []typeJSON `json:"types"`
	Findings diag.List  `json:"findings"`
}

func printJSON(cmd *cobra.Command, found generator.Inspection, types []generator.InspectedType) error {
	document := inspectionJSON{found.Config, found.Output, []typeJSON{}, append(diag.List{}, found.Findings...)}
	for _, t := range types {
		document.Types = append(document.Types, toJSON(t))
	}
	return writeJSON(cmd.OutOrStdout(), document)
}

func packagesRead(found generator.Inspection) string {
	switch n := len(found.Packages); n {
	case 0:
		return "the patterns, which match no package"
	case 1:
		return "package " + found.Packages[0]
	default:
		return fmt.Sprintf("the %d packages that were read", n)
	}
}

func groupVersion(t generator.InspectedType) string {
	if t.Group.Text == "" {
		return t.Version.Text
	}
	return t.Group.Text + "/" + t.Version.Text
}

// place formats a position with slashes and without its column. A file of another module, which
// lies in a cache, is shown by its import path.
func place(t generator.InspectedType, pos token.Position) string {
	if filepath.IsAbs(pos.Filename) && filepath.Dir(pos.Filename) == filepath.Dir(t.Pos.Filename) {
		pos.Filename = path.Join(t.Package, filepath.Base(pos.Filename))
	}
	return diag.Place(pos)
}
