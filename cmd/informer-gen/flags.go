// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/diag"
)

// choice is a flag with a closed set of values. The zero value is the default, which users can't
// write.
type choice struct {
	value   string
	allowed []string
}

// String implements pflag.Value.
func (c *choice) String() string { return c.value }

// Type implements pflag.Value.
func (c *choice) Type() string { return strings.Join(c.allowed, "|") }

// Set implements pflag.Value.
func (c *choice) Set(value string) error {
	if !slices.Contains(c.allowed, value) {
		return fmt.Errorf("%q isn't known%s (allowed: %s)", value, diag.DidYouMean(value, c.allowed), strings.Join(c.allowed, ", "))
	}
	c.value = value
	return nil
}

// addTo adds the flag to cmd, and its values to the shell's completion.
func (c *choice) addTo(cmd *cobra.Command, name, usage string) {
	cmd.Flags().Var(c, name, usage)
	must(cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(c.allowed, cobra.ShellCompDirectiveNoFileComp)))
}

// withoutDefault hides the default of a flag.
type withoutDefault struct{ pflag.Value }

// String implements pflag.Value.
func (withoutDefault) String() string { return "" }

// must panics on errors that only a mistake in this package can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// inputs are the flags about input and output, shared by all commands that look at types.
type inputs struct {
	cfg    generator.Config
	layout choice

	// Set only by a flag; the configuration file decides otherwise.
	controllers, apply, discover, prune, keepGoing, allowEmpty bool
}

func (in *inputs) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&in.cfg.File, "config", "", `read `+"`FILE`"+` instead of the nearest informer-gen.yaml; "none" for no file`)
	flags.StringVarP(&in.cfg.Output, "output", "o", "", "write below `FOLDER` (default: generated/ beside go.mod)")
	in.layout = choice{allowed: []string{string(generator.Grouped), string(generator.Single)}}
	in.layout.addTo(cmd, "layout", "folders by group and version, or a single package (default: grouped)")
	flags.BoolVar(&in.controllers, "controllers", false, "give informers a method Reconcile that creates controllers")
	flags.BoolVar(&in.apply, "apply-configurations", false, "generate types for server-side apply that send the set fields only")
	flags.StringVar(&in.cfg.Header, "header", "", "begin each generated file with the comments in `FILE`")
	flags.StringVar(&in.cfg.HeaderYear, "header-year", "", "year that replaces the word `YEAR` in the header")
	flags.StringSliceVar(&in.cfg.Tags, "tags", nil, "build `TAGS` for the go command, separated by commas")
	flags.StringSliceVar(&in.cfg.CRDs, "crds", nil, "check group, scope and plural against the CRDs in `FOLDER` or file; may be repeated")
	flags.StringToStringVar(&in.cfg.Plurals, "plural", nil, "`KIND=PLURAL` in Go, if the rules give the wrong plural; may be repeated")
	flags.BoolVar(&in.discover, "discover", false, "select all types with TypeMeta and ObjectMeta in packages without marked types")
	flags.BoolVar(&in.prune, "prune", false, "remove the files of packages that PACKAGES leave out")
	flags.BoolVar(&in.keepGoing, "keep-going", false, "generate for types that compile even if others don't")
	flags.BoolVar(&in.allowEmpty, "allow-empty", false, "succeed even without any type to generate for")

	// pflag hides the empty defaults of other lists, but not of this one
	plural := flags.Lookup("plural")
	plural.Value, plural.DefValue = withoutDefault{plural.Value}, ""
	must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	must(cmd.MarkFlagDirname("output"))
	must(cmd.MarkFlagDirname("crds"))
	for _, name := range []string{"header-year", "tags", "plural"} {
		must(cmd.RegisterFlagCompletionFunc(name, cobra.NoFileCompletions))
	}
}

// config combines the flags of cmd with the patterns.
func (in *inputs) config(cmd *cobra.Command, patterns []string) generator.Config {
	cfg := in.cfg
	cfg.Patterns = patterns
	cfg.Layout = generator.Layout(in.layout.value)
	for name, flag := range map[string]struct {
		value *bool
		to    **bool
	}{
		"controllers":          {&in.controllers, &cfg.Controllers},
		"apply-configurations": {&in.apply, &cfg.ApplyConfigurations},
		"discover":             {&in.discover, &cfg.Discover},
		"prune":                {&in.prune, &cfg.Prune},
		"keep-going":           {&in.keepGoing, &cfg.KeepGoing},
		"allow-empty":          {&in.allowEmpty, &cfg.AllowEmpty},
	} {
		if cmd.Flags().Changed(name) {
			*flag.to = flag.value
		}
	}
	return cfg
}
