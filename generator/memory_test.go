// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/tools/txtar"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
)

// memoryProject has one of everything that a run depends on. Folders are below that of the main module, but for lib.
const memoryProject = `
-- main/informer-gen.yaml --
version: 1
inputs: [./api/...]
header: hack/header.txt
crds: [crds]
-- main/hack/header.txt --
// Copyright.
-- main/crds/widgets.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions: [{name: v1, served: true, storage: true}]
-- main/api/v1/doc.go --
// +groupName=example.com
package v1
-- main/api/v1/types.go --
package v1

import (
	"example.com/lib"
	"example.com/main/common"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Widget is an example.
// +genclient
// +informer:index:name=ByNode,field=.node
type Widget struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Node common.Name ` + "`json:\"node\"`" + `
	Lib  lib.Lib
}

func (w *Widget) DeepCopyObject() runtime.Object { return w }

// +genclient:nonNamespaced
type Other struct{}
-- main/api/v1/types_test.go --
package v1
-- main/api/v1/types_plan9.go --
package v1
-- main/api/plan9/types_plan9.go --
package plan9
-- main/common/name.go --
package common

type Name string
-- main/unused/unused.go --
package unused
-- main/generated/listers/example/v1/widget_expansion.go --
package v1
-- lib/go.mod --
module example.com/lib

go 1.26.0
-- lib/lib.go --
package lib

type Lib struct{}
`

// newMemoryProject lays out memoryProject and returns the folder of its main module, and the Config to generate in it.
func newMemoryProject(t *testing.T) (string, Config) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	build, modules, _ := strings.Cut(strings.TrimSpace(string(caches)), "\n")
	for name, value := range map[string]string{
		"GOCACHE": build, "GOMODCACHE": modules, "GOENV": "off", "GOFLAGS": "", "GOWORK": "", "GOPROXY": "off",
		"HOME": filepath.Join(dir, "home"), "XDG_CACHE_HOME": filepath.Join(dir, "cache"), "LocalAppData": filepath.Join(dir, "cache"),
	} {
		t.Setenv(name, value)
	}
	for _, file := range txtar.Parse([]byte(memoryProject)).Files {
		writeFile(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	ours, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(dir, "main")
	text := "module example.com/main\n\ngo 1.26.0\n\nrequire example.com/lib v0.0.0\nreplace example.com/lib => ../lib\n"
	for _, require := range file.Require {
		text += "require " + require.Mod.String() + " // indirect\n"
	}
	text = strings.ReplaceAll(text, "@", " ")
	writeFile(t, filepath.Join(main, "go.mod"), text)
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(main, "go.sum"), string(sums))
	return main, Config{Dir: main}
}

// generateAndKeep makes a run that is remembered.
func generateAndKeep(t *testing.T, cfg Config) Files {
	t.Helper()
	memory := OpenMemory(cfg)
	if memory.UpToDate() {
		t.Fatal("up to date before anything was done")
	}
	files, err := Generate(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := files.Write(); err != nil {
		t.Fatal(err)
	}
	memory.Keep(files)
	return files
}

// age makes all files older than any run.
func age(t *testing.T, dir string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(dir, func(name string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(name, old, old)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestMemorySeesEveryChange(t *testing.T) {
	main, cfg := newMemoryProject(t)
	age(t, filepath.Dir(main))
	generateAndKeep(t, cfg)
	if !OpenMemory(cfg).UpToDate() {
		t.Fatal("a run isn't remembered")
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
				if OpenMemory(cfg).UpToDate() {
					t.Error("nobody has seen the change")
				}
				restore(t, filepath.Dir(main), before)
				if !OpenMemory(cfg).UpToDate() {
					t.Error("the change is undone, and nobody sees it")
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
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(now))) { // what is in a folder comes before it
		if _, ok := contents[name]; !ok {
			if err := os.Remove(filepath.Join(root, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestMemoryPassesOverWhatDoesNotMatter(t *testing.T) {
	main, cfg := newMemoryProject(t)
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
	if !OpenMemory(cfg).UpToDate() {
		t.Error("not up to date")
	}
}

// TestMemoryOfOtherSetups has outputs in other places and packages found in other ways: the first run is remembered, and
// a new package is seen.
func TestMemoryOfOtherSetups(t *testing.T) {
	for name, change := range map[string]func(*Config){
		"all packages":           func(c *Config) { c.File = NoFile },
		"import path":            func(c *Config) { c.Patterns = []string{"example.com/main/..."} },
		"single layout":          func(c *Config) { c.Layout, c.Output = Single, "client" },
		"in the module's folder": func(c *Config) { c.Output, c.File = ".", NoFile },
		"from a folder":          func(c *Config) { c.Dir = filepath.Join(c.Dir, "api", "v1") },
	} {
		t.Run(name, func(t *testing.T) {
			main, cfg := newMemoryProject(t)
			change(&cfg)
			age(t, filepath.Dir(main))
			generateAndKeep(t, cfg)
			if !OpenMemory(cfg).UpToDate() {
				t.Error("the first run isn't remembered")
			}
			writeFile(t, filepath.Join(main, "api/v2/types.go"), "package v2\n")
			if OpenMemory(cfg).UpToDate() {
				t.Error("a new package isn't seen")
			}
		})
	}
}

// TestMemoryNeedsNoAge has files that are written right before the run: those that it reads from packages, and that
// belong to modules or configure it, are told apart by what the run has seen.
func TestMemoryNeedsNoAge(t *testing.T) {
	main, cfg := newMemoryProject(t)
	for _, name := range []string{"hack", "crds", "api/v1/types_plan9.go", "api/plan9", "generated", "../lib/go.mod"} {
		age(t, filepath.Join(main, name))
	}
	generateAndKeep(t, cfg)
	if !OpenMemory(cfg).UpToDate() {
		t.Error("not up to date")
	}
}

// TestMemoryKeepsNothingOfAMovingTarget changes files after Generate has read them, and before Keep.
func TestMemoryKeepsNothingOfAMovingTarget(t *testing.T) {
	main, cfg := newMemoryProject(t)
	age(t, filepath.Dir(main))
	files, err := Generate(t.Context(), cfg)
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
		"crds/new.yaml", "informer-gen.yaml", "generated/informers/factory.go", "generated/listers/example/v1/widget_expansion.go",
	} {
		t.Run(name, func(t *testing.T) {
			memory := OpenMemory(cfg)
			memory.UpToDate()
			full := filepath.Join(main, filepath.FromSlash(name))
			was, _ := os.ReadFile(full)
			writeFile(t, full, string(was)+"\n")
			memory.Keep(files)
			if OpenMemory(cfg).UpToDate() {
				t.Error("the change was remembered as if the run had seen it")
			}
			restore(t, filepath.Dir(main), before)
			age(t, main)
		})
	}
	memory := OpenMemory(cfg)
	memory.UpToDate()
	memory.Keep(files)
	if !OpenMemory(cfg).UpToDate() {
		t.Error("not even what hasn't changed is remembered")
	}
}

func TestMemorySeesTheCall(t *testing.T) {
	_, cfg := newMemoryProject(t)
	want, ok := cfg.identity()
	if !ok {
		t.Fatal("no identity")
	}
	yes := true
	values := map[reflect.Type]reflect.Value{
		reflect.TypeFor[string]():            reflect.ValueOf("other"),
		reflect.TypeFor[Layout]():            reflect.ValueOf(Single),
		reflect.TypeFor[[]string]():          reflect.ValueOf([]string{"other"}),
		reflect.TypeFor[map[string]string](): reflect.ValueOf(map[string]string{"A": "B"}),
		reflect.TypeFor[*bool]():             reflect.ValueOf(&yes),
	}
	for field := range reflect.TypeFor[Config]().Fields() {
		changed := cfg
		value, ok := values[field.Type]
		switch field.Name {
		case "Env", "Warn", "Progress":
			continue // the environment has a test of its own
		case "Dir":
			value = reflect.ValueOf(t.TempDir())
		}
		if !ok {
			t.Errorf("a field of type %v: how does it change?", field.Type)
			continue
		}
		reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index).Set(value)
		if got, ok := changed.identity(); !ok || slices.Equal(got, want) {
			t.Errorf("%s doesn't count", field.Name)
		}
	}
	cfg.Warn, cfg.Progress = func(diag.Diagnostic) {}, func(load.Progress) {}
	if got, ok := cfg.identity(); !ok || !slices.Equal(got, want) {
		t.Error("functions count")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if program, err := contentOf(self); err != nil || !slices.Contains(want, program) {
		t.Errorf("the program doesn't count, %v", err)
	}
}

func TestMemorySeesTheEnvironment(t *testing.T) {
	_, cfg := newMemoryProject(t)
	cfg.Env = os.Environ()
	want, _ := cfg.identity()
	for _, entry := range []string{
		"GOFLAGS=-mod=mod", "GOOS=plan9", "GOARCH=wasm", "GOWORK=off", "GO111MODULE=off", "GOEXPERIMENT=x", "CGO_ENABLED=0",
		"GOTOOLCHAIN=x", "GOROOT=x", "GOPATH=x", "GOMODCACHE=x", "GOPRIVATE=x", "HOME=x",
	} {
		changed := cfg
		changed.Env = append(slices.Clone(cfg.Env), entry)
		if got, ok := changed.identity(); !ok || slices.Equal(got, want) {
			t.Errorf("%s doesn't count", entry)
		}
	}
	for _, entry := range []string{"GOFLAGS=-modfile=other.mod", "GOFLAGS=-v -overlay=x.json", "GOPACKAGESDRIVER=x"} {
		changed := cfg
		changed.Env = append(slices.Clone(cfg.Env), entry)
		if _, ok := changed.identity(); ok {
			t.Errorf("%s leads to files that nobody looks at", entry)
		}
	}
	defaults := filepath.Join(t.TempDir(), "env")
	cfg.Env = append(cfg.Env, "GOENV="+defaults)
	none, _ := cfg.identity()
	writeFile(t, defaults, "GOFLAGS=-mod=mod\n")
	if got, ok := cfg.identity(); !ok || slices.Equal(got, none) {
		t.Error("what go env -w writes doesn't count")
	}

	if runtime.GOOS == "windows" {
		return // a script isn't a program there
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, ok := cfg.identity(); !ok || slices.Equal(got, none) {
		t.Error("another go command doesn't count")
	}
	if err := os.WriteFile(filepath.Join(bin, "gopackagesdriver"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, ok := cfg.identity(); ok {
		t.Error("nobody knows what a driver in the place of the go command does")
	}
}

func TestMemoryWarnsAgain(t *testing.T) {
	main, cfg := newMemoryProject(t)
	age(t, filepath.Dir(main))
	var first, second diag.List
	cfg.Warn = first.Add
	generateAndKeep(t, cfg)
	cfg.Warn = second.Add
	if !OpenMemory(cfg).UpToDate() {
		t.Fatal("not up to date")
	}
	if len(first) == 0 || first.Error() != second.Error() {
		t.Errorf("warned about\n%v\nand then about\n%v", first, second)
	}
}

func TestMemoryWithoutCacheFolder(t *testing.T) {
	main, cfg := newMemoryProject(t)
	age(t, filepath.Dir(main))
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, cache, "a file in the place of the folder")
	generateAndKeep(t, cfg)
	if OpenMemory(cfg).UpToDate() {
		t.Error("up to date, by no memory")
	}
	t.Setenv("HOME", "")
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("LocalAppData", "")
	t.Setenv("GOPATH", filepath.Dir(main)) // it lies in the home folder otherwise
	generateAndKeep(t, cfg)
}

// TestMemoryIsRightAboutRandomChanges makes random changes, and whenever nothing is said to have changed compares with a
// run that does all of its work.
func TestMemoryIsRightAboutRandomChanges(t *testing.T) {
	main, cfg := newMemoryProject(t)
	rounds := 20
	if testing.Short() {
		rounds = 10
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	names := []string{
		"api/v1/types.go", "api/v1/doc.go", "api/v1/new.go", "api/v1/types_test.go", "api/v1/types_plan9.go", "api/v2/types.go",
		"common/name.go", "unused/unused.go", "../lib/lib.go", "informer-gen.yaml", "hack/header.txt", "crds/widgets.yaml",
		"generated/informers/factory.go", "generated/listers/example/v1/widget.go", "generated/informers/extra.go", "generated/extra.go", "go.mod",
	}
	edits := []func(was string) string{
		func(was string) string { return was },
		func(was string) string { return was + "\n// more\n" },
		func(was string) string { return strings.Replace(was, "// more\n", "", 1) },
		func(was string) string { return strings.Replace(was, "string", "int", 1) },
		func(was string) string { return strings.Replace(was, "int", "string", 1) },
		func(was string) string { return strings.ReplaceAll(was, "ByNode", "ByHost") },
		func(was string) string { return strings.ReplaceAll(was, "Copyright", "Copyleft") },
		func(string) string { return "" }, // no file
	}
	original := tree(t, filepath.Dir(main))
	upToDate := 0
	for range rounds {
		for range random.IntN(3) {
			name := filepath.Join(main, names[random.IntN(len(names))])
			was, _ := os.ReadFile(name)
			text := edits[random.IntN(len(edits))](string(was))
			if text == "" {
				_ = os.Remove(name)
				continue
			}
			writeFile(t, name, text)
		}
		memory := OpenMemory(cfg)
		remembered := memory.UpToDate()
		files, err := Generate(t.Context(), cfg)
		if remembered {
			upToDate++
			if err != nil {
				t.Fatalf("said to be up to date, but: %v", err)
			}
			if changes, err := files.Diff(); err != nil || len(changes) > 0 {
				t.Fatalf("said to be up to date, but: %v\n%s", err, Unified(changes))
			}
			continue
		}
		if err != nil { // begin again from what works
			for name, content := range original {
				if !strings.HasSuffix(name, "/") {
					writeFile(t, filepath.Join(filepath.Dir(main), name), content)
				}
			}
			for _, name := range []string{"api/v1/new.go", "api/v2/types.go"} {
				_ = os.Remove(filepath.Join(main, name))
			}
			continue
		}
		if _, err := files.Write(); err != nil {
			t.Fatal(err)
		}
		memory.Keep(files)
	}
	if upToDate == 0 {
		t.Error("never up to date")
	}
}

// TestOnlyTheGoCommandRuns has a PATH with nothing but a go command, which notes how it is called.
func TestOnlyTheGoCommandRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the go command of this test is a shell script")
	}
	main, cfg := newMemoryProject(t)
	age(t, filepath.Dir(main))
	real, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	calls := filepath.Join(bin, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nPATH=/nowhere exec '%s' \"$@\"\n", calls, real)
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
	if !OpenMemory(cfg).UpToDate() {
		t.Error("not up to date")
	}
	if called, err := os.ReadFile(calls); err == nil {
		t.Errorf("with nothing to do, the go command was called: %s", called)
	}
}
