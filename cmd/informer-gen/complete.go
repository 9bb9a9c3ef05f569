// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
)

// completePackages offers folders: most patterns begin with one.
func completePackages(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeKinds offers the kinds known to explain. It prints no errors.
func (in *inspection) completeKinds(cmd *cobra.Command) []string {
	found, err := generator.Inspect(cmd.Context(), in.config(cmd, nil))
	if err != nil {
		return nil
	}
	var names []string
	for _, t := range found.Types {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
