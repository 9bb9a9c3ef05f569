// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const (
	module = "github.com/informer-gen/informer-gen/"
	base   = module + "runtime/"
)

// publicFolders have the packages that programs and their tests import.
var publicFolders = []string{base + "...", module + "server/...", module + "testkit/..."}

// heavy is what a program doesn't get by importing one of these packages.
var heavy = []string{
	module + "generator",
	module + "templates",
	"github.com/dave/jennifer",
	"github.com/prometheus",
	"github.com/spf13",
	"go.etcd.io",
	"golang.org/x/tools",
	"html/template",
	"k8s.io/apiextensions-apiserver",
	"k8s.io/apiserver",
	"k8s.io/client-go/dynamic",
	"k8s.io/client-go/informers",
	"k8s.io/client-go/kubernetes",
	"k8s.io/client-go/listers",
	"k8s.io/client-go/tools/cache",
	"k8s.io/client-go/tools/leaderelection",
	"k8s.io/gengo",
	"sigs.k8s.io/controller-runtime",
	"text/template",
}

// heavyFor are the packages that exist for something heavy.
var heavyFor = map[string][]string{
	base + "metrics/prometheus": {"github.com/prometheus"},
	base + "manager":            {"github.com/spf13"},
	base + "manager/election": {
		"github.com/spf13", "k8s.io/client-go/informers", "k8s.io/client-go/kubernetes", "k8s.io/client-go/listers",
		"k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/leaderelection",
	},
	base + "manager/shard": {
		"github.com/spf13", "k8s.io/client-go/informers", "k8s.io/client-go/kubernetes", "k8s.io/client-go/listers",
		"k8s.io/client-go/tools/cache", "k8s.io/client-go/tools/leaderelection",
	},
}

// light packages send no requests, so they don't need client-go.
var light = []string{"deltafifo", "lister", "metrics", "object", "store", "workqueue"}

// TestDependencies looks at what a package reaches, directly or not. test/house has the layers of
// the repository's own packages.
func TestDependencies(t *testing.T) {
	command := exec.Command("go", append([]string{"list", "-json=ImportPath,Deps"}, publicFolders...)...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	found := 0
	for lines := json.NewDecoder(strings.NewReader(string(out))); lines.More(); found++ {
		var p struct {
			ImportPath string
			Deps       []string
		}
		if err := lines.Decode(&p); err != nil {
			t.Fatal(err)
		}
		never := slices.DeleteFunc(slices.Clone(heavy), func(path string) bool { return slices.Contains(heavyFor[p.ImportPath], path) })
		if own, ok := strings.CutPrefix(p.ImportPath, base); ok {
			never = append(never, module+"server", module+"testkit")
			if slices.Contains(light, own) {
				never = append(never, "k8s.io/client-go")
			}
		}
		for _, wrong := range reached(p.Deps, never) {
			t.Errorf("%s reaches %s", p.ImportPath, wrong)
		}
	}
	if found < 20 {
		t.Errorf("go list found %d packages; want all of runtime, server and testkit", found)
	}
}

// TestProgramSize links a small program with a manager. A package that calls methods by name, as
// text/template does, would keep all exported methods of its types, and make it a third larger.
func TestProgramSize(t *testing.T) {
	const limit = 35 << 20 // the program has 30 MB
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the limit is for linux/amd64")
	}
	program := filepath.Join(t.TempDir(), "program")
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "./testdata/program").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > limit {
		t.Errorf("the program has %d bytes, want at most %d; go build -ldflags=-dumpdep names functions with <ReflectMethod>", info.Size(), limit)
	}
}

// reached returns the dependencies that are one of the paths, or lie below one.
func reached(deps, paths []string) (found []string) {
	for _, dep := range deps {
		if slices.ContainsFunc(paths, func(path string) bool { return within(dep, path) }) {
			found = append(found, dep)
		}
	}
	return found
}

// within reports whether the import path is path or lies below it.
func within(importPath, path string) bool {
	rest, ok := strings.CutPrefix(importPath, path)
	return ok && (rest == "" || rest[0] == '/')
}
