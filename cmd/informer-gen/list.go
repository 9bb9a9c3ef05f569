// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
)

func newList() *cobra.Command {
	var in inspection
	cmd := &cobra.Command{
		Use:   "list [flags] [PACKAGES]",
		Short: "Show what would be generated, and from where",
		Long: `List prints a line for each kind that informer-gen would generate with the same flags and PACKAGES: group and version,
kind, resource, scope, indexes, and the position of the type. It writes nothing.

--format=json prints one document with the members config, output, types and findings; "informer-gen explain" prints the
same for one kind. If the input has errors, the exit code is 2, and everything that could be decided is still printed.`,
		Example: `  informer-gen list                 # the inputs of informer-gen.yaml, or all API types of this module
  informer-gen list k8s.io/api/...  # all of Kubernetes' own
  informer-gen list --format=json   # for programs`,
		ValidArgsFunction: completePackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			found, err := in.inspect(cmd, patterns)
			if err != nil {
				return in.fail(cmd, found, err)
			}
			kinds := slices.DeleteFunc(slices.Clone(found.Types), func(t generator.InspectedType) bool { return !t.Generated })
			slices.SortStableFunc(kinds, func(a, b generator.InspectedType) int {
				return cmp.Or(strings.Compare(a.Group.Text, b.Group.Text), strings.Compare(a.Version.Text, b.Version.Text), strings.Compare(a.Name, b.Name))
			})
			if in.format.value == formatJSON {
				err = printJSON(cmd, found, kinds)
			} else {
				err = printList(cmd, found, kinds)
			}
			if err != nil {
				return err
			}
			return in.finish(cmd, found.Findings)
		},
	}
	in.addTo(cmd)
	return cmd
}

func printList(cmd *cobra.Command, found generator.Inspection, kinds []generator.InspectedType) error {
	if len(kinds) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), prefix+"nothing would be generated for "+packagesRead(found))
		return nil
	}
	w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "GROUP/VERSION\tKIND\tRESOURCE\tSCOPE\tINDEXES\tSOURCE")
	for _, t := range kinds {
		var indexes []string
		for _, x := range t.Indexes {
			indexes = append(indexes, x.Name)
		}
		if len(indexes) == 0 {
			indexes = []string{"-"}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n",
			groupVersion(t), t.Name, t.Resource.Text, t.Scope.Text, strings.Join(indexes, ","), place(t, t.Pos))
	}
	return w.Flush()
}
