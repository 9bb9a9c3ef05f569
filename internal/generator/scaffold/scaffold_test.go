// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/internal/generator/config"
)

// project writes the files as a module, called example.com/shop unless one of them is a go.mod.
func project(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse([]byte(text))
	archive.Files = append([]txtar.File{{Name: "go.mod", Data: []byte("module example.com/shop\n")}}, archive.Files...)
	for _, file := range archive.Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func look(t *testing.T, dir string) *Project {
	t.Helper()
	p, err := Look(dir, "2031")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.check(); err != nil {
		t.Errorf("%v\n%s", err, p.Config())
	}
	return p
}

const marked = `package v1

// +genclient
type Widget struct{}
`

const (
	copied       = marked + "\nfunc (w *Widget) DeepCopyObject() any { return w }\n"
	ownMetadata  = "package v1\n\n// +genclient\ntype Widget struct {\n\tObjectMeta `json:\"metadata\"`\n}\n"
	requiresApis = "-- go.mod --\nmodule example.com/shop\n\nrequire example.com/shop/apis/v2 v2.0.0\n-- apis/go.mod --\nmodule example.com/shop/apis/v2\n"
)

func TestLookChoosesInputs(t *testing.T) {
	for name, test := range map[string]struct {
		files  string
		layout Layout
		want   string
	}{
		"nothing":                      {"", Empty, "./..."},
		"one folder":                   {"-- v1/a.go --\n" + marked, Plain, "./..."},
		"below one folder":             {"-- types/v1/a.go --\n" + marked + "-- types/v2/a.go --\n" + marked, Plain, "./types/..."},
		"in several":                   {"-- a/v1/a.go --\n" + marked + "-- b/v1/a.go --\n" + marked, Plain, "./..."},
		"beside go.mod":                {"-- a.go --\n" + marked + "-- b/v1/a.go --\n" + marked, Plain, "./..."},
		"beside go.mod and before it":  {"-- b.go --\n" + marked + "-- a/v1/a.go --\n" + marked, Plain, "./..."},
		"kubebuilder":                  {"-- PROJECT --\n-- api/v1/a.go --\n" + marked, Kubebuilder, "./api/..."},
		"kubebuilder before 4":         {"-- PROJECT --\n-- apis/shop/v1/a.go --\n" + marked, Kubebuilder, "./apis/..."},
		"kubebuilder and others":       {"-- PROJECT --\n-- api/v1/a.go --\n" + marked + "-- pkg/v1/a.go --\n" + marked, Kubebuilder, "./..."},
		"kubebuilder, no types yet":    {"-- PROJECT --\n-- api/README --\n", Kubebuilder, "./api/..."},
		"code-generator":               {"-- pkg/apis/shop/v1/a.go --\n" + marked, CodeGenerator, "./pkg/apis/..."},
		"code-generator's script":      {"-- hack/update-codegen.sh --\nkube_codegen\n-- apis/shop/v1/a.go --\n" + marked, CodeGenerator, "./apis/..."},
		"ignored by go":                {"-- testdata/v1/a.go --\n" + marked + "-- _x/a.go --\n" + marked + "-- .y/a.go --\n" + marked + "-- v1/a_test.go --\n" + marked, Empty, "./..."},
		"a nested module":              {"-- tools/go.mod --\nmodule tools\n-- tools/v1/a.go --\n" + marked, Empty, "./..."},
		"apis is another module":       {"-- PROJECT --\n-- apis/go.mod --\nmodule example.com/shop/apis/v2\n-- apis/v1/a.go --\n" + marked, Kubebuilder, "./..."},
		"apis is a required module":    {requiresApis + "-- PROJECT --\n-- apis/v1/a.go --\n" + marked, Kubebuilder, "example.com/shop/apis/v2/..."},
		"no API in a required module":  {requiresApis + "-- apis/v1/a.go --\n" + copied + "-- apis/a.go --\n" + copied + "-- apis/cli/a.go --\n" + marked, Plain, "example.com/shop/apis/v2 example.com/shop/apis/v2/v1/..."},
		"types beside a module":        {requiresApis + "-- apis/v1/a.go --\n" + marked + "-- api/v1/a.go --\n" + marked, Plain, "./api/..."},
		"no API":                       {"-- a/v1/a.go --\n" + copied + "-- b/v1/a.go --\n" + marked, Plain, "./a/..."},
		"no API beside APIs":           {"-- a/x/v1/a.go --\n" + copied + "-- a/y/v1/a.go --\n" + copied + "-- a/x/cli/a.go --\n" + marked, Plain, "./a/x/v1/... ./a/y/..."},
		"no API below one":             {"-- a.go --\n" + copied + "-- b/v1/a.go --\n" + marked, Plain, "."},
		"copied in another file":       {"-- a/v1/a.go --\n" + copied + "-- b/v1/a.go --\n" + marked + "-- b/v1/zz.go --\npackage v1\n\nfunc (Widget) DeepCopyObject() any { return nil }\n", Plain, "./..."},
		"metadata of its own":          {"-- a/v1/a.go --\n" + marked + "-- b/v1/a.go --\n" + ownMetadata + "-- b/v1/meta.go --\npackage v1\n\ntype ObjectMeta struct{}\n", Plain, "./a/..."},
		"an alias of metadata":         {"-- a/v1/a.go --\n" + marked + "-- b/v1/a.go --\n" + ownMetadata + "-- b/v1/meta.go --\npackage v1\n\ntype ObjectMeta = metav1.ObjectMeta\n", Plain, "./..."},
		"a file that doesn't parse":    {"-- v1/a.go --\npackage v1\n// +genclient\ntype {", Empty, "./..."},
		"an interface that is no kind": {"-- v1/a.go --\npackage v1\n\n// +genclient\ntype I interface{}\n", Empty, "./..."},
	} {
		t.Run(name, func(t *testing.T) {
			p := look(t, project(t, test.files))
			if got := strings.Join(p.Inputs, " "); got != test.want || p.Layout != test.layout {
				t.Errorf("got %s, %v; want %s, %v", got, p.Layout, test.want, test.layout)
			}
		})
	}
}

func TestLookReadsWindowsLineBreaks(t *testing.T) {
	p := look(t, project(t, "-- hack/boilerplate.go.txt --\n// Copyright YEAR us\r\n// and others\r\n"))
	_, content, err := p.generateFile()
	if want := "// Copyright 2031 us\n// and others\n\npackage shop\n\n//go:generate go tool informer-gen\n"; err != nil || string(content) != want {
		t.Errorf("got %q, %v, want %q", content, err, want)
	}
}

func TestLookFindsTheGenerateLine(t *testing.T) {
	for line, ours := range map[string]bool{
		"//go:generate go tool informer-gen":                                                   true,
		"//go:generate go run github.com/informer-gen/informer-gen/cmd/informer-gen ./api/...": true,
		"//go:generate go run github.com/informer-gen/informer-gen/cmd/informer-gen@v1.2.3":    true,
		"//go:generate informer-gen --check=false\r":                                           true,
		"//go:generate go run k8s.io/code-generator/cmd/informer-gen ./api/...":                false,
		"//go:generate ../code-generator/informer-gen.sh":                                      false,
		"//go:generate rm -rf informer-generated":                                              false,
		"// go:generate go tool informer-gen":                                                  false,
	} {
		if p := look(t, project(t, "-- x.go --\npackage x\n\n"+line+"\n")); (p.Generate != "") != ours {
			t.Errorf("%q: got %q", line, p.Generate)
		}
	}
}

func TestRaisedGoIsTheToolsVersion(t *testing.T) {
	const tool = "tool " + Tool + "\n"
	for lines, want := range map[string]string{
		"":                            "1.26", // as go 1.16
		"go 1.24.3\n":                 "1.26",
		"go 1.25\n":                   "1.26",
		"go 1.26\n":                   "",
		"go 1.26rc1\n":                "",
		"go 1.26.8\n":                 "",
		"go 1.27.0\n":                 "",
		"go 1.24\n" + tool:            "", // the go command refuses it
		"go 1.24\ntoolchain go1.27\n": "1.26",
	} {
		if got := look(t, project(t, "-- go.mod --\nmodule example.com/shop\n"+lines)).RaisedGo(); got != want {
			t.Errorf("%q: got %q, want %q", lines, got, want)
		}
	}

	own, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(own), "\n"+strings.Replace(toolGo, "go", "go ", 1)+".0\n") {
		t.Errorf("the go line of informer-gen's go.mod isn't %s", toolGo)
	}
}

func TestPackageNameFitsTheFolder(t *testing.T) {
	for module, want := range map[string]string{
		"example.com/shop":             "shop",
		"example.com/go-shop/v2":       "shop",
		"example.com/my-shop.go":       "myshopgo",
		"gopkg.in/shop.v3":             "shop",
		"example.com/2shops":           "p2shops",
		"example.com/type":             "ptype",
		"example.com/main":             "pmain",
		"example.com/SHOP":             "shop",
		"example.com/shop-controllers": "shopcontrollers",
	} {
		if got := (&Project{Module: module}).packageName(); got != want {
			t.Errorf("packageName of %s = %s, want %s", module, got, want)
		}
	}
	if got := (&Project{Module: "example.com/shop", rootName: "main"}).packageName(); got != "main" {
		t.Errorf("packageName beside a program = %s, want main", got)
	}
	const (
		script  = "//go:build mage\n\npackage main\n"
		library = "package zoo\n"
	)
	for files, want := range map[string]string{
		"-- magefile.go --\n" + script + "-- zoo.go --\n" + library:              "zoo",
		"-- a.go --\n" + library + "-- magefile.go --\n" + script:                "zoo",
		"-- magefile.go --\n" + script:                                           "main",
		"-- magefile.go --\n" + script + "-- zoo_test.go --\npackage zoo_test\n": "main",
	} {
		if got := look(t, project(t, files)).packageName(); got != want {
			t.Errorf("packageName with\n%s= %s, want %s", files, got, want)
		}
	}
}

func TestWriteKeepsExistingFiles(t *testing.T) {
	dir := project(t, "-- informer-gen.yaml --\nversion: 1\n")
	// without a final line break
	if err := os.WriteFile(filepath.Join(dir, "generate.go"), []byte("package shop"), 0o644); err != nil {
		t.Fatal(err)
	}
	p := look(t, dir)
	if _, err := p.Write(false); !errors.Is(err, ErrExists) {
		t.Fatalf("got %v, want ErrExists", err)
	}
	content := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if content("informer-gen.yaml") != "version: 1\n" || content("generate.go") != "package shop" {
		t.Error("something was written")
	}
	written, err := p.Write(true)
	if want := (Written{Config: "informer-gen.yaml", Generate: "generate.go"}); err != nil || !cmp.Equal(written, want) {
		t.Errorf("%+v, %v", written, err)
	}
	if got := content("generate.go"); got != "package shop\n\n//go:generate go tool informer-gen\n" {
		t.Errorf("generate.go is now\n%s", got)
	}
	if p := look(t, dir); p.Generate != "generate.go" {
		t.Errorf("Look found the go:generate line in %q, want generate.go", p.Generate)
	}
}

func TestFailedWriteWritesNothing(t *testing.T) {
	dir := project(t, "-- generate.go/file --\n")
	if _, err := look(t, dir).Write(false); err == nil {
		t.Error("a folder in the place of generate.go: want an error")
	}
	if _, err := os.Lstat(filepath.Join(dir, "informer-gen.yaml")); err == nil {
		t.Error("the configuration was written")
	}
}

func TestFailedWriteWritesNoProgram(t *testing.T) {
	p := look(t, project(t, "-- config --\na file\n"))
	if err := p.ControlNew("Widget", "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Write(false); err == nil {
		t.Error("a file in the place of a folder: want an error")
	}
	for _, name := range []string{"informer-gen.yaml", "generate.go", "api", "cmd"} {
		if _, err := os.Lstat(filepath.Join(p.Dir, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}

func TestLookFindsFoldersWithCRDs(t *testing.T) {
	const (
		crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
			"spec: {group: example.com, names: {kind: Widget, plural: widgets}, scope: Namespaced}\n"
		patch = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"
	)
	for files, want := range map[string][]string{
		"-- config/crd/bases/a.yaml --\n" + crd + "-- config/crd/kustomization.yaml --\nkind: Kustomization\n": {"config/crd/bases"},
		"-- config/crd/a.yml --\n" + crd:                {"config/crd"},
		"-- config/crd/patches/a.yaml --\n" + patch:     {},
		"-- config/crd/a.yaml --\n" + crd + "  b: c\n":  {},
		"-- config/crd/bases/a.txt --\n" + crd:          {},
		"-- crds/a.yaml --\nkind: ConfigMap\n":          {},
		"-- crds/.gitkeep --\n-- config/crd --\nfile\n": {},
	} {
		if diff := cmp.Diff(want, append([]string{}, look(t, project(t, files)).CRDs...)); diff != "" {
			t.Errorf("%s-want +got:\n%s", files, diff)
		}
	}
}

func TestGenerateFileHasTheHeaderWithoutItsBuildConstraint(t *testing.T) {
	p := look(t, project(t, "-- hack/boilerplate.go.txt --\n//go:build !ignore\n\n// Copyright YEAR us\n"))
	_, content, err := p.generateFile()
	if want := "// Copyright 2031 us\n\npackage shop\n\n//go:generate go tool informer-gen\n"; err != nil || string(content) != want {
		t.Errorf("got\n%s%v, want\n%s", content, err, want)
	}
}

// FuzzScalar checks that Parse reads the text that scalar wrote.
func FuzzScalar(f *testing.F) {
	for _, text := range []string{"./api/...", "k8s.io/api/core/v1", "a: b", "# no", "yes", "1e3", "~", "", "\"", "é\x00\n", "..", "- x", ".5", ".inf", ".NaN", "a\u2028b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || strings.ToValidUTF8(text, "") != text {
			t.Skip("inputs are never empty, and YAML is UTF-8")
		}
		file, problems := config.Parse("f.yaml", []byte("version: 1\ninputs:\n- "+scalar(text)+"\n"))
		if len(problems) > 0 {
			t.Fatalf("%q as %s: %v", text, scalar(text), problems)
		}
		if got := config.Texts(file.Inputs); !slices.Equal(got, []string{text}) {
			t.Errorf("%q as %s is read as %q", text, scalar(text), got)
		}
	})
}
