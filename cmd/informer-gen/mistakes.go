// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// flagError adds a suggestion to pflag's error.
func flagError(cmd *cobra.Command, err error) error {
	// pflag has a type for this error only since v1.0.7
	unknown, ok := strings.CutPrefix(err.Error(), "unknown flag: ")
	if !ok {
		return err
	}
	return errors.New(err.Error() + diag.DidYouMean(unknown, flagNames(cmd)))
}

// flagNames returns the long flags of a command, with their dashes.
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

// suggestCommand adds to an error about the patterns the command that the user probably meant. The
// result isn't a diag.List, which would be printed without the addition.
func suggestCommand(root *cobra.Command, patterns []string, err error) error {
	commands := names(root)
	for _, pattern := range patterns {
		if slices.Contains(commands, pattern) {
			return fmt.Errorf("%v (commands come before PACKAGES: informer-gen %s)", err, pattern)
		}
	}
	if len(patterns) == 0 || strings.ContainsAny(patterns[0], "./") {
		return err
	}
	if best, ok := diag.Closest(patterns[0], append(commands, "generate")); ok && best == "generate" {
		return fmt.Errorf("%q is neither a command nor a package: to generate, leave it out (%v)", patterns[0], err)
	}
	if hint := diag.DidYouMean(patterns[0], commands); hint != "" {
		return fmt.Errorf("%q is neither a command nor a package%s (%v)", patterns[0], hint, err)
	}
	return err
}
