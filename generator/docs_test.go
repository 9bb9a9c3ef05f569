// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/generator/load"
)

var (
	fence      = regexp.MustCompile("(?ms)^```(\\w*) ?(\\w*)\n(.*?)^```\n")
	indexLine  = regexp.MustCompile(`(?m)^// \+informer:index:.*\n`)
	indexNamed = regexp.MustCompile(`name=(\w+)`)
)

// TestIndexDocsCompile compiles the examples in docs/indexes.md as one module: all markers above
// the type shown there, its configuration file, the functions in their packages, and the uses of
// generated code.
func TestIndexDocsCompile(t *testing.T) {
	text, err := os.ReadFile("../docs/indexes.md")
	if err != nil {
		t.Fatal(err)
	}
	var markers, types, api, index, usage, config string
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		switch language, part, code := m[1], m[2], m[3]; {
		case language == "yaml":
			config = code
		case language != "go":
			t.Errorf("docs/indexes.md has a block of unknown language %q:\n%s", language, code)
		case part == "usage":
			usage += code
		case part == "api":
			api += code
		case part == "index":
			index += code
		case strings.Contains(code, "type Widget struct"):
			types = code
		default:
			if rest := indexLine.ReplaceAllString(code, ""); rest != "" {
				t.Errorf("a block of markers has other lines: %s", rest)
			}
			markers += code
		}
	}
	above := "\n// Widget is a sample.\n"
	if !strings.Contains(types, above) {
		t.Fatalf("no place for the markers in\n%s", types)
	}
	types = strings.Replace(types, above, markers+above, 1)
	g := &golden{name: "shop", archive: &txtar.Archive{Files: []txtar.File{
		{Name: "informer-gen.yaml", Data: []byte(config)},
		{Name: "api/v1/types.go", Data: []byte("// +groupName=samples.example.com\npackage v1\n\nimport (\n" +
			"metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\"k8s.io/apimachinery/pkg/runtime\"\n)\n\n" + types +
			"\nfunc (x *Widget) DeepCopyObject() runtime.Object { return x }\n\n" + api)},
		{Name: "index/index.go", Data: []byte("package index\n\nimport (\n\"strings\"\n\nv1 \"example.com/shop/api/v1\"\n)\n\n" + index)},
		{Name: "generated/usage/usage.go", Data: []byte("package usage\n\nimport (\n\"fmt\"\n\n" +
			"metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\nv1 \"example.com/shop/api/v1\"\n" +
			"listers \"example.com/shop/generated/listers/samples/v1\"\n)\n\n" +
			"func usage(widgets listers.WidgetLister, deployment metav1.ObjectMeta) {\n" + usage + "}\n")},
	}}}
	generateAndCompile(t, g)

	lister := ""
	for _, file := range g.rendered {
		if file.Path == "listers/samples/v1/widget.go" {
			lister = string(file.Content)
		}
	}
	for _, m := range indexNamed.FindAllStringSubmatch(markers, -1) {
		if !strings.Contains(lister, "func (l widgetLister) List"+m[1]+"(") {
			t.Errorf("widgetLister has no method List%s", m[1])
		}
	}
}

// generateAndCompile sets rendered to the code of a golden, and compiles it.
func generateAndCompile(t *testing.T, g *golden) {
	t.Helper()
	workspace := makeWorkspace(t, []*golden{g})
	if len(g.wrong) > 0 {
		t.Fatal(g.wrong)
	}
	program, err := load.Load(t.Context(), load.Config{Dir: workspace, Patterns: g.patterns(workspace), Skip: g.settings.target.owns})
	if err != nil {
		t.Fatal(err)
	}
	files, findings, err := g.generate(t, program, program.Roots)
	if err != nil || len(findings) > 0 {
		t.Fatalf("%v\n%v", err, findings.Relative(workspace))
	}
	g.rendered = files
	compile(t, workspace, []*golden{g})
}
