// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// Our own commands only: completion is written by cobra.
func TestHelpFitsTheScreen(t *testing.T) {
	root := newRoot()
	for _, cmd := range append(root.Commands(), root) {
		if cmd.Name() == "completion" {
			continue
		}
		cmd.InitDefaultHelpFlag()
		for line := range strings.Lines(cmd.Long + "\n" + cmd.UsageString()) {
			line = strings.TrimRight(line, "\n")
			if n := utf8.RuneCountInString(line); n > 120 {
				t.Errorf("%s: a line of %d letters: %s", cmd.Name(), n, line)
			}
			if strings.Contains(line, "(default )") || strings.Contains(line, "(default [])") {
				t.Errorf("%s: an empty default: %s", cmd.Name(), line)
			}
		}
	}
}

func TestEveryCommandHasExamples(t *testing.T) {
	root := newRoot()
	for _, cmd := range append(root.Commands(), root) {
		if takesArguments := cmd.Runnable() && cmd.Name() != "help" && cmd.Name() != "completion"; takesArguments && cmd.Example == "" {
			t.Errorf("%s has no examples", cmd.Name())
		}
	}
}
