// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/output"
	"github.com/informer-gen/informer-gen/internal/projecttest"
)

// writeFiles writes files, given as names and contents in turn, below a new folder. It returns the
// folder's real name.
func writeFiles(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		writeFile(t, filepath.Join(dir, files[i]), files[i+1])
	}
	return dir
}

const goMod = "module example.com/m\n\ngo 1.26.0\n"

// mustSettings returns the settings of a correct Config.
func mustSettings(t *testing.T, cfg Config) settings {
	t.Helper()
	s, findings := cfg.settings()
	if len(findings) > 0 {
		t.Fatalf("%+v: %v", cfg, findings)
	}
	return s
}

func TestSettingsAreRelativeToTheirSource(t *testing.T) {
	dir := writeFiles(t, "go.mod", goMod, "sub/folder/x.go", "package x\n", "sub/api/x.go", "package api\n",
		"sub/informer-gen.yaml", "version: 1\ninputs: [./api]\noutput: out\nheader: h.txt\ncrds: [crd]\n",
		"sub/h.txt", "// H\n", "sub/crd/x.yaml", crdText)
	s := mustSettings(t, Config{Dir: filepath.Join(dir, "sub", "folder")})
	if want := filepath.Join(dir, "sub"); s.loading.Dir != want || s.target.dir != filepath.Join(want, "out") || s.header != "// H" || len(s.crds) != 1 {
		t.Errorf("values of the file aren't relative to %s: %+v", want, s)
	}

	writeFile(t, filepath.Join(dir, "sub", "folder", "h.txt"), "// Flag\n")
	s = mustSettings(t, Config{Dir: filepath.Join(dir, "sub", "folder"), Patterns: []string{"."}, Output: "out", Header: "h.txt"})
	if want := filepath.Join(dir, "sub", "folder"); s.loading.Dir != want || s.target.dir != filepath.Join(want, "out") || s.header != "// Flag" {
		t.Errorf("values of the call aren't relative to %s: %+v", want, s)
	}
	if !slices.Equal(s.loading.Patterns, []string{"."}) {
		t.Errorf("the patterns are %q", s.loading.Patterns)
	}

	s = mustSettings(t, Config{Dir: filepath.Join(dir, "sub", "folder"), File: NoFile})
	if s.file != nil || s.loading.Dir != dir || s.target.dir != filepath.Join(dir, DefaultOutput) {
		t.Errorf("without the file: %+v", s)
	}

	other := writeFiles(t, "go.mod", goMod, "hack/x.yaml", "version: 1\n")
	s = mustSettings(t, Config{Dir: dir, File: filepath.Join(other, "hack", "x.yaml")})
	if s.loading.Dir != other || s.target.dir != filepath.Join(other, DefaultOutput) {
		t.Errorf("with a file of another module: %+v", s)
	}
}

const crdText = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions: [{name: v1, served: true}]
`

func TestConfigFileAboveModuleIsIgnored(t *testing.T) {
	dir := writeFiles(t, "informer-gen.yaml", "version: 1\n", "m/go.mod", goMod, "m/sub/x.go", "package x\n")
	if s := mustSettings(t, Config{Dir: filepath.Join(dir, "m", "sub")}); s.file != nil {
		t.Errorf("read %s", s.file.Name)
	}
}

// TestFlagsOverrideTheFile has a file with the opposite of every default, and flags with the
// opposite of the file.
func TestFlagsOverrideTheFile(t *testing.T) {
	dir := writeFiles(t, "go.mod", goMod, "informer-gen.yaml", `version: 1
output: out
layout: single
tags: [a, b]
plurals: {Fish: Fish, Datum: Data}
controllers: true
applyConfigurations: true
discover: true
keepGoing: true
prune: true
allowEmpty: true
`)
	type all struct {
		Output, Layout                                             string
		Tags                                                       []string
		Fish, Datum                                                string
		Controllers, Apply, Discover, KeepGoing, Prune, AllowEmpty bool
	}
	of := func(cfg Config) all {
		cfg.Dir = dir
		s := mustSettings(t, cfg)
		layouts := []string{"grouped", "single"}
		return all{s.target.importPath, layouts[s.target.layout], s.loading.Tags, s.plurals["Fish"].Text, s.plurals["Datum"].Text,
			s.controllers, s.apply, s.discover, s.keepGoing, s.prune, s.allowEmpty}
	}
	want := all{"example.com/m/out", "single", []string{"a", "b"}, "Fish", "Data", true, true, true, true, true, true}
	if diff := cmp.Diff(want, of(Config{})); diff != "" {
		t.Errorf("by the file (-want +got):\n%s", diff)
	}
	want = all{"example.com/m/other", "grouped", []string{"c"}, "Fishes", "Data", false, false, false, false, false, false}
	if diff := cmp.Diff(want, of(Config{Output: "other", Layout: Grouped, Tags: []string{"c"}, Plurals: map[string]string{"Fish": "Fishes"},
		Controllers: new(false), ApplyConfigurations: new(false), Discover: new(false), KeepGoing: new(false), Prune: new(false), AllowEmpty: new(false)})); diff != "" {
		t.Errorf("by the flags (-want +got):\n%s", diff)
	}
	want = all{"example.com/m/generated", "grouped", nil, "", "", false, false, false, false, false, false}
	if diff := cmp.Diff(want, of(Config{File: NoFile})); diff != "" {
		t.Errorf("by default (-want +got):\n%s", diff)
	}
}

// TestWorkspaceHasOneFile has a configuration file beside a go.work, outside of modules, for
// packages of two modules.
func TestWorkspaceHasOneFile(t *testing.T) {
	dir := writeFiles(t, "go.work", "go 1.26.0\n\nuse (\n\t./a\n\t./b\n)\n",
		"a/go.mod", "module example.com/a\n\ngo 1.26.0\n", "a/api/v1/x.go", "package v1\n",
		"b/go.mod", "module example.com/b\n\ngo 1.26.0\n", "b/api/v1/x.go", "package v1\n",
		"informer-gen.yaml", "version: 1\ninputs: [./a/..., ./b/...]\noutput: b/generated\nallowEmpty: true\n",
		"scripts/x.sh", "")
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "")
	inspected, err := Inspect(t.Context(), Config{Dir: filepath.Join(dir, "scripts")})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"example.com/a/api/v1", "example.com/b/api/v1"}; !slices.Equal(inspected.Packages, want) {
		t.Errorf("read %q, want %q", inspected.Packages, want)
	}
	writeFile(t, filepath.Join(dir, "informer-gen.yaml"), "version: 1\ninputs: [./a/...]\n")
	var list diag.List
	if _, err := Generate(t.Context(), Config{Dir: dir}); !errors.As(err, &list) || !strings.Contains(err.Error(), "isn't in a Go module") {
		t.Errorf("got %v, want an error about the missing module of the output", err)
	}
}

func TestConfigErrorsAreRelativeToDir(t *testing.T) {
	dir := writeFiles(t, "go.mod", goMod, "informer-gen.yaml", "version: 1\nlayuot: single\n", "api/x.go", "package api\n")
	_, err := Generate(t.Context(), Config{Dir: filepath.Join(dir, "api")})
	var list diag.List
	if !errors.As(err, &list) || !strings.HasPrefix(filepath.ToSlash(err.Error()), "../informer-gen.yaml:2:1: unknown key layuot, did you mean layout?") {
		t.Errorf("got %v", err)
	}
}

func TestAllowEmptyMakesAnEmptyRunSucceed(t *testing.T) {
	dir := writeFiles(t, "go.mod", goMod, "x.go", "package m\n")
	t.Setenv("GOFLAGS", "")
	for _, allow := range []*bool{nil, new(false)} {
		if _, err := Generate(t.Context(), Config{Dir: dir, AllowEmpty: allow}); !errors.Is(err, ErrNothing) {
			t.Errorf("got %v, want ErrNothing", err)
		}
	}
	if files, err := Generate(t.Context(), Config{Dir: dir, AllowEmpty: new(true)}); err != nil || len(files.Files) > 0 {
		t.Errorf("got %v, %v", files.Files, err)
	}
}

// TestFilesOfTheOtherLayoutAreStale switches to the other layout and back.
func TestFilesOfTheOtherLayoutAreStale(t *testing.T) {
	types, err := os.ReadFile("../testdata/golden/one_kind.txtar")
	if err != nil {
		t.Fatal(err)
	}
	_, source, _ := strings.Cut(string(types), "-- api/v1/types.go --\n")
	source, _, _ = strings.Cut(source, "\n-- ")
	dir := writeFiles(t, "go.mod", goMod+projecttest.Apimachinery(t, t.TempDir()), "api/v1/types.go", source+"\n", "out/mine.go", "package out\n")
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "")
	write := func(layout Layout) output.Report {
		t.Helper()
		files, err := Generate(t.Context(), Config{Dir: dir, Output: "out", Layout: layout})
		if err != nil {
			t.Fatal(err)
		}
		report, err := files.Write()
		if err != nil {
			t.Fatal(err)
		}
		return report
	}
	grouped, single := write(Grouped), write(Single)
	if len(grouped.Created) == 0 || !slices.Equal(single.Removed, grouped.Created) {
		t.Errorf("from grouped to single: removed %q, want %q", single.Removed, grouped.Created)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "informers")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder of the other layout is left: %v", err)
	}
	again := write(Grouped)
	if len(single.Created) == 0 || !slices.Equal(again.Removed, single.Created) {
		t.Errorf("from single to grouped: removed %q, want %q", again.Removed, single.Created)
	}
	if _, err := os.Stat(filepath.Join(dir, "out", "mine.go")); err != nil {
		t.Error(err)
	}
}

func TestSingleLayoutOwnsOnlyGeneratedFolders(t *testing.T) {
	dir := writeFiles(t, "go.mod", goMod, "informers/mine.go", "package informers\n",
		"listers/ours.go", "// Code generated by informer-gen. DO NOT EDIT.\n\npackage listers\n")
	s := mustSettings(t, Config{Dir: dir, Output: ".", Layout: Single})
	if s.target.owns(filepath.Join(dir, "informers")) || !s.target.owns(filepath.Join(dir, "listers")) {
		t.Error("the layout single owns a handwritten package, or doesn't own one of the grouped layout")
	}
	if s.target.pkg != "m" {
		t.Errorf("the package name is %s, want m", s.target.pkg)
	}
}

// TestWrongMarkersOfOtherModulesAreWarnings has the same comments in the main module and in a
// required one.
func TestWrongMarkersOfOtherModulesAreWarnings(t *testing.T) {
	const wrong = "package v1\n\n// +genclient:nonNamespace\n// +GroupName=x\ntype Widget struct{}\n"
	dir := writeFiles(t, "go.mod", goMod+"\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n",
		"api/v1/types.go", wrong, "dep/go.mod", "module example.com/dep\n\ngo 1.26.0\n", "dep/api/v1/types.go", wrong)
	t.Setenv("GOWORK", "off")
	t.Setenv("GOFLAGS", "-mod=mod")
	generate := func(pattern string) (warnings diag.List, err error) {
		_, err = Generate(t.Context(), Config{Dir: dir, Patterns: []string{pattern}, AllowEmpty: new(true), Warn: warnings.Add})
		return warnings, err
	}
	if _, err := generate("./api/v1"); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("own module: got %v, want an error and a warning", err)
	}
	if warnings, err := generate("example.com/dep/api/v1"); err != nil || len(warnings) != 1 || warnings[0].Marker != "+genclient:nonNamespace" {
		t.Errorf("other module: got %v, %v; want one warning", warnings, err)
	}
}
