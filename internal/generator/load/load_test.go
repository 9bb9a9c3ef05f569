// SPDX-License-Identifier: Apache-2.0

package load

import (
	"context"
	"errors"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// loadText writes the files of a txtar to a module and loads all its packages.
func loadText(t *testing.T, text string, skip func(string) bool) *Program {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	archive := txtar.Parse([]byte(text))
	archive.Files = append(archive.Files, txtar.File{Name: "go.mod", Data: []byte("module example.com/m\n\ngo 1.26.0\n")})
	for _, file := range archive.Files {
		name := filepath.Join(dir, file.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	program, err := Load(t.Context(), Config{Dir: dir, Patterns: []string{"./..."}, Skip: skip})
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func root(t *testing.T, program *Program, path string) *Package {
	t.Helper()
	for _, root := range program.Roots {
		if root.Path == path {
			return root
		}
	}
	t.Fatalf("there is no package %s", path)
	return nil
}

func TestCheckIgnoresBodiesAndVariables(t *testing.T) {
	program := loadText(t, `
-- a/a.go --
package a

import (
	"fmt"
	"example.com/m/b"
	"example.com/m/missing"
)

type A struct {
	B *b.B
	N [b.Size]int
}

var v = undefinedVariable(missing.Thing)

func (a *A) Method() string { return fmt.Sprint(undefinedInBody) }

func Function(x missing.Thing) b.B { return x }
-- a/more.go --
package a

import "example.com/m/missing"

func More(x missing.Thing) {}
-- b/b.go --
package b

import "net/http"

const Size = 3

type B struct{ Name string }

var Client = http.Client{}
`, nil)
	a := root(t, program, "example.com/m/a")
	program.Check(a)
	program.Check(a)
	if len(a.TypeErrors) > 0 {
		t.Errorf("errors: %v", a.TypeErrors)
	}
	named := a.Types.Scope().Lookup("A").Type().(*types.Named)
	if got, want := named.Underlying().String(), "struct{B *example.com/m/b.B; N [3]int}"; got != want {
		t.Errorf("A is %s, want %s", got, want)
	}
	if named.NumMethods() != 1 || a.Types.Scope().Lookup("Function") == nil {
		t.Error("the method or the function is missing")
	}
	if len(a.Types.Imports()) == 0 {
		t.Fatal("no imports")
	}
	for _, imported := range a.Types.Imports() {
		if imported.Path() == "net/http" || imported.Path() == "fmt" {
			t.Errorf("%s is imported, though only bodies and variables use it", imported.Path())
		}
	}
}

func TestCheckReportsErrorsInTypes(t *testing.T) {
	program := loadText(t, `
-- a/a.go --
package a

import "example.com/m/missing"

type A struct {
	B missing.B
	C Undefined
}

type D = A

type E int
type E string
-- b/b.go --
package b

type B struct { C Undefined }
`, nil)
	a, b := root(t, program, "example.com/m/a"), root(t, program, "example.com/m/b")
	program.Check(a)
	var places []string
	for _, e := range a.TypeErrors.Relative(a.Dir) {
		places = append(places, e.String())
	}
	got := strings.Join(places, "\n")
	for _, want := range []string{
		"a.go:3:8: could not import example.com/m/missing (",
		"a.go:7:4: undefined: Undefined",
		"a.go:13:6: E redeclared in this block",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not among\n%s", want, got)
		}
	}
	if b.Types != nil {
		t.Error("b was checked, though Check wasn't called with it")
	}
}

func TestCheckReportsImportCycles(t *testing.T) {
	program := loadText(t, `
-- a/a.go --
package a

import "example.com/m/b"

type A struct{ B *b.B }
-- b/b.go --
package b

import "example.com/m/a"

type B struct{ A *a.A }
`, nil)
	program.Check(program.Roots...)
	errs := 0
	for _, root := range program.Roots {
		errs += len(root.TypeErrors)
	}
	if errs == 0 {
		t.Error("the cycle isn't reported")
	}
}

func TestLoadSkipsFolders(t *testing.T) {
	program := loadText(t, `
-- a/a.go --
package a
-- out/b/b.go --
package b

func (
-- broken/c.go --
package c

type C struct {
`, func(dir string) bool { return filepath.Base(filepath.Dir(dir)) == "out" })
	var paths []string
	for _, root := range program.Roots {
		paths = append(paths, root.Path)
	}
	if got, want := strings.Join(paths, " "), "example.com/m/a example.com/m/broken"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if problems := root(t, program, "example.com/m/broken").ParseErrors; len(problems) != 1 || problems[0].Pos.Line != 3 {
		t.Errorf("got %v", problems)
	}
}

func TestImportFindsPackagesThatNoPatternMatched(t *testing.T) {
	program := loadText(t, `
-- a/a.go --
package a

type A struct{}
-- q/q.go --
package q

import "example.com/m/a"

func Keys(*a.A) []string { return nil }
`, func(dir string) bool { return filepath.Base(dir) == "q" })
	imported, err := program.Import(t.Context(), "example.com/m/q", "example.com/m/none", "example.com/m/a")
	if err != nil {
		t.Fatal(err)
	}
	if len(imported) != 3 || imported[0] == nil || imported[1] != nil || imported[2] != root(t, program, "example.com/m/a") {
		t.Fatalf("got %v", imported)
	}
	program.Check(imported[0], imported[2])
	keys, ok := imported[0].Types.Scope().Lookup("Keys").(*types.Func)
	if !ok {
		t.Fatal("there is no function Keys")
	}
	param := keys.Signature().Params().At(0).Type()
	if want := types.NewPointer(imported[2].Types.Scope().Lookup("A").Type()); !types.Identical(param, want) {
		t.Errorf("the function takes %v, which isn't the root's %v", param, want)
	}
	if needed := program.Needs(imported[0], func(path string) bool { return strings.HasSuffix(path, "/a") }); needed != "example.com/m/a" {
		t.Errorf("q needs %q", needed)
	}
	if needed := program.Needs(imported[2], func(string) bool { return true }); needed != "" {
		t.Errorf("a needs %q", needed)
	}
}

func TestDependencyHasNoFunctions(t *testing.T) {
	program := loadText(t, `
-- a/a.go --
package a

import "example.com/m/names"

var Group = names.Group
-- names/names.go --
package names

const Group = "example.com"

func F() {}
`, nil)
	a := root(t, program, "example.com/m/a")
	program.Check(a)
	names := program.Dependency(a, "example.com/m/names")
	if names == nil {
		t.Fatal("a imports nothing")
	}
	if c, ok := names.Scope().Lookup("Group").(*types.Const); !ok || c.Val().String() != `"example.com"` {
		t.Errorf("the constant is %v", names.Scope().Lookup("Group"))
	}
	if other := program.Dependency(a, "fmt"); other != nil {
		t.Errorf("a imports %v", other)
	}
}

func TestTagsReachTheGoCommand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.26.0\n",
		"a.go":   "package m\n\ntype A struct{}\n",
		"b.go":   "//go:build special\n\npackage m\n\ntype B struct{}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	for _, tags := range [][]string{nil, {"special", "other"}} {
		program, err := Load(t.Context(), Config{Dir: dir, Patterns: []string{"."}, Tags: tags})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := len(program.Roots[0].Files), 1+min(1, len(tags)); got != want {
			t.Errorf("Load with the tags %v found %d files, want %d", tags, got, want)
		}
	}
}

func TestExistsFindsPackagesForAnyBuild(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.26.0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	// ignored by builds
	if err := os.WriteFile(filepath.Join(dir, "m.go"), []byte("//go:build other\n\npackage m\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	exists, err := Exists(t.Context(), Config{Dir: dir}, []string{"fmt", "example.com/m", "example.com/m/gone", "example.com/other"})
	if err != nil {
		t.Fatal(err)
	}
	if !exists["fmt"] || !exists["example.com/m"] || exists["example.com/m/gone"] || exists["example.com/other"] {
		t.Errorf("got %v", exists)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if _, err := Exists(ctx, Config{Dir: dir}, []string{"fmt"}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the context's cause", err)
	}
}

// go/packages turns some failures of the go command into a package of missing files.
func TestLoadReturnsErrorsOfTheGoCommand(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.26.0\n",
		"go.work":     "go 1.26.0\n\nuse .\nuse ./gone\n",
		"api/v1/a.go": "package v1\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOFLAGS", "")
	for _, c := range []struct{ work, pattern, want string }{
		{filepath.Join(dir, "go.work"), "./...", "go.work"},
		{"off", "./api/v1/a.go", "a Go file isn't a package pattern: name the folder it is in"},
		{"off", "api/v1", ", did you mean ./api/v1?"},
		{"off", "./api", "no Go files in " + filepath.Join(dir, "api") + " (write /... after a folder for all packages below it)"},
	} {
		t.Setenv("GOWORK", c.work)
		_, err := Load(t.Context(), Config{Dir: dir, Patterns: []string{c.pattern}})
		if err == nil || !strings.Contains(err.Error(), c.want) || c.want == "go.work" && strings.Contains(err.Error(), "package pattern") {
			t.Errorf("%s: got %v, want %s", c.pattern, err, c.want)
		}
	}
}

func TestGoErrorReturnsStderr(t *testing.T) {
	for from, want := range map[string]string{
		"err: exit status 1: stderr: go: errors parsing go.mod:\ngo.mod:5: unknown directive: x\n\n": "go: errors parsing go.mod:\ngo.mod:5: unknown directive: x",
		"err: go command required, not found: exec: \"go\": not in $PATH: stderr: ":                  "go command required, not found: exec: \"go\": not in $PATH",
		"something else": "something else",
	} {
		if got := goError(errors.New(from)).Error(); got != want {
			t.Errorf("%q became %q, want %q", from, got, want)
		}
	}
}

func TestParsePosition(t *testing.T) {
	for s, want := range map[string]string{
		"a.go:3:4":     "a.go:3:4",
		"a.go:3":       "a.go:3",
		"C:\\a.go:3:4": "C:\\a.go:3:4",
		"-":            "-",
		"":             "-",
	} {
		if got := parsePosition(s).String(); got != want {
			t.Errorf("parsePosition(%q) = %s, want %s", s, got, want)
		}
	}
}
