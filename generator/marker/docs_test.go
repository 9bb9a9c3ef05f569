// SPDX-License-Identifier: Apache-2.0

package marker

import (
	"bytes"
	"flag"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/generator/diag"
)

var update = flag.Bool("update", false, "rewrite docs/markers.md")

func TestEveryMarkerHasExamplesThatAreRight(t *testing.T) {
	for _, d := range Definitions() {
		for _, example := range d.Examples() {
			text, ok := strings.CutPrefix(example, "// +")
			if !ok {
				t.Errorf("+%s: there is no example of it in docs.go, or it is no comment: %q", d.Name, example)
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
			t.Errorf("there is an example of +%s, which is no marker", name)
		}
	}
}

const page = `# Markers

Markers are lines of comments that tell the generator what to do. This page is made from the structs that parse them
(generator/marker); the same is printed by ` + "`informer-gen markers`" + `, and by ` + "`informer-gen markers --format=json`" + ` for programs.

What they say can be said in informer-gen.yaml too, see [config.md](config.md); for the language of indexes see
[indexes.md](indexes.md).

`

func TestMarkersPageIsUpToDate(t *testing.T) {
	var want bytes.Buffer
	want.WriteString(page)
	if err := WriteMarkdown(&want, Definitions()); err != nil {
		t.Fatal(err)
	}
	const name = "../../docs/markers.md"
	if *update {
		if err := os.WriteFile(name, want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("run go test ./generator/marker -update; -want +got:\n%s", diff)
	}
}
