// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

func newMarkers() *cobra.Command {
	format := choice{value: formatText, allowed: []string{formatText, formatJSON}}
	cmd := &cobra.Command{
		Use:   "markers [flags] [NAME...]",
		Short: "Describe the markers: comments that say what to generate",
		Long: `Markers describes the markers that the generator reads, or only those named: meaning, place, arguments with their
allowed values, and examples. A NAME may be a prefix: "genclient" stands for all of +genclient's.

--format=json prints {"markers": […]}, where each marker has the members name, target ("type" or "package"), doc,
examples and arguments, and each argument name, doc, required, list, mayBeEmpty and allowed.`,
		Example: `  informer-gen markers                  # all of them
  informer-gen markers informer:index   # one
  informer-gen markers --format=json    # for programs`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return markerNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, names []string) error {
			list, err := markersNamed(names)
			if err != nil {
				return err
			}
			if format.value == formatJSON {
				return writeJSON(cmd.OutOrStdout(), map[string][]*syntax.Definition{"markers": list})
			}
			return syntax.WriteText(cmd.OutOrStdout(), list)
		},
	}
	format.addTo(cmd, "format", "output format")
	return cmd
}

func markerNames() []string {
	var names []string
	for _, d := range syntax.Definitions() {
		names = append(names, d.Name)
	}
	return names
}

// markersNamed returns the markers with the given names and those below them; all without names.
func markersNamed(names []string) ([]*syntax.Definition, error) {
	all := syntax.Definitions()
	if len(names) == 0 {
		return all, nil
	}
	wanted := map[*syntax.Definition]bool{}
	for _, name := range names {
		name = strings.TrimPrefix(name, "+")
		found := false
		for _, d := range all {
			if d.Name == name || strings.HasPrefix(d.Name, name+":") {
				wanted[d], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("there is no marker +%s%s (informer-gen markers describes all)", name, diag.DidYouMean(name, markerNames()))
		}
	}
	return slices.DeleteFunc(all, func(d *syntax.Definition) bool { return !wanted[d] }), nil
}
