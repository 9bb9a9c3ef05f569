// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/internal/diag"
)

func newExplain() *cobra.Command {
	var in inspection
	cmd := &cobra.Command{
		Use:   "explain [flags] KIND [PACKAGES]",
		Short: "Explain why a kind is or isn't generated, and where its names come from",
		Long: `Explain shows each type called KIND in the packages that informer-gen reads with the same flags and PACKAGES: whether it
is generated and why; its group, version, scope, resource and plural, each with its source (a marker, a line of
informer-gen.yaml, or a rule); the key types of its indexes; and its own files. For a type that isn't generated, it
says what to add.

KIND is the name of a Go type, KIND.GROUP, or PACKAGE.KIND with the package's name or import path. The case of a name
alone doesn't matter.`,
		Example: `  informer-gen explain Widget
  informer-gen explain Widget.shop.example.com
  informer-gen explain v1.Widget
  informer-gen explain Pod k8s.io/api/core/v1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("explain needs the name of a kind (informer-gen list shows all that are generated)")
			}
			return nil
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return completePackages(cmd, args, "")
			}
			return in.completeKinds(cmd), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := in.inspect(cmd, args[1:])
			if err != nil {
				return in.fail(cmd, found, err)
			}
			types := typesNamed(args[0], found.Types)
			if len(types) == 0 {
				return in.fail(cmd, found, unknownKind(args[0], found))
			}
			if in.format.value == formatJSON {
				err = printJSON(cmd, found, types)
			} else {
				err = printExplanations(cmd.OutOrStdout(), found, types)
			}
			if err != nil {
				return err
			}
			return in.finish(cmd, found.Findings)
		},
	}
	in.addTo(cmd)
	return cmd
}

func typesNamed(name string, types []generator.InspectedType) []generator.InspectedType {
	return slices.DeleteFunc(slices.Clone(types), func(t generator.InspectedType) bool { return !isNamed(t, name) })
}

func isNamed(t generator.InspectedType, name string) bool {
	if strings.EqualFold(t.Name, name) {
		return true
	}
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 && startsUpper(name[dot+1:]) {
		pkg := name[:dot]
		return t.Name == name[dot+1:] && (t.Package == pkg || path.Base(t.Package) == pkg)
	}
	kind, group, ok := strings.Cut(name, ".")
	if !ok || t.Name != kind {
		return false
	}
	// The group of a type without generated code isn't known.
	return !t.Generated || t.Group.Text == group || strings.HasPrefix(t.Group.Text, group+".")
}

func startsUpper(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first)
}

func unknownKind(name string, found generator.Inspection) error {
	var names []string
	for _, t := range found.Types {
		names = append(names, t.Name, path.Base(t.Package)+"."+t.Name)
		if t.Group.Text != "" {
			names = append(names, t.Name+"."+t.Group.Text)
		}
	}
	return fmt.Errorf("no type %q with a marker or metav1.ObjectMeta in %s%s", name, packagesRead(found), diag.DidYouMean(name, names))
}

func printExplanations(out io.Writer, found generator.Inspection, types []generator.InspectedType) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for i, t := range types {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s of package %s, %s\n", t.Name, t.Package, place(t, t.Pos))
		reason := t.Reason.Text
		if t.Reason.Pos.IsValid() {
			reason += " (" + place(t, t.Reason.Pos) + ")"
		}
		if !t.Generated {
			fmt.Fprintf(w, "  not generated\t%s\n", reason)
			if t.Advice != "" {
				fmt.Fprintf(w, "  to change that\t%s\n", t.Advice)
			}
			continue
		}
		fmt.Fprintf(w, "  generated\t%s\n", reason)
		for _, line := range []struct {
			name string
			fact generator.Fact
		}{
			{"group", t.Group}, {"  in Go", t.GroupGoName}, {"version", t.Version},
			{"scope", t.Scope}, {"resource", t.Resource}, {"plural in Go", t.Plural},
		} {
			text := line.fact.Text
			switch {
			case text == "" && line.fact.From == "":
				text = "not decided"
			case text == "":
				text = `""`
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\n", line.name, text, sourceText(t, line.fact))
		}
		for _, x := range t.Indexes {
			key := x.Key
			if x.Namespaced {
				key += " in a namespace"
			}
			fmt.Fprintf(w, "  index\t%s\t%s, key %s (%s)\n", x.Name, x.Of, key, place(t, x.Pos))
		}
		fmt.Fprintf(w, "  accessor\t%s\n", t.Accessor)
		for _, name := range t.Files {
			fmt.Fprintf(w, "  file\t%s\n", path.Join(found.Output, name))
		}
	}
	return w.Flush()
}

func sourceText(t generator.InspectedType, f generator.Fact) string {
	if f.Pos.IsValid() {
		return f.From + " (" + place(t, f.Pos) + ")"
	}
	return f.From
}
