// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/config"
)

// Config returns the configuration file: the settings for the project, and in comments the others.
func (p *Project) Config() []byte {
	var b yamlWriter
	b.line("# yaml-language-server: $schema=%s", config.SchemaID)
	b.line("#")
	if p.Chosen {
		b.line("# What informer-gen generates for module %s.", p.Module)
	} else {
		b.line("# What informer-gen generates for module %s, %s.", p.Module, p.Layout)
	}
	b.line("# informer-gen list shows the result; flags override these settings.")
	b.line("version: 1")
	b.line("")
	b.line("# The packages to read, as patterns of the go command.")
	for _, m := range p.required {
		b.line("# %s is a separate module, which go.mod requires.", p.slashed(m.Dir))
	}
	for _, note := range p.Notes {
		b.line("# %s", note)
	}
	for _, left := range p.LeftOut {
		b.line("# %s is left out: %s.", left.Folder, left.Reason)
	}
	b.line("inputs:")
	for _, input := range p.Inputs {
		b.line("- %s", scalar(input))
	}
	b.line("")
	b.line("# The folder to write into, and how: grouped has a folder for each group and version, single is one package.")
	b.line("output: generated")
	b.line("layout: grouped")
	b.line("")
	if p.Controller != nil {
		b.line("# Informers have a method Reconcile, which makes a controller.")
		b.line("controllers: true")
		b.line("")
	}
	p.headerConfig(&b)
	p.crdConfig(&b)
	b.line("# Go plurals of kinds for which the rules give the wrong one.")
	b.line("# plurals: {Chassis: Chassis}")
	b.line("")
	p.discoverConfig(&b)
	p.packageConfig(&b)
	return b.Bytes()
}

func (p *Project) headerConfig(b *yamlWriter) {
	b.line("# A file with comments for the top of each generated file. headerYear replaces the word YEAR in it.")
	if p.Header == "" {
		b.line("# header: %s", boilerplate)
	} else {
		b.line("header: %s", scalar(p.Header))
	}
	if p.HeaderYear != "" {
		b.line("headerYear: %q", p.HeaderYear)
	}
	b.line("")
}

func (p *Project) crdConfig(b *yamlWriter) {
	b.line("# Group, scope and plural are checked against these CustomResourceDefinitions.")
	if len(p.CRDs) == 0 {
		b.line("# crds: [config/crd/bases]")
	} else {
		b.line("crds:")
	}
	for _, folder := range p.CRDs {
		b.line("- %s", scalar(folder))
	}
	b.line("")
}

func (p *Project) discoverConfig(b *yamlWriter) {
	b.line("# Whether to select all types with TypeMeta and ObjectMeta in packages where no type is marked with +genclient or")
	b.line("# +kubebuilder:object:root=true.")
	b.line("discover: %t", p.Discover)
	b.line("")
}

func (p *Project) packageConfig(b *yamlWriter) {
	b.line("# Settings instead of markers, for packages whose comments you can't or don't want to change.")
	if len(p.Packages) > 0 {
		b.line("packages:")
	}
	for _, pkg := range p.Packages {
		b.line("- path: %s", scalar(pkg.Path))
		b.line("  kinds:")
		for _, leave := range pkg.Excluded {
			b.line("  # %s", leave.Reason)
			b.line("  - name: %s", scalar(leave.Kind))
			b.line("    generate: false")
		}
	}
	if len(p.Packages) == 0 {
		b.line("# packages:")
	}
	b.line("# - path: k8s.io/api/core/v1 # it must be among the inputs")
	b.line("#   only: [Pod]")
	b.line("#   kinds:")
	b.line("#   - name: Pod")
	b.line("#     indexes:")
	b.line("#     - {name: ByNode, field: .spec.nodeName}")
}

type yamlWriter struct{ bytes.Buffer }

func (w *yamlWriter) line(format string, args ...any) {
	fmt.Fprintf(&w.Buffer, format, args...)
	w.WriteByte('\n')
}

// plain matches texts that YAML reads as themselves: they begin neither like a number nor with a
// sign of YAML's own.
var plain = regexp.MustCompile(`^(\.{0,2}/|[A-Za-z])[A-Za-z0-9._/+-]*$`)

func scalar(text string) string {
	switch strings.ToLower(text) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n":
		return fmt.Sprintf("%q", text)
	}
	if plain.MatchString(text) {
		return text
	}
	return fmt.Sprintf("%q", text)
}

func (p *Project) check() error {
	if _, problems := config.Parse(config.FileName, p.Config()); len(problems) > 0 {
		return fmt.Errorf("this can't be written as a configuration: %w", problems)
	}
	return nil
}
