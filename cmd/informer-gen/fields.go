// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/internal/generator/fields"
)

type fieldsCommand struct {
	tags   []string
	all    bool
	format choice
}

func newFields() *cobra.Command {
	var r fieldsCommand
	cmd := &cobra.Command{
		Use:   "fields [flags] [PACKAGES]",
		Short: "Show which fields of cached objects a program reads",
		Long: `Fields reads the program in PACKAGES, by default all packages below the working directory. For each kind whose objects
the program gets from a lister, an event handler, an index or a client's cache, it shows:

  comes from       where the program gets the objects
  reads            the fields it reads, and where; "(present)" marks a field that is only checked for presence
  uses as a whole  values it compares, copies or writes back as a whole, so that everything in them counts as read
  can't follow     where objects, or parts of them, go to code that isn't analyzed: printing, reflection, other modules
  projection       the declaration of a type with these fields; none if a whole object is used at once
  without          lines that prevent the projection or make it larger, the most valuable first, and its size without
                   them; these lines are shown only here

Objects are followed through variables, fields, lists, maps, channels, calls, closures, copies and interfaces, and into
packages of other modules that know API objects. All functions of PACKAGES count as called; the order of statements and
their conditions are ignored. So the result may have fields that are never read, but lacks none that is.`,
		Example: `  informer-gen fields                                # the program below the working directory
  informer-gen fields ./cmd/manager ./controllers/...
  informer-gen fields --format=json                  # for programs`,
		ValidArgsFunction: completePackages,
		RunE:              r.run,
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringSliceVar(&r.tags, "tags", nil, "build `TAGS` for the go command, separated by commas")
	flags.BoolVar(&r.all, "all", false, "show all places, not just 3, and all lines that enlarge a projection, not just 5")
	r.format = choice{value: formatText, allowed: []string{formatText, formatJSON}}
	r.format.addTo(cmd, "format", "output format (see informer-gen help formats)")
	must(cmd.RegisterFlagCompletionFunc("tags", cobra.NoFileCompletions))
	return cmd
}

func (r *fieldsCommand) run(cmd *cobra.Command, patterns []string) error {
	out := findings{format: r.format}
	out.begin(cmd)
	report, err := r.find(cmd, patterns)
	if err != nil {
		if r.format.value != formatJSON {
			return out.end(err)
		}
		out.add(err)
		if err := writeJSON(cmd.OutOrStdout(), fieldsJSON{Kinds: []kindJSON{}, Unknown: []useJSON{}, Findings: out.list}); err != nil {
			return err
		}
		return errPrinted
	}
	switch {
	case r.format.value == formatJSON:
		return writeJSON(cmd.OutOrStdout(), toFieldsJSON(report))
	case len(report.Kinds) == 0:
		_, err = fmt.Fprintf(cmd.ErrOrStderr(), "%sno objects come from a lister, a handler or an index in the %s that were read\n", prefix, count(report.Packages, "package"))
		return err
	}
	return printFields(cmd.OutOrStdout(), report, r.all)
}

func (r *fieldsCommand) find(cmd *cobra.Command, patterns []string) (*fields.Report, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("finding the working directory: %w", err)
	}
	if len(patterns) == 0 {
		patterns = []string{"./..."}
	}
	debug.SetGCPercent(50) // a big program fits into less than 1.5 GB, for a third more CPU time
	report, err := fields.Find(cmd.Context(), fields.Config{Dir: dir, Patterns: patterns, Tags: r.tags})
	if err != nil {
		return nil, err
	}
	if report.Packages == 0 {
		return nil, errors.New("no package matches " + strings.Join(patterns, " "))
	}
	return report, context.Cause(cmd.Context())
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
