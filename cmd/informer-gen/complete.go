// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
)

// completePackages offers folders, which are what patterns mostly begin with.
func completePackages(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

// completeKinds offers the kinds that explain knows, as far as they can be found without a word
// about what is wrong.
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
