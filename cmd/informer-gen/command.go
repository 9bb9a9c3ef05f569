// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informer-gen/informer-gen/generator/diag"
)

// prefix begins what the program says about itself rather than about a place in the input.
const prefix = "informer-gen: "

// run is the whole program, except for what belongs to its process. It returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := singleDash(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	var list diag.List
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errDifference):
		return exitDifference
	case errors.Is(err, errPrinted):
	case errors.As(err, &list):
		_ = printFindings(stderr, list) // there is no other place to report it
	default:
		fmt.Fprintln(stderr, prefix+err.Error())
	}
	return exitWrong
}

// newRoot is the command that generates, with all the others below it.
func newRoot() *cobra.Command {
	root := newGenerate()
	root.AddCommand(newDiff(), newExplain(), newFields(), newInit(), newList(), newMarkers(), newFormats())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Name() == "completion" { // without a shell it would print its help and succeed
			cmd.Args = cobra.ArbitraryArgs
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				return fmt.Errorf("completion needs the name of a shell: %s", strings.Join(names(cmd), ", "))
			}
		}
		cmd.SilenceErrors = true // run prints them
		cmd.SilenceUsage = true
		cmd.DisableFlagsInUseLine = true
	}
	return root
}

// newHelp is cobra's help command, except that an unknown command is an error.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Describe a command, or one of the topics below",
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return names(cmd.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || target == nil || len(rest) > 0 {
				return fmt.Errorf("there is no command %q%s", strings.Join(args, " "), diag.DidYouMean(strings.Join(args, " "), names(cmd.Root())))
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// names are those of the commands below cmd that one may call.
func names(cmd *cobra.Command) []string {
	var all []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			all = append(all, sub.Name())
		}
	}
	return all
}

// flagError adds to pflag's words what was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	// pflag has had a type for this error since v1.0.7 only
	unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: ")
	if !ok {
		return err
	}
	return errors.New(err.Error() + diag.DidYouMean(unknown, flagNames(cmd)))
}

// flagNames are the long flags of a command, with their dashes.
func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}

// singleDash refuses "-output", which pflag would take for "-o utput".
func singleDash(root *cobra.Command, args []string) error {
	known := flagNames(root)
	for _, cmd := range root.Commands() {
		known = append(known, flagNames(cmd)...)
	}
	for _, arg := range args {
		if arg == "--" {
			return nil
		}
		name, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(name, "-") && slices.Contains(known, "-"+name) {
			return fmt.Errorf("long flags take two dashes: write -%s", arg)
		}
	}
	return nil
}

// mistaken adds to an error about the patterns the command that one of them probably stands for.
// The result isn't a diag.List any more, which would be shown without what is added.
func mistaken(root *cobra.Command, patterns []string, err error) error {
	commands := names(root)
	for _, pattern := range patterns {
		if slices.Contains(commands, pattern) {
			return fmt.Errorf("%v (a command stands before PACKAGES: informer-gen %s)", err, pattern)
		}
	}
	if len(patterns) == 0 || strings.ContainsAny(patterns[0], "./") {
		return err
	}
	if hint := diag.DidYouMean(patterns[0], commands); hint != "" {
		return fmt.Errorf("%q is neither a command nor a package%s (%v)", patterns[0], hint, err)
	}
	return err
}

// version is the module's, as the go command has recorded it.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
