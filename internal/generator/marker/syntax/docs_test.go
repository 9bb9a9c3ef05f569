// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"flag"
	"fmt"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/diag"
)

var update = flag.Bool("update", false, "rewrite the markers on docs/generator.md")

func TestEveryMarkerHasValidExamples(t *testing.T) {
	for _, d := range Definitions() {
		for _, example := range d.Examples() {
			text, ok := strings.CutPrefix(example, "// +")
			if !ok {
				t.Errorf("+%s: examples.go has no example of it, or one that isn't a comment: %q", d.Name, example)
				continue
			}
			var report diag.List
			markers := Parse([]Line{{Text: text, Pos: token.Position{Filename: "f.go", Line: 1, Column: 4}}}, &report)
			if len(report) > 0 || len(markers) != 1 || DefinitionOf(markers[0]).Name != d.Name {
				t.Errorf("%s: %d markers, %v", example, len(markers), report)
			}
		}
	}
	for name := range examples {
		if d, _ := lookup(name); d == nil || d.Name != name {
			t.Errorf("examples.go has an example of +%s, which isn't a marker", name)
		}
	}
}

// begin stands on docs/generator.md before the part that is made of the definitions.
const begin = "<!-- markers -->\n"

func TestMarkersPageIsUpToDate(t *testing.T) {
	const name = "../../../../docs/generator.md"
	page, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text, got, ok := strings.Cut(string(page), begin)
	if !ok {
		t.Fatalf("%s has no line %s", name, begin)
	}
	want := markdown(Definitions())
	if *update {
		got = want
		if err := os.WriteFile(name, []byte(text+begin+want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run go test ./internal/generator/marker/syntax -update; -want +got:\n%s", diff)
	}
}

// markdown describes markers for the page: a table, then a section for each.
func markdown(list []*Definition) string {
	var b strings.Builder
	b.WriteString("| marker | describes | |\n|---|---|---|\n")
	for _, d := range list {
		anchor := strings.NewReplacer(":", "", ".", "").Replace(strings.ToLower(d.Name))
		fmt.Fprintf(&b, "| [`+%s`](#%s) | a %s | %s |\n", d.Name, anchor, d.Target, strings.ReplaceAll(d.Doc, "|", `\|`))
	}
	for _, d := range list {
		b.WriteByte('\n')
		fmt.Fprintf(&b, "### `+%s`\n\n%s.\n%s.\n\n```go\n%s\n```\n", d.Name, upper(d.Doc), upper(d.Target.where()), examples[d.Name])
		if len(d.Args) == 0 {
			continue
		}
		b.WriteString("\n| argument | | allowed |\n|---|---|---|\n")
		for _, arg := range d.Args {
			doc := arg.described()
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", arg.label(), strings.ReplaceAll(doc, "|", `\|`), strings.Join(quoted(arg.Allowed), " "))
		}
	}
	return b.String()
}

func quoted(texts []string) []string {
	var q []string
	for _, text := range texts {
		q = append(q, "`"+text+"`")
	}
	return q
}
