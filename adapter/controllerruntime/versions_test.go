// SPDX-License-Identifier: Apache-2.0

package controllerruntime

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var versions = flag.Bool("versions", false, "run TestVersions, TestAdapterRaisesNoVersion and TestUpstreamSuite, which download and compile each supported controller-runtime; with -timeout 1h")

// supported are the supported versions of controller-runtime, each with its Kubernetes libraries.
// go.mod requires the first.
var supported = []struct{ runtime, kubernetes string }{
	{"v0.21.0", "v0.33.0"},
	{"v0.22.5", "v0.34.3"},
	{"v0.23.3", "v0.35.3"},
	{"v0.24.1", "v0.36.3"},
	{"v0.25.2", "v0.37.2"},
}

const (
	rootModule    = "github.com/informer-gen/informer-gen"
	adapterModule = rootModule + "/adapter/controllerruntime"
)

// forEachLine calls test for each supported line, with its versions as arguments of go get.
func forEachLine(t *testing.T, test func(t *testing.T, versions []string)) {
	if !*versions {
		t.Skip("takes minutes; run it with -versions")
	}
	for _, line := range supported {
		t.Run(line.runtime, func(t *testing.T) {
			test(t, []string{
				"sigs.k8s.io/controller-runtime@" + line.runtime,
				"k8s.io/api@" + line.kubernetes,
				"k8s.io/apimachinery@" + line.kubernetes,
				"k8s.io/client-go@" + line.kubernetes,
			})
		})
	}
}

// TestVersions runs the tests of this module with each supported line.
func TestVersions(t *testing.T) {
	forEachLine(t, func(t *testing.T, versions []string) {
		file := filepath.Join(t.TempDir(), "go.mod")
		write(t, file, read(t, "go.mod"))
		write(t, filepath.Join(filepath.Dir(file), "go.sum"), read(t, "go.sum"))
		goCommand(t, ".", append([]string{"get", "-modfile=" + file, "-t", "./..."}, versions...)...)
		goCommand(t, ".", "test", "-modfile="+file, "./...")
	})
}

// operator has the imports of a new kubebuilder project.
const operator = `package main

import (
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	_ "sigs.k8s.io/controller-runtime"
	_ "sigs.k8s.io/controller-runtime/pkg/envtest"
	_ "sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	_ "sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {}
`

// oldTools is the version of golang.org/x/tools in a new project on v0.21 or v0.22, because of
// Ginkgo. The generator needs v0.31.0.
const oldTools = "v0.26.0"

// TestAdapterRaisesNoVersion: an operator that imports the adapter keeps its versions of all
// modules, except oldTools.
func TestAdapterRaisesNoVersion(t *testing.T) {
	forEachLine(t, func(t *testing.T, versions []string) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "go.mod"), "module example.com/operator\n\ngo 1.26.0\n")
		write(t, filepath.Join(dir, "main.go"), operator)
		goCommand(t, dir, append([]string{"get"}, versions...)...)
		goCommand(t, dir, "mod", "tidy")
		before := requirements(t, dir)

		write(t, filepath.Join(dir, "adapter.go"), "package main\n\nimport _ \""+adapterModule+"\"\n")
		goCommand(t, dir, "mod", "edit",
			"-require="+adapterModule+"@v0.1.0", "-replace="+adapterModule+"="+absolute(t, "."),
			"-require="+rootModule+"@v0.1.0", "-replace="+rootModule+"="+absolute(t, "../.."))
		goCommand(t, dir, "mod", "tidy")
		after := requirements(t, dir)
		for module, version := range before {
			if after[module] != version && !(module == "golang.org/x/tools" && version == oldTools) {
				t.Errorf("module %s: %s with the adapter, want %s as without", module, after[module], version)
			}
		}
	})
}

// requirements returns the required versions of a go.mod by module.
func requirements(t *testing.T, dir string) map[string]string {
	t.Helper()
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(goCommand(t, dir, "mod", "edit", "-json"), &file); err != nil {
		t.Fatal(err)
	}
	versions := map[string]string{}
	for _, one := range file.Require {
		versions[one.Path] = one.Version
	}
	return versions
}

// goCommand runs the go command without the workspace, and returns its output.
func goCommand(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod")
	out, err := cmd.Output()
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("go %q: %v\n%s%s", args, err, out, stderr)
	}
	return out
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
