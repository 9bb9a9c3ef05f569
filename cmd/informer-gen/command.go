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

	"github.com/informer-gen/informer-gen/internal/diag"
)

// prefix begins messages that have no position in the input.
const prefix = "informer-gen: "

// run is the program without its process: signals and os.Exit.
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
		_ = printFindings(stderr, list) // nowhere else to report it
	default:
		fmt.Fprintln(stderr, prefix+err.Error())
	}
	return exitError
}

func newRoot() *cobra.Command {
	root := newGenerate()
	root.AddCommand(newDiff(), newExplain(), newFields(), newInit(), newList(), newMarkers(), newFormats(), newRBAC())
	root.SetFlagErrorFunc(flagError)
	root.SetHelpCommand(newHelp())
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Name() == "completion" { // without a shell it prints its help and succeeds
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

// newHelp is cobra's help command, but an unknown command is an error.
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

func names(cmd *cobra.Command) []string {
	var all []string
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			all = append(all, sub.Name())
		}
	}
	return all
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
