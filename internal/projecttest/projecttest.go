// SPDX-License-Identifier: Apache-2.0

// Package projecttest helps tests to write a Go module, generate code for it, and compile it.
package projecttest

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"
)

const module = "github.com/informer-gen/informer-gen"

// Libraries has the library versions the running tests were compiled with: in the workspace, the
// workspace's. A project with the same requirements finds them in the module cache, and compiled in
// the build cache.
type Libraries struct {
	Root    string // this module's folder
	Require string // lines for a go.mod
	Sums    string // lines of a go.sum or a go.work.sum
}

// Of returns the libraries needed by programs of this module, by generated code and by
// k8s.io/api/core/v1. The go command downloads missing ones first. Call it before the test changes
// GOWORK.
func Of(tb testing.TB) Libraries {
	tb.Helper()
	libraries, err := find()
	if err != nil {
		tb.Fatalf("looking for the libraries that generated code is compiled with: %v", err)
	}
	return libraries
}

// RequireItself returns lines for a go.mod: the libraries, and this module's checkout.
func (l Libraries) RequireItself() string {
	return l.Require + fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %s => %q\n", module, module, l.Root)
}

var find = sync.OnceValues(func() (Libraries, error) {
	// the main modules: all of the workspace's
	places, err := goCommand("", "list", "-m", "-f", "{{.Path}}\t{{.Dir}}")
	if err != nil {
		return Libraries{}, err
	}
	var libraries Libraries
	var sums []string
	for _, place := range places {
		path, dir, _ := strings.Cut(place, "\t")
		if path == module {
			libraries.Root = dir
		}
		sums = append(sums, filepath.Join(dir, "go.sum"))
	}
	if libraries.Root == "" {
		return Libraries{}, fmt.Errorf("%s is not among the main modules %q", module, places)
	}
	work, err := goCommand(libraries.Root, "env", "GOWORK")
	if err != nil {
		return Libraries{}, err
	}
	if len(work) > 0 && work[0] != "off" {
		sums = append(sums, work[0]+".sum")
	}
	versions := map[string]bool{}
	packages, err := goCommand(libraries.Root, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}",
		"./cmd/informer-gen", "./runtime/...", "k8s.io/api/core/v1")
	if err != nil {
		return Libraries{}, err
	}
	for _, version := range packages {
		versions[version] = true
	}
	libraries.Require = "\nrequire (\n\t" + strings.Join(slices.Sorted(maps.Keys(versions)), "\n\t") + "\n)\n"
	for _, name := range sums {
		content, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a module without requirements has none
			return Libraries{}, err
		}
		libraries.Sums += string(content)
	}
	return libraries, nil
})

// goCommand returns the go command's output as lines, without empty ones.
func goCommand(dir string, args ...string) ([]string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd, err, stderr.Bytes())
	}
	return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" }), nil
}

// Download brings packages and their imports to the module cache, in the versions of this module's
// own go.mod, for tests that read these instead of the workspace's. It skips the test if they are
// missing and can't be downloaded.
func Download(tb testing.TB, packages ...string) {
	tb.Helper()
	cmd := exec.Command("go", append([]string{"list", "-deps"}, packages...)...)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := cmd.CombinedOutput()
	if err == nil {
		return
	}
	if offline := Offline(); offline != nil {
		tb.Skipf("the module cache lacks what this test reads, and it can't be downloaded: %v", offline)
	}
	tb.Fatalf("%v: %v\n%s", cmd, err, out)
}

// Offline returns the reason why the go command can't download modules, or nil.
var Offline = sync.OnceValue(func() error {
	// @latest is looked up at each call.
	_, err := goCommand("", "list", "-m", "golang.org/x/mod@latest")
	return err
})

//go:embed apimachinery.txtar
var apimachinery []byte

// Apimachinery writes the parts of k8s.io/apimachinery needed by API types to a folder, and returns
// lines for a go.mod that require it. In a small project, loading the real one takes most of the
// time of a run.
func Apimachinery(tb testing.TB, dir string) string {
	tb.Helper()
	for _, file := range txtar.Parse(apimachinery).Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(name, file.Data, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return fmt.Sprintf("\nrequire k8s.io/apimachinery v0.0.0\n\nreplace k8s.io/apimachinery => %q\n", dir)
}
