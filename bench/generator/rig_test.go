// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/informer-gen/informer-gen/bench/harness"
)

func TestRewrittenModuleUsesCheckout(t *testing.T) {
	data, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	data, err = rewrite(data, "/somewhere/bench", "bench.example/x")
	if err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", data, nil)
	if err != nil {
		t.Fatal(err)
	}
	if file.Module.Mod.Path != "bench.example/x" || file.Replace[0].Old.Path != rootModule || file.Replace[0].New.Path != "/somewhere" {
		t.Errorf("got\n%s", data)
	}
}

// TestProgramsExist lists the packages that newRig builds and reads. So a change of versions fails
// here, at no cost.
func TestProgramsExist(t *testing.T) {
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	for _, pkg := range []string{rootModule + "/cmd/informer-gen", peers + "lister-gen", peers + "informer-gen"} {
		name, err := goCommand(t.Context(), "", env, "list", "-f", "{{.Name}}", pkg)
		if err != nil || name != "main" {
			t.Errorf("%s: package %q, %v", pkg, name, err)
		}
	}
	version, err := goCommand(t.Context(), "", env, "list", "-m", "-f", "{{.Version}}", "k8s.io/code-generator", "k8s.io/api", "k8s.io/client-go")
	if err != nil || version != "v0.37.2\nv0.37.2\nv0.37.2" {
		t.Errorf("versions %q, %v", version, err)
	}
	dir, err := goCommand(t.Context(), "", env, "list", "-m", "-f", "{{.Dir}}", "k8s.io/api")
	if err != nil {
		t.Fatal(err)
	}
	packages, err := withTypes(dir)
	if err != nil || len(packages) != 60 || !slices.Contains(packages, "k8s.io/api/core/v1") {
		t.Errorf("%d packages have types, %v: %v", len(packages), err, packages)
	}
}

func TestProgramsGetRequiredFlags(t *testing.T) {
	r := &rig{temp: "/temp", packages: []string{"k8s.io/api/core/v1"}}
	var calls []string
	for _, s := range sides {
		for _, call := range r.programs(s) {
			calls = append(calls, filepath.ToSlash(strings.Join(call, " ")))
		}
	}
	want := []string{
		"/temp/bin/ours k8s.io/api/core/v1",
		"/temp/bin/lister-gen --go-header-file /temp/licence.txt --plural-exceptions Endpoints:Endpoints" +
			" --output-dir /temp/theirs/generated/listers --output-pkg bench.example/theirs/generated/listers k8s.io/api/core/v1",
		"/temp/bin/informer-gen --go-header-file /temp/licence.txt --plural-exceptions Endpoints:Endpoints" +
			" --output-dir /temp/theirs/generated/informers --output-pkg bench.example/theirs/generated/informers --single-directory" +
			" --versioned-clientset-package k8s.io/client-go/kubernetes --listers-package bench.example/theirs/generated/listers k8s.io/api/core/v1",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(calls, "\n"), strings.Join(want, "\n"))
	}
}

func TestTouchChangesEachFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pod.go")
	const text = "package v1\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	before := text
	for run := range 3 {
		if err := touch(filepath.Dir(name), run); err != nil {
			t.Fatal(err)
		}
		after, err := os.ReadFile(name)
		if err != nil || string(after) == before || strings.Count(string(after), compiled) != 1 || !strings.HasPrefix(string(after), text) {
			t.Errorf("run %d: %v\n%s", run, err, after)
		}
		before = string(after)
	}
}

// TestLaunchFails: launch returns the program's error.
func TestLaunchFails(t *testing.T) {
	stop := errors.New("enough")
	p := program(func(harness.Bench, harness.Env) (harness.Outcome, error) { return harness.Outcome{}, stop })
	if err := p.Run([]string{"-n", "1"}, io.Discard, io.Discard); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}
