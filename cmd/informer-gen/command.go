// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/diag"
)

const help = `Informer-gen reads Go packages with Kubernetes API types and writes, for each type that is marked with +genclient
or +kubebuilder:object:root=true, a typed informer, a typed lister and typed indexes, and for all of them a
SharedInformerFactory grouped by API group and version.

PACKAGES are the go command's patterns. Without any, all packages of the module are read, wherever in the module the
command runs; so this line works in every folder of it:

  //go:generate go tool informer-gen

The API group of a package is named by // +groupName=NAME in any of its comments, the version by the package's name.
Types are namespaced unless +genclient:nonNamespaced or +kubebuilder:resource:scope=Cluster stands above them.

The output goes to the folders informers and listers in generated/ beside go.mod. Files there that don't carry the
generator's header are never touched; those that do, and that a run does not write, are removed. Indexes are declared
above the type:

  // +informer:index:name=ByNode,field=.spec.nodeName
  // +informer:index:name=ByImage,field=.spec.containers[*].image
  // +informer:index:name=ByOwner,func=OwnerUIDs

The exit code is 0 if all went well or there was nothing to do, 1 if --check found a difference, and 2 if the input or
the call is wrong; then everything that is wrong is reported, and nothing is written.`

const examples = `  informer-gen                              # all API types of this module
  informer-gen ./api/...                    # those below one folder
  informer-gen ./api/... k8s.io/api/core/v1 # and the core group of Kubernetes
  informer-gen --check                      # for CI: what would change, and exit code 1 if anything would
  informer-gen --output internal/client     # another output folder`

// run is the whole program, except for what belongs to its process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	cmd := command()
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDifference):
		return exitDifference
	}
	fmt.Fprintln(stderr, message(err))
	return exitWrong
}

// message is what the user reads about an error.
func message(err error) string {
	var findings diag.List
	if !errors.As(err, &findings) {
		return prefix + err.Error()
	}
	lines := make([]string, len(findings))
	for i, d := range findings {
		lines[i] = finding(d)
	}
	return strings.Join(lines, "\n")
}

// finding begins with the place that it is about, or with the program's name if there is none.
func finding(d diag.Diagnostic) string {
	if d.Pos.Filename == "" {
		return prefix + d.String()
	}
	return d.String()
}

const prefix = "informer-gen: "

func command() *cobra.Command {
	var (
		cfg   generator.Config
		check bool
	)
	cmd := &cobra.Command{
		Use:           "informer-gen [flags] [PACKAGES]",
		Short:         "Write informers, listers and typed indexes for Kubernetes API types",
		Long:          help,
		Example:       examples,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			cfg.Patterns = patterns
			cfg.Warn = func(d diag.Diagnostic) { fmt.Fprintln(cmd.ErrOrStderr(), finding(d)) }
			files, err := generator.Generate(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			if check {
				return compare(files, cmd.OutOrStdout())
			}
			return write(files, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&cfg.Output, "output", "o", "", "write below `FOLDER` (default: generated/ beside go.mod)")
	flags.BoolVar(&check, "check", false, "write nothing, print what would change as a unified diff")
	flags.BoolVar(&cfg.Prune, "prune", false, "remove the files of packages that PACKAGES leave out")
	flags.BoolVar(&cfg.KeepGoing, "keep-going", false, "generate for the types that compile if others don't")
	return cmd
}

// compare prints what writing would change.
func compare(files generator.Files, stdout io.Writer) error {
	changes, err := files.Diff()
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		return nil
	}
	if _, err := stdout.Write(generator.Unified(changes)); err != nil {
		return fmt.Errorf("printing the difference: %w", err)
	}
	return errDifference
}

// write writes the files and says in a line what it did, if it did anything.
func write(files generator.Files, stderr io.Writer) error {
	report, err := files.Write()
	if err != nil {
		return err
	}
	var parts []string
	for _, part := range []struct {
		paths []string
		verb  string
	}{
		{report.Created, "created"},
		{report.Changed, "changed"},
		{report.Removed, "removed"},
	} {
		if n := len(part.paths); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, part.verb))
		}
	}
	if len(parts) > 0 {
		name := files.Name
		if name == "" {
			name = files.Root
		}
		fmt.Fprintf(stderr, prefix+"files in %s: %s, %d unchanged\n", name, strings.Join(parts, ", "), len(report.Unchanged))
	}
	return nil
}

// version is the module's, as the go command has recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
