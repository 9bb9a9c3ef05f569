// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

func TestGenerateEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	cancel(stop)
	if _, err := Generate(ctx, Config{}); !errors.Is(err, stop) {
		t.Errorf("got %v, want the context's cause", err)
	}
}

func TestGenerateReturnsErrNothing(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/empty\n\ngo 1.26.0\n")
	writeFile(t, filepath.Join(dir, "empty.go"), "package empty\n")
	t.Setenv("GOFLAGS", "")
	if _, err := Generate(t.Context(), Config{Dir: dir}); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v, want ErrNothing", err)
	}
	var list diag.List
	if _, err := Generate(t.Context(), Config{Dir: dir, Patterns: []string{"./missing"}}); !errors.As(err, &list) {
		t.Errorf("got %v, want a diag.List", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("Generate left %v, %v in the folder", entries, err)
	}
}

// The go command runs in the folder of go.mod, and names files relative to it.
func TestGenerateNamesFilesRelativeToDir(t *testing.T) {
	dir := writeFiles(t, "go.mod", goMod, "api/v1/empty.go", "", "api/v1/types.go", "// +groupName=x.com\npackage v1\n\n// +genclient\ntype T struct{}\n")
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	_, err := Generate(t.Context(), Config{Dir: filepath.Join(dir, "api")})
	var list diag.List
	if !errors.As(err, &list) {
		t.Fatalf("got %v, want a diag.List", err)
	}
	var names []string
	for _, d := range list {
		names = append(names, filepath.ToSlash(d.Pos.Filename))
	}
	if want := []string{"v1/empty.go", "v1/types.go", "v1/types.go"}; !slices.Equal(names, want) {
		t.Errorf("findings are in %v, want %v:\n%v", names, want, err)
	}
}

// TestGenerateFromWorkspaceRoot runs in a folder outside of modules that has modules below it.
func TestGenerateFromWorkspaceRoot(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.work"), "go 1.26.0\n\nuse ./a\n")
	writeFile(t, filepath.Join(dir, "a", "go.mod"), "module example.com/a\n\ngo 1.26.0\n")
	writeFile(t, filepath.Join(dir, "a", "empty.go"), "package a\n")
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "")
	if _, err := Generate(t.Context(), Config{Dir: dir, Patterns: []string{"./a/..."}, Output: "a/generated"}); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v, want ErrNothing", err)
	}
	for _, cfg := range []Config{{Patterns: []string{"./a/..."}}, {Output: "a/generated"}} {
		cfg.Dir = dir
		if _, err := Generate(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "isn't in a Go module") {
			t.Errorf("%+v: got %v, want an error about the missing module", cfg, err)
		}
	}
}

// TestGenerateCore reads a large package of another module.
func TestGenerateCore(t *testing.T) {
	files, err := Generate(t.Context(), Config{Dir: "..", Patterns: []string{"k8s.io/api/core/v1"}, Output: "out"})
	if err != nil {
		t.Fatal(err)
	}
	if files.Name != "out" || filepath.Base(files.Root) != "out" {
		t.Errorf("the output is %q, called %q", files.Root, files.Name)
	}
	var kinds []string
	for _, file := range files.Files {
		if dir, name, _ := strings.Cut(file.Path, "core/v1/"); dir == "listers/" && name != "doc.go" {
			kinds = append(kinds, strings.TrimSuffix(name, ".go"))
		}
	}
	for _, kind := range []string{"pod", "node", "endpoints", "persistentvolume", "limitrange"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no lister for %s in %v", kind, kinds)
		}
	}
	// These can't be listed: +genclient:noVerbs, or no +genclient at all.
	for _, kind := range []string{"binding", "podlist", "rangeallocation"} {
		if slices.Contains(kinds, kind) {
			t.Errorf("there is a lister for %s", kind)
		}
	}
}

func TestFindTarget(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "go.mod"), "module example.com/a\n")
	writeFile(t, filepath.Join(dir, "nested/go.mod"), "module example.com/b // b\n")
	writeFile(t, filepath.Join(dir, "api/types.go"), "package api\n")
	main, err := findModule(filepath.Join(dir, "api"))
	if err != nil {
		t.Fatal(err)
	}
	for output, want := range map[string]string{
		"":                    "example.com/a/generated",
		"x":                   "example.com/a/api/x",
		"../x/y":              "example.com/a/x/y",
		"..":                  "example.com/a",
		"../nested":           "example.com/b",
		"../nested/not/there": "example.com/b/not/there",
	} {
		got, err := findTarget(filepath.Join(dir, "api"), setting{text: output, dir: filepath.Join(dir, "api")}, main, model.Grouped)
		if err != nil || got.importPath != want {
			t.Errorf("%q: got %q, %v; want %q", output, got.importPath, err, want)
		}
		if rel, _ := filepath.Rel(dir, got.dir); filepath.IsAbs(rel) || strings.HasPrefix(rel, "..") {
			t.Errorf("findTarget(%q) has the folder %s outside of the module", output, got.dir)
		}
	}
	for _, output := range []string{"../..", "types.go", "types.go/x", "../testdata/x", "../_x", "../.x", "../a b", "../a@b", "../ü"} {
		if got, err := findTarget(filepath.Join(dir, "api"), setting{text: output, dir: filepath.Join(dir, "api")}, main, model.Grouped); err == nil {
			t.Errorf("%q: got %q, want an error", output, got.importPath)
		}
	}
}

func TestTargetOwnsFoldersBehindLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "module", "go.mod"), "module example.com/m\n")
	writeFile(t, filepath.Join(dir, "module", "generated", "listers", "x.go"), "package listers\n")
	if err := os.Symlink(filepath.Join(dir, "module"), filepath.Join(dir, "link")); err != nil {
		if runtime.GOOS == "windows" {
			t.Logf("no links here: %v", err)
			return
		}
		t.Fatal(err)
	}
	to, err := findTarget(dir, setting{text: filepath.Join(dir, "link", "generated")}, goModule{}, model.Grouped)
	if err != nil {
		t.Fatal(err)
	}
	if !to.owns(filepath.Join(dir, "module", "generated", "listers")) || to.owns(filepath.Join(dir, "module", "api")) {
		t.Errorf("%+v owns the wrong folders", to)
	}
}
