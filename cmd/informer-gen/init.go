// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/internal/generator/scaffold"
)

func newInit() *cobra.Command {
	var (
		force   bool
		year    string
		program newProgram
	)
	cmd := &cobra.Command{
		Use:   "init [flags] [PACKAGES]",
		Short: "Write informer-gen.yaml and the go:generate line, or a whole program",
		Long: `Init examines the module of the working directory and writes a matching informer-gen.yaml, with comments, beside its
go.mod. Unless a file has it already, it also writes the line

  //go:generate go tool informer-gen

into generate.go there. It recognizes projects of kubebuilder (PROJECT, api/, hack/boilerplate.go.txt, config/crd/bases)
and of code-generator (pkg/apis/, hack/update-codegen.sh), and searches the folders of others for API types. It leaves
out folders whose types aren't an API: types without the method DeepCopyObject, if those of other folders have it, or
with metadata declared in the module. API types in a nested module are named by its path, if go.mod requires it.

With PACKAGES, patterns of packages in other modules that go.mod requires, it writes a configuration for these. Packages
for which nothing can be generated are left out, with the reason in a comment.

It overwrites an existing configuration file only with --force.

With --controller KIND it also writes a program that runs a controller of this kind: a main with flags, logs, metrics,
health and leader election; the controller, which reports the condition Ready; tests in memory and with a real API
server; a role, kustomize folders and a Dockerfile. KIND is a type of the module, named as for "informer-gen explain".
If the module has no such type, init writes it into api/v1. No file of a program is ever overwritten; informer-gen.yaml,
if it is there, gets the line "controllers: true".`,
		Example: `  informer-gen init                    # for the API types of this module
  informer-gen init k8s.io/api/core/v1 # for Kubernetes' core group
  informer-gen init --force            # overwrite informer-gen.yaml
  informer-gen init --controller Widget                         # and a program with a controller
  informer-gen init --controller Widget --group shop.example.com # of a new type
  informer-gen init --controller Widget --program widgets       # beside a program that is there`,
		ValidArgsFunction: completePackages,
		RunE: func(cmd *cobra.Command, patterns []string) error {
			project, err := scaffold.Look(".", year)
			if err != nil {
				return err
			}
			if err := program.check(patterns); err != nil {
				return err
			}
			if len(patterns) > 0 {
				if err := project.Use(cmd.Context(), patterns); err != nil {
					return err
				}
			}
			if program.kind != "" {
				if err := program.addTo(cmd.Context(), project); err != nil {
					return err
				}
			}
			written, err := project.Write(force)
			if err != nil {
				return err
			}
			return printSteps(cmd.OutOrStdout(), project, written)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&program.kind, "controller", "", "also write a program with a controller of `KIND`")
	cmd.Flags().StringVar(&program.group, "group", "", "write a new type for the controller, in API `GROUP` (default: by the module's path)")
	cmd.Flags().StringVar(&program.folder, "program", "", "write the program below `FOLDER` of the module (default: beside go.mod)")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite an existing informer-gen.yaml")
	cmd.Flags().StringVar(&year, "header-year", strconv.Itoa(time.Now().Year()), "year that replaces the word `YEAR` in the licence header")
	cmd.Flags().Lookup("header-year").DefValue = "" // help doesn't change with the clock
	must(cmd.RegisterFlagCompletionFunc("controller", completeControllers))
	must(cmd.MarkFlagDirname("program"))
	for _, name := range []string{"header-year", "group"} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
	return cmd
}

func printSteps(w io.Writer, p *scaffold.Project, written scaffold.Written) error {
	var lines []string
	if !p.Chosen {
		lines = append(lines, fmt.Sprintf("This is %s.", p.Layout))
		for _, nested := range p.Nested {
			lines = append(lines, fmt.Sprintf("%s has API types but is a separate module, which ... doesn't enter: run informer-gen init there, or require it and name its packages, for example %s/...",
				p.Relative(nested.Folder), nested.Module))
		}
		for _, left := range p.LeftOut {
			lines = append(lines, p.Relative(left.Folder)+" is left out: "+left.Reason+".")
		}
	}
	lines = append(lines, writtenLines(p, written)...)
	next := "Next:"
	if root := p.Relative("."); root != "." {
		next = "Next, in " + root + ":"
	}
	lines = append(lines, "", next)
	lines = append(lines, nextSteps(p)...)
	for _, line := range lines {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// writtenLines tells about the files.
func writtenLines(p *scaffold.Project, written scaffold.Written) (lines []string) {
	already := p.Relative(p.Generate) + " already has the go:generate line."
	if p.Controller == nil {
		if written.Generate != "" {
			return []string{"Written: " + p.Relative(written.Config) + ", and the go:generate line in " + p.Relative(written.Generate)}
		}
		return []string{"Written: " + p.Relative(written.Config), already}
	}
	if c := p.Controller; c.New {
		from := ""
		if c.GroupFrom != "" {
			from = ", from " + c.GroupFrom + "; --group sets another one"
		}
		lines = append(lines, fmt.Sprintf("There is no type %s: it is new. Its API group is %s%s.", c.Kind, c.Group, from))
	}
	lines = append(lines, "Written:")
	names := slices.Clone(written.Program)
	for _, name := range []string{written.Config, written.Generate} {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		lines = append(lines, "  "+p.Relative(name))
	}
	if written.Generate == "" {
		lines = append(lines, already)
	}
	return lines
}

// nextSteps are the commands to run next.
func nextSteps(p *scaffold.Project) (lines []string) {
	if !p.HasTool {
		get := "  go get -tool " + scaffold.Tool
		if raised := p.RaisedGo(); raised != "" {
			get += "    # raises the go line of go.mod to " + raised
		}
		lines = append(lines, get)
	}
	if p.Controller != nil {
		return append(lines, programSteps(p)...)
	}
	if p.Layout == scaffold.Empty && !p.Chosen {
		lines = append(lines, "  write // +genclient above your API types, and // +groupName=NAME into a comment of their packages")
	}
	lines = append(lines,
		"  go tool informer-gen list    # what will be generated",
		"  go generate ./...            # generates it")
	if client := p.Client(); client != "" {
		lines = append(lines, "  go get "+client+"    # as new as the other Kubernetes libraries in go.mod")
	}
	return append(lines,
		"  go mod tidy                  # requires the modules that it imports",
		"  go tool informer-gen diff    # for CI: fails if generated files are out of date")
}
