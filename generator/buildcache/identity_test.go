// SPDX-License-Identifier: Apache-2.0

package buildcache

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/load"
)

func TestCacheSeesTheCall(t *testing.T) {
	_, cfg := newProject(t)
	want, ok := identity(cfg)
	if !ok {
		t.Fatal("no identity")
	}
	yes := true
	values := map[reflect.Type]reflect.Value{
		reflect.TypeFor[string]():            reflect.ValueOf("other"),
		reflect.TypeFor[generator.Layout]():  reflect.ValueOf(generator.Single),
		reflect.TypeFor[[]string]():          reflect.ValueOf([]string{"other"}),
		reflect.TypeFor[map[string]string](): reflect.ValueOf(map[string]string{"A": "B"}),
		reflect.TypeFor[*bool]():             reflect.ValueOf(&yes),
	}
	for field := range reflect.TypeFor[generator.Config]().Fields() {
		changed := cfg
		value, ok := values[field.Type]
		switch field.Name {
		case "Env", "Warn", "Progress", "Verbose":
			continue // the environment has a test of its own, and what is shown changes nothing
		case "Dir":
			value = reflect.ValueOf(t.TempDir())
		}
		if !ok {
			t.Errorf("a field of type %v: how does it change?", field.Type)
			continue
		}
		reflect.ValueOf(&changed).Elem().FieldByIndex(field.Index).Set(value)
		if got, ok := identity(changed); !ok || slices.Equal(got, want) {
			t.Errorf("%s doesn't count", field.Name)
		}
	}
	cfg.Warn, cfg.Progress = func(diag.Diagnostic) {}, func(load.Progress) {}
	if got, ok := identity(cfg); !ok || !slices.Equal(got, want) {
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

func TestCacheSeesTheEnvironment(t *testing.T) {
	_, cfg := newProject(t)
	cfg.Env = os.Environ()
	want, _ := identity(cfg)
	for _, entry := range []string{
		"GOFLAGS=-mod=mod", "GOOS=plan9", "GOARCH=wasm", "GOWORK=off", "GO111MODULE=off", "GOEXPERIMENT=x", "CGO_ENABLED=0",
		"GOTOOLCHAIN=x", "GOROOT=x", "GOPATH=x", "GOMODCACHE=x", "GOPRIVATE=x", "HOME=x",
	} {
		changed := cfg
		changed.Env = append(slices.Clone(cfg.Env), entry)
		if got, ok := identity(changed); !ok || slices.Equal(got, want) {
			t.Errorf("%s doesn't count", entry)
		}
	}
	for _, entry := range []string{"GOFLAGS=-modfile=other.mod", "GOFLAGS=-v -overlay=x.json", "GOPACKAGESDRIVER=x"} {
		changed := cfg
		changed.Env = append(slices.Clone(cfg.Env), entry)
		if _, ok := identity(changed); ok {
			t.Errorf("%s leads to files that aren't looked at", entry)
		}
	}
	defaults := filepath.Join(t.TempDir(), "env")
	cfg.Env = append(cfg.Env, "GOENV="+defaults)
	none, _ := identity(cfg)
	writeFile(t, defaults, "GOFLAGS=-mod=mod\n")
	if got, ok := identity(cfg); !ok || slices.Equal(got, none) {
		t.Error("what go env -w writes doesn't count")
	}
	writeFile(t, defaults, "GOWORK=/elsewhere/go.work\n")
	if _, ok := identity(cfg); ok {
		t.Error("go env -w has named a workspace that isn't looked at")
	}
	writeFile(t, defaults, "GOFLAGS=-mod=mod\n")

	if runtime.GOOS == "windows" {
		return // a script isn't a program there
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, ok := identity(cfg); !ok || slices.Equal(got, none) {
		t.Error("another go command doesn't count")
	}
	if err := os.WriteFile(filepath.Join(bin, "gopackagesdriver"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, ok := identity(cfg); ok {
		t.Error("what a driver in the place of the go command does is unknown")
	}
}
