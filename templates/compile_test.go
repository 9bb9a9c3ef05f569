// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/imports"

	"github.com/informer-gen/informer-gen/internal/generator/model"
	"github.com/informer-gen/informer-gen/internal/projecttest"
)

// TestGeneratedCodeCompiles type-checks the goldens' code beside the API packages of their models,
// with the current runtime, and runs some of it: generated_test.go in testdata/walks. Package
// random below internal/generator/shapes compares the keys of objects. With linters it compiles all
// code.
func TestGeneratedCodeCompiles(t *testing.T) {
	libraries := projecttest.Of(t)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/project\n\ngo 1.26.0\n"+libraries.RequireItself())
	writeFile(t, filepath.Join(dir, "go.sum"), libraries.Sums)
	for name, build := range goldens {
		out := build()
		rename := "example.com/project/" + name
		files, err := Render(out)
		if err != nil {
			t.Fatal(err)
		}
		// Every model has the same module path: give each a folder in one module, which the go
		// command loads once.
		move := func(s string) string { return strings.ReplaceAll(s, "example.com/project", rename) }
		for _, f := range files {
			writeFile(t, filepath.Join(dir, name, "generated", f.Path), move(string(f.Content)))
		}
		for importPath, text := range apis(out) {
			if rest, ok := strings.CutPrefix(importPath, "example.com/project/"); ok {
				writeFile(t, filepath.Join(dir, name, rest, "api.go"), move(text))
			}
		}
		for _, g := range out.Groups {
			for _, v := range g.Versions {
				for _, typ := range v.Types {
					if text := usersFile(out, v, typ); text != "" {
						writeFile(t, filepath.Join(dir, name, "generated", out.Layout.ListerDir(g, v), expansionFile(typ)), text)
					}
				}
			}
		}
	}
	writeDocumented(t, dir)
	test, err := os.ReadFile(filepath.Join("testdata", "walks", "generated_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "walks", "generated_test.go"), string(test))
	projecttest.Check(t, dir, nil, "./...")
	run(t, dir, "test", "./walks")
	checkImports(t, dir)
	lint(t, libraries.Root, dir)
}

var (
	staticcheck = flag.String("staticcheck", "", "path@version of staticcheck, which TestGeneratedCodeCompiles then runs over generated code")
	revive      = flag.String("revive", "", "path@version of revive, which TestGeneratedCodeCompiles then runs over generated code")
)

// lint runs linters over what was generated, if flags name them. They are programs of other
// modules, which only CI should have to download.
func lint(t *testing.T, root, dir string) {
	if *staticcheck != "" {
		run(t, dir, "vet", "./...") // compiles, and has more checks than go test
		var packages []string
		for name := range goldens {
			packages = append(packages, "./"+name+"/generated/...")
		}
		runTool(t, dir, append([]string{*staticcheck}, packages...)...)
	}
	if *revive != "" {
		for name := range goldens {
			if name == "names" { // which has bad names on purpose
				continue
			}
			runTool(t, filepath.Join(dir, name), *revive, "-config", filepath.Join(root, "revive.toml"), "-set_exit_status", "./generated/...")
		}
	}
}

func runTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"run"}, args...)...)
	cmd.Dir = dir
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %v\n%s", cmd, err, output)
	}
}

// run runs the go command in the module at dir, without network.
func run(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, output)
	}
}

// checkImports checks that a project that runs goimports over all of its files changes none of
// ours.
func checkImports(t *testing.T, dir string) {
	for name := range goldens {
		files, err := filepath.Glob(filepath.Join(dir, name, "generated", "*", "*", "*", "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		// those of the layout of one folder
		inOne, _ := filepath.Glob(filepath.Join(dir, name, "generated", "*.go"))
		files = append(files, inOne...)
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Contains(content, []byte(model.HeaderLine)) {
				continue
			}
			got, err := imports.Process(file, content, nil)
			if err != nil || !bytes.Equal(got, content) {
				t.Errorf("goimports changes %s (%v):\n%s", file, err, got)
			}
		}
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// apis returns the API packages of a model, by import path, as far as generated code needs them.
func apis(out *model.Output) map[string]string {
	packages := map[string]*bytes.Buffer{}
	begin := func(importPath, name string) *bytes.Buffer {
		if packages[importPath] == nil {
			packages[importPath] = bytes.NewBufferString("package " + name + "\n" + fixtures)
		}
		return packages[importPath]
	}
	for _, g := range out.Groups {
		for _, v := range g.Versions {
			for _, t := range v.Types {
				buf := begin(t.Source.Path, t.Source.Name)
				if t.Projection != nil {
					continue // its type is generated
				}
				if t.Deprecated != "" {
					fmt.Fprintf(buf, "// %s is old.\n//\n// Deprecated: %s\n", t.Name, t.Deprecated)
				}
				fmt.Fprintf(buf, "type %s = Base\n", t.Name)
				for _, x := range t.Indexes {
					if x.Deprecated {
						text := strings.Replace(buf.String(), "\tName, NodeName  string", "\tName string\n// Deprecated: it is old.\nNodeName string", 1)
						buf.Reset()
						buf.WriteString(text)
					}
					if x.Func != nil && x.Func.Package.Path != t.Source.Path {
						other := begin(x.Func.Package.Path, x.Func.Package.Name)
						if !strings.Contains(other.String(), "func Keys") {
							fmt.Fprintf(other, "func Keys(any) []Key { return []Key{\"k1\", \"k2\", \"k1\"} }\n")
						}
					}
				}
			}
		}
	}
	texts := map[string]string{}
	for importPath, buf := range packages {
		texts[importPath] = buf.String()
	}
	return texts
}

// fixtures has all fields of the models. All types of a package are aliases of one.
const fixtures = `
import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

type Base struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Index Pair
	Spec  Spec
}

type (
	Key  string
	Pair struct{ A, B string }
)

type Spec struct {
	Name, NodeName  string
	Paused          bool
	Suspend         *bool
	Matrix          [][]string
	Cube            [][][]*string
	Lists           map[string][]string
	Structs         map[string]Target
	PointerMap      map[string]*Target
	OptionalMap     *map[string]string
	Maps            []map[string]string
	MapOfMaps       map[string]map[string]string
	Numbers         map[int32]string
	Containers      []struct{ Image string }
	Ref             *string
	Refs            []*string
	Names           []string
	Pair            [2]string
	Target          *Target
	Targets         []Target
	Pointers        []*Target
	Optional        *[]string
	OptionalTargets *[]Target
}

type Target struct {
	Name   string
	Labels map[string]string
	Names []string
	Ref   *string
	Next  *Target
	Rules []Rule
}

type Rule struct {
	Paths []string
	Ref   *string
}

func (x *Base) DeepCopyObject() runtime.Object { return x }

func OwnerUIDs(*Base) []types.UID { return nil }
`

// usersFile returns a user's expansion file for a type, or "" without one.
func usersFile(out *model.Output, v *model.Version, t *model.Type) string {
	var buf bytes.Buffer
	if t.ListerExpansion {
		fmt.Fprintf(&buf, "// %[1]sListerExpansion has methods for %[1]sLister.\ntype %[1]sListerExpansion interface{ Count() int }\n", t.Name)
		fmt.Fprintf(&buf, "func (l *%sLister) Count() int { return l.Snapshot().Len() }\n", t.Unexported())
	}
	if t.NamespaceListerExpansion {
		fmt.Fprintf(&buf, "// %[1]sNamespaceListerExpansion has methods for %[1]sNamespaceLister.\n", t.Name)
		fmt.Fprintf(&buf, "type %sNamespaceListerExpansion interface{ Has(name string) bool }\n", t.Name)
		fmt.Fprintf(&buf, "func (l %sNamespaceLister) Has(name string) bool { _, err := l.Get(name); return err == nil }\n", t.Unexported())
	}
	if buf.Len() == 0 {
		return ""
	}
	if out.Layout == model.Single {
		return "package " + out.Package + "\n" + buf.String()
	}
	return "package " + v.Package + "\n" + buf.String()
}

// exported matches the beginning of an exported declaration.
var exported = regexp.MustCompile(`^(?:type|var|const|func) ([A-Z]\w*)`)

// TestExportedDeclarationsAreDocumented checks that the comment of every exported declaration
// begins with its name.
func TestExportedDeclarationsAreDocumented(t *testing.T) {
	eachFile(t, func(name string, f model.File) {
		lines := strings.Split(string(f.Content), "\n")
		for n, line := range lines {
			m := exported.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			first := n
			for first > 0 && strings.HasPrefix(lines[first-1], "//") {
				first--
			}
			if !strings.HasPrefix(lines[first], "// "+m[1]+" ") {
				t.Errorf("%s: %s:%d: %s lacks a comment that begins with its name", name, f.Path, n+1, m[1])
			}
		}
	})
}
