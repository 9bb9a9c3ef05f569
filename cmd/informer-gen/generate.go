// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
)

const generateHelp = `Informer-gen reads Go packages with Kubernetes API types and writes, for each type marked with +genclient or
+kubebuilder:object:root=true, a typed informer, lister and indexes, and one SharedInformerFactory for all of them.

PACKAGES are package patterns of the go command. The default is the inputs of informer-gen.yaml or, without such a file
in the working directory or above it up to go.mod, all packages of the module. So this line works in every folder of it:

  //go:generate go tool informer-gen

"informer-gen init" writes a configuration file and this line. The file can hold all settings of flags and markers;
flags override it.

The output goes to generated/ beside go.mod. Files there without the generator's header are never touched; files with it
that a run doesn't write are removed. Indexes are declared above the type:

  // +informer:index:name=ByNode,field=.spec.nodeName
  // +informer:index:name=ByImage,field=.spec.containers[*].image

"informer-gen markers" describes all markers, "informer-gen list" shows what would be generated, and
"informer-gen explain KIND" says why a kind is or isn't generated.

The exit code is 0 on success, 1 if --check or diff found a difference, 2 if the input or the command line is wrong, and
130 after an interrupt. With 2, all errors are reported. With 2 and 130, nothing is written.`

const generateExamples = `  informer-gen                              # the inputs of informer-gen.yaml, or all API types of this module
  informer-gen ./api/...                    # API types below one folder
  informer-gen ./api/... k8s.io/api/core/v1 # and those of Kubernetes' core group
  informer-gen --check                      # for CI: what would change, and exit code 1 if anything would
  informer-gen --check --format=github      # the same with annotations in a GitHub workflow
  informer-gen --output pkg/client --layout single # all in one package, in another folder`

type generation struct {
	inputs
	findings

	check bool
	// summary describes the written files in a line; empty if there are none.
	summary string
}

func newGenerate() *cobra.Command {
	var g generation
	cmd := &cobra.Command{
		Use:               "informer-gen [flags] [PACKAGES]",
		Short:             "Write informers, listers and typed indexes for Kubernetes API types",
		Long:              generateHelp,
		Example:           generateExamples,
		Version:           version(),
		Args:              cobra.ArbitraryArgs, // cobra would take a pattern for a command
		ValidArgsFunction: completePackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return g.run(cmd, patterns)
		},
	}
	g.inputs.addTo(cmd)
	cmd.Flags().BoolVar(&g.check, "check", false, "write nothing, print what would change as a unified diff")
	g.findings.addTo(cmd)
	return cmd
}

func newDiff() *cobra.Command {
	g := generation{check: true}
	cmd := &cobra.Command{
		Use:   "diff [flags] [PACKAGES]",
		Short: "Show what a run would change, and write nothing",
		Long: `Diff prints what informer-gen with the same flags and PACKAGES would change as a unified diff, and writes nothing. Files
are missing, changed or stale. It is the same as informer-gen --check.

The exit code is 0 if the output is up to date, 1 if it isn't, and 2 if the input or the call is wrong.`,
		Example: `  informer-gen diff                 # for CI
  informer-gen diff --format=github # for CI on GitHub: each file that differs gets an annotation
  informer-gen diff --format=json   # for programs
  informer-gen diff | git apply     # what informer-gen would have done, except for empty folders`,
		ValidArgsFunction: completePackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			return g.run(cmd, patterns)
		},
	}
	g.inputs.addTo(cmd)
	g.findings.addTo(cmd)
	return cmd
}

func (g *generation) run(cmd *cobra.Command, patterns []string) error {
	g.begin(cmd)
	err := g.generate(cmd, patterns)
	if err != nil && cmd == cmd.Root() {
		err = suggestCommand(cmd, patterns, err)
	}
	if err := g.end(err); err != nil {
		return err
	}
	if g.summary != "" {
		fmt.Fprintln(g.stderr, prefix+g.summary)
	}
	return nil
}

func (g *generation) generate(cmd *cobra.Command, patterns []string) error {
	cfg := g.config(cmd, patterns)
	cfg.Warn = g.warn
	files, err := generator.Generate(cmd.Context(), cfg)
	if err != nil {
		return err
	}
	if g.check {
		g.changes, err = files.Diff()
		return err
	}
	if err := context.Cause(cmd.Context()); err != nil {
		return err // from here on the run completes
	}
	g.summary, err = write(files)
	return err
}

func write(files generator.Files) (summary string, err error) {
	report, err := files.Write()
	if err != nil {
		return "", err
	}
	var parts []string
	for _, group := range []struct {
		paths []string
		verb  string
	}{
		{report.Created, "created"},
		{report.Changed, "changed"},
		{report.Removed, "removed"},
	} {
		if n := len(group.paths); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, group.verb))
		}
	}
	if len(parts) == 0 {
		return "", nil
	}
	name := files.Name
	if name == "" {
		name = files.Root
	}
	return fmt.Sprintf("files in %s: %s, %d unchanged", name, strings.Join(parts, ", "), len(report.Unchanged)), nil
}
