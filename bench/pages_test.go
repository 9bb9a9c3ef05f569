// SPDX-License-Identifier: Apache-2.0

package main

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/bench/harness"
	"github.com/informer-gen/informer-gen/bench/report"
)

// The rows that are picked are measured.
func TestPickedRowsAreMeasures(t *testing.T) {
	for _, p := range report.Picks() {
		b := named(t, p.Bench)
		if !slices.ContainsFunc(b.Measures, func(m harness.Measure) bool { return m.Name == p.Measure }) {
			t.Errorf("%s has no measure %q", p.Bench, p.Measure)
		}
	}
}

// TestTheWholeTableFitsThePages writes a table with all titles, measures and sides into copies of
// the pages. Its values are made up.
func TestTheWholeTableFitsThePages(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "docs"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"README.md", "docs/benchmarks.md"} {
		text, err := os.ReadFile(filepath.Join("..", page))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, page), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := report.OpenPages(root)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("a machine\n\n")
	p := report.Printer{Out: &table, Markdown: true}
	p.Head()
	for _, b := range benches() {
		p.Title(b.Title(full) + " (" + b.Name + ")")
		for _, m := range b.Measures {
			row := harness.Row{Measure: m, Results: map[harness.Side]harness.Result{}}
			for n, side := range b.Sides() {
				row.Results[side] = harness.Result{Median: float64(n + 1), Spread: 0.5}
			}
			p.Rows([]harness.Row{row})
		}
	}
	if err := pages.Write(table.String(), nil); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"docs/benchmarks.md", "docs/images/bench-light.svg"} {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil || !strings.Contains(string(text), "a machine") {
			t.Errorf("%s is not written anew (%v)", file, err)
		}
	}
}

// named returns the benchmark of that name.
func named(t *testing.T, name string) harness.Bench {
	t.Helper()
	i := slices.IndexFunc(benches(), func(b harness.Bench) bool { return b.Name == name })
	if i < 0 {
		t.Fatalf("there is no benchmark %s", name)
	}
	return benches()[i]
}

// TestTheEndpointsControllersPodsAreThoseOfTheExample: the row, and README's figure, are about what
// examples/endpoints-controller reads. The methods may differ: what else a projection can make
// depends on the other projections of its package.
func TestTheEndpointsControllersPodsAreThoseOfTheExample(t *testing.T) {
	var texts [2]string
	for i, folder := range []string{"generated", "../examples/endpoints-controller/generated"} {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(folder, "projections/core/v1/podendpoint.go"), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if types, ok := decl.(*ast.GenDecl); ok && types.Tok == token.TYPE {
				var text strings.Builder
				if err := printer.Fprint(&text, files, types); err != nil {
					t.Fatal(err)
				}
				texts[i] += text.String() + "\n"
			}
		}
	}
	if texts[0] != texts[1] || !strings.Contains(texts[0], "type PodEndpoint struct") {
		t.Errorf("bench/informer-gen.yaml has other fields of PodEndpoint than examples/endpoints-controller/informer-gen.yaml:\n%s\n%s", texts[0], texts[1])
	}
}
