// SPDX-License-Identifier: Apache-2.0

package buildcache

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/output"
)

func TestCacheSeesEveryChange(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	generateAndKeep(t, cfg)
	if !Open(cfg).UpToDate() {
		t.Fatal("a run isn't recorded")
	}
	for _, name := range []string{
		// inputs, and packages that they need
		"api/v1/types.go", "api/v1/new.go", "api/v1/types_plan9.go", "api/plan9/types_plan9.go", "api/v2/types.go",
		"api/deep/down/types.go", "common/name.go",
		"common/other.go", "../lib/lib.go", "../lib/new.go",
		// modules
		"go.mod", "go.sum", "../lib/go.mod", "../lib/go.sum", "go.work", "../go.work", "api/go.mod", "api/v1/go.mod",
		"common/go.mod", "vendor/modules.txt",
		// configuration
		"informer-gen.yaml", "hack/header.txt", "crds/widgets.yaml", "crds/gadgets.yaml",
		// outputs
		"generated/informers/factory.go", "generated/listers/example/v1/widget.go", "generated/listers/example/v1/widget_expansion.go",
		"generated/listers/example/v1/gadget_expansion.go", "generated/listers/old.go", "generated/stale.go",
	} {
		for how, change := range map[string]func(name string, was []byte) error{
			"content": func(name string, was []byte) error {
				if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
					return err
				}
				return os.WriteFile(name, append([]byte("//"), was...), 0o644)
			},
			"removed": func(name string, _ []byte) error { return os.Remove(name) },
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				full := filepath.Join(main, filepath.FromSlash(name))
				before := tree(t, filepath.Dir(main))
				was, err := os.ReadFile(full)
				if err != nil && how == "removed" {
					return // it has never been there
				}
				info, _ := os.Stat(full)
				if err := change(full, was); err != nil {
					t.Fatal(err)
				}
				if info != nil && how == "content" { // the time says nothing
					if err := os.Chtimes(full, info.ModTime(), info.ModTime()); err != nil {
						t.Fatal(err)
					}
				}
				if Open(cfg).UpToDate() {
					t.Error("the change isn't seen")
				}
				restore(t, filepath.Dir(main), before)
				if !Open(cfg).UpToDate() {
					t.Error("the change is undone, and that isn't seen")
				}
			})
		}
	}
}

// restore brings back what tree has found.
func restore(t *testing.T, root string, contents map[string]string) {
	t.Helper()
	now := tree(t, root)
	for name, content := range contents {
		if old, ok := now[name]; !strings.HasSuffix(name, "/") && (!ok || old != content) {
			writeFile(t, filepath.Join(root, name), content)
		}
	}
	// what is in a folder comes before it
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(now))) {
		if _, ok := contents[name]; !ok {
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestCachePassesOnForeignWarningsOnce has a warning about a package of the module and one about a
// package of another.
func TestCachePassesOnForeignWarningsOnce(t *testing.T) {
	main, cfg := newProject(t)
	writeFile(t, filepath.Join(main, "../lib/v1/types.go"), "// +groupName=lib.example.com\n\n// +k8s:informer-gen=maybe\npackage v1\n")
	age(t, filepath.Dir(main))
	cfg.Patterns = []string{"./api/...", "example.com/lib/v1"}
	var shown []string
	cfg.Warn = func(d diag.Diagnostic) {
		shown = append(shown, filepath.Base(filepath.Dir(filepath.Dir(d.Pos.Filename))))
	}
	run := func(verbose bool, want string) {
		t.Helper()
		cfg.Verbose, shown = verbose, nil
		cache := Open(cfg)
		if !cache.UpToDate() {
			files, err := generator.Generate(t.Context(), cache.Config())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := files.Write(); err != nil {
				t.Fatal(err)
			}
			cache.Keep(files)
		}
		if got := strings.Join(shown, " "); got != want {
			t.Errorf("warnings about %q, want %q", got, want)
		}
	}
	run(false, "lib api")
	run(false, "api")
	run(true, "lib api")
	writeFile(t, filepath.Join(main, "common/name.go"), "package common\n\ntype Name string // changed\n")
	age(t, main)
	run(false, "api")
	writeFile(t, filepath.Join(main, "../lib/v1/types.go"), "// +groupName=lib.example.com\n\n// +k8s:informer-gen=perhaps\npackage v1\n")
	age(t, filepath.Dir(main))
	run(false, "lib api")
}

// The go command vendors as soon as there is such a folder, even if nothing is in it.
func TestCacheSeesAVendorFolder(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	generateAndKeep(t, cfg)
	if err := os.Mkdir(filepath.Join(main, "vendor"), 0o755); err != nil {
		t.Fatal(err)
	}
	if Open(cfg).UpToDate() {
		t.Error("it isn't seen")
	}
}

// The folder in which the run works has no package that it reads.
func TestCacheSeesThatItsFolderBecomesAModule(t *testing.T) {
	main, cfg := newProject(t)
	cfg.Dir = filepath.Join(main, "unused")
	age(t, filepath.Dir(main))
	generateAndKeep(t, cfg)
	if !Open(cfg).UpToDate() {
		t.Error("the first run isn't recorded")
	}
	writeFile(t, filepath.Join(cfg.Dir, "go.mod"), "module example.com/unused\n")
	if Open(cfg).UpToDate() {
		t.Error("up to date, but the configuration file is that of another module now")
	}
}

func TestCachePassesOverWhatDoesNotMatter(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	generateAndKeep(t, cfg)
	writeFile(t, filepath.Join(main, "api/v1/types_test.go"), "package v1 // changed\n")
	writeFile(t, filepath.Join(main, "api/v1/README"), "text")
	writeFile(t, filepath.Join(main, "unused/unused.go"), "package unused // changed\n")
	writeFile(t, filepath.Join(main, "api/testdata/x.go"), "package x\n")
	age(t, filepath.Join(main, "api"))
	name := filepath.Join(main, "generated/informers/factory.go")
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, name, strings.ReplaceAll(string(content), "\n", "\r\n")) // as git may check it out
	if !Open(cfg).UpToDate() {
		t.Error("not up to date")
	}
}

// TestWrongTestsDoNotMatter, neither to the cache nor to a run.
func TestWrongTestsDoNotMatter(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	generateAndKeep(t, cfg)
	for _, text := range []string{
		"\n// no package\n", "package other\n", "package v1\n\nimport \"C\"\n", "package v1\n\nfunc {\n", "//go:build &&\n\npackage v1\n",
		"package v1\n\nimport \"nowhere.example/x\"\n\nvar _ = x.Y\n", "package v1\n\n//go:embed nothing\nvar x string\n",
	} {
		writeFile(t, filepath.Join(main, "api/v1/types_test.go"), text)
		if !Open(cfg).UpToDate() {
			t.Errorf("%q: not up to date", text)
		}
		files, err := generator.Generate(t.Context(), cfg)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if changes, err := files.Diff(); err != nil || len(changes) > 0 {
			t.Errorf("%q: %v\n%s", text, err, output.Unified(changes))
		}
	}
}

// TestCacheWorksInOtherSetups has outputs in other places and packages found in other ways: the
// first run is recorded, and a new package is seen.
func TestCacheWorksInOtherSetups(t *testing.T) {
	for name, change := range map[string]func(*generator.Config){
		"all packages":           func(c *generator.Config) { c.File = generator.NoFile },
		"import path":            func(c *generator.Config) { c.Patterns = []string{"example.com/main/..."} },
		"single layout":          func(c *generator.Config) { c.Layout, c.Output = generator.Single, "client" },
		"in the module's folder": func(c *generator.Config) { c.Output, c.File = ".", generator.NoFile },
		"from a folder":          func(c *generator.Config) { c.Dir = filepath.Join(c.Dir, "api", "v1") },
	} {
		t.Run(name, func(t *testing.T) {
			main, cfg := newProject(t)
			change(&cfg)
			age(t, filepath.Dir(main))
			generateAndKeep(t, cfg)
			if !Open(cfg).UpToDate() {
				t.Error("the first run isn't recorded")
			}
			writeFile(t, filepath.Join(main, "api/v2/types.go"), "package v2\n")
			if Open(cfg).UpToDate() {
				t.Error("a new package isn't seen")
			}
		})
	}
}

// TestCacheNeedsNoAge has files that are written right before the run: those that it reads from
// packages, and that belong to modules or configure it, are told apart by what the run has seen.
func TestCacheNeedsNoAge(t *testing.T) {
	main, cfg := newProject(t)
	for _, name := range []string{"hack", "crds", "api/v1/types_plan9.go", "api/plan9", "generated", "../lib/go.mod", "../apimachinery/go.mod"} {
		age(t, filepath.Join(main, name))
	}
	generateAndKeep(t, cfg)
	if !Open(cfg).UpToDate() {
		t.Error("not up to date")
	}
}

// TestCacheKeepsNothingOfAMovingTarget changes files after Generate has read them, and before
// Keep.
func TestCacheKeepsNothingOfAMovingTarget(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	files, err := generator.Generate(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(); err != nil {
		t.Fatal(err)
	}
	age(t, filepath.Dir(main))
	before := tree(t, filepath.Dir(main))
	for _, name := range []string{
		"api/v1/types.go", "api/v1/new.go", "api/v2/types.go", "common/name.go", "go.mod", "hack/header.txt", "crds/widgets.yaml",
		"crds/new.yaml", "crds/below/new.yaml", "informer-gen.yaml", "generated/informers/factory.go", "generated/listers/example/v1/widget_expansion.go",
	} {
		t.Run(name, func(t *testing.T) {
			cache := Open(cfg)
			cache.UpToDate()
			full := filepath.Join(main, filepath.FromSlash(name))
			was, _ := os.ReadFile(full)
			writeFile(t, full, string(was)+"\n")
			cache.Keep(files)
			if Open(cfg).UpToDate() {
				t.Error("the change was recorded as if the run had seen it")
			}
			restore(t, filepath.Dir(main), before)
			age(t, main)
		})
	}
	cache := Open(cfg)
	cache.UpToDate()
	cache.Keep(files)
	if !Open(cfg).UpToDate() {
		t.Error("not even what hasn't changed is recorded")
	}
}

// Where nothing is left to generate, the first run removes what earlier ones have written, and the
// next one is an error.
func TestCacheKeepsNoRunThatGeneratedNothing(t *testing.T) {
	main, cfg := newProject(t)
	generateAndKeep(t, cfg)
	writeFile(t, filepath.Join(main, "api/v1/types.go"), "package v1\n")
	age(t, filepath.Dir(main))
	if files := generateAndKeep(t, cfg); len(files.Files) > 0 {
		t.Fatalf("%d files are generated for nothing", len(files.Files))
	}
	if Open(cfg).UpToDate() {
		t.Error("up to date, but the next run would fail")
	}
}

func TestCacheWarnsAgain(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	var first, second diag.List
	cfg.Warn = first.Add
	generateAndKeep(t, cfg)
	cfg.Warn = second.Add
	if !Open(cfg).UpToDate() {
		t.Fatal("not up to date")
	}
	if len(first) == 0 || first.Error() != second.Error() {
		t.Errorf("warned about\n%v\nand then about\n%v", first, second)
	}
}

func TestCacheIsEmptyWithoutAFolder(t *testing.T) {
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, cache, "a file in the place of the folder")
	generateAndKeep(t, cfg)
	if Open(cfg).UpToDate() {
		t.Error("up to date, by no record")
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("LocalAppData", "")
	t.Setenv("GOPATH", filepath.Dir(main)) // it lies in the home folder otherwise
	generateAndKeep(t, cfg)
}

// TestOnlyTheGoCommandRuns has a PATH with nothing but a go command, which notes how it is called.
func TestOnlyTheGoCommandRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the go command of this test is a shell script")
	}
	main, cfg := newProject(t)
	age(t, filepath.Dir(main))
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	calls := filepath.Join(bin, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nPATH=/nowhere exec '%s' \"$@\"\n", calls, tool)
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin)
	generateAndKeep(t, cfg)
	called, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	// One call finds out which version the go command has.
	if lists := strings.Count(string(called), "-deps=true"); lists != 1 || strings.Count(string(called), "\n") != 2 {
		t.Errorf("the go command was called with\n%swant one list", called)
	}
	if err := os.Remove(calls); err != nil {
		t.Fatal(err)
	}
	if !Open(cfg).UpToDate() {
		t.Error("not up to date")
	}
	if called, err := os.ReadFile(calls); err == nil {
		t.Errorf("with nothing to do, the go command was called: %s", called)
	}
}
