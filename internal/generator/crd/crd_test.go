// SPDX-License-Identifier: Apache-2.0

package crd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/diag"
)

func TestReadFollowsAliases(t *testing.T) {
	var report diag.List
	crds := parse("crds.yaml", []byte(`
apiVersion: v1
kind: List
items:
- &widgets
  apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  spec:
    group: &group samples.example.com
    names: {kind: Widget, plural: widgets}
    scope: Cluster
    versions: [{name: v1, served: true}, {name: v2, served: false}]
- apiVersion: apiextensions.k8s.io/v1
  kind: CustomResourceDefinition
  spec:
    group: *group
    names: {kind: Gadget, plural: gadgets}
    scope: Namespaced
- *widgets
`), &report)
	if len(report) > 0 || len(crds) != 3 {
		t.Fatalf("%d definitions, findings: %v", len(crds), report)
	}
	c := crds[1]
	if c.Group.Text != "samples.example.com" || c.Group.Pos.String() != "crds.yaml:9:12" || c.Kind.Text != "Gadget" || len(c.Versions) != 0 {
		t.Errorf("%+v", c)
	}
	if v := crds[2].Versions; len(v) != 2 || !v[0].Served || v[1].Served || v[1].Name.Text != "v2" {
		t.Errorf("%+v", v)
	}
}

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../../testdata/golden/*crd*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, input := range archive.Files {
			if strings.Contains(input.Name, "crd") && !strings.HasSuffix(input.Name, ".go") {
				f.Add(string(input.Data))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		var report diag.List
		for _, c := range parse("crds.yaml", []byte(text), &report) {
			for _, value := range []Value{c.Group, c.Kind, c.Plural, c.Scope} {
				if value.Text == "" || !value.Pos.IsValid() {
					t.Errorf("%q: %+v", text, c)
				}
			}
		}
		for _, d := range report {
			if d.Warning != strings.Contains(d.Message, "template") || d.Message == "" || strings.Contains(d.Message, "\n") || d.Pos.Filename == "" {
				t.Errorf("%q: %+v", text, d)
			}
		}
	})
}

func TestReadReportsMissingDefinitions(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{filepath.Join(dir, "missing"), dir} {
		definitions, report := Read(name)
		if len(definitions) != 0 || len(report) != 1 || report[0].Warning || !strings.Contains(report.Error(), name) {
			t.Errorf("%s: %v, %v", name, definitions, report)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, report := Read(dir); len(report) != 1 || !strings.Contains(report.Error(), "no CustomResourceDefinition found") {
		t.Errorf("Read of a folder with a file's extension: %v", report)
	}
}
