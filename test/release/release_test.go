// SPDX-License-Identifier: Apache-2.0

// Package release tests the next release. It serves our modules as a module proxy would after the
// tags, and uses them in other modules, without the workspace.
package release

import (
	"flag"
	"path"
	"regexp"
	"strings"
	"testing"
)

// Resolving all imports already finds a missing module. Compiling takes minutes more.
var compile = flag.Bool("compile", false, "compile all packages of all modules, not only the code on pages")

// TestGet gets each module in an empty folder.
func TestGet(t *testing.T) {
	for _, module := range published(t).modules {
		t.Run(path.Base(module), func(t *testing.T) {
			p := newProject(t, "")
			p.run("go", "mod", "init", "example.com/empty")
			p.run("go", "get", module+"/...@"+p.version)
			p.checkPackages(module + "/...")

			// The go command installs nothing from a module that has a replace directive.
			commands := p.run("go", "list", "-f", `{{if eq .Name "main"}}{{.ImportPath}}{{end}}`, module+"/...")
			for command := range strings.FieldsSeq(commands) {
				p.run("go", "install", "-n", command+"@"+p.version)
			}
		})
	}
}

// TestToolRaisesNothing adds the generator to a project on the Kubernetes libraries v0.34.
func TestToolRaisesNothing(t *testing.T) {
	p := newProject(t, "v0.34")
	before := p.requirements()
	p.run("go", "get", "-tool", rootPath+"/cmd/informer-gen@"+p.version)
	p.checkKept(before)
	p.checkPackages("./...", "tool")
}

// TestTypesWithoutClientGo generates for a module with API types but without client-go. A user who
// follows the generator's advice keeps all versions, and all imports resolve.
func TestTypesWithoutClientGo(t *testing.T) {
	versions := []string{"v0.33.0", "v0.37.2"}
	if *compile {
		versions = []string{"v0.33.0", "v0.34.3", "v0.35.3", "v0.36.3", "v0.37.2"}
	}
	for _, version := range versions {
		t.Run(version, func(t *testing.T) {
			p := newProject(t, "")
			p.copy("shop/samples/v1alpha1", "api/v1alpha1")
			p.write("api/v1alpha1/pods.go", "package v1alpha1\n\nimport corev1 \"k8s.io/api/core/v1\"\n\ntype Template = corev1.PodTemplateSpec\n")
			p.run("go", "mod", "init", "example.com/types")
			p.run("go", "get", "k8s.io/api/core/v1@"+version, "k8s.io/apimachinery/pkg/runtime@"+version)
			p.run("go", "mod", "tidy")
			before := p.requirements()
			p.run("go", "get", "-tool", rootPath+"/cmd/informer-gen@"+p.version)
			said := p.run("bash", "-c", "go tool informer-gen 2>&1")
			for _, get := range regexp.MustCompile(`run go get (\S+)`).FindAllStringSubmatch(said, -1) {
				p.run("go", "get", get[1])
			}
			p.run("go", "mod", "tidy")
			for _, module := range []string{"k8s.io/api", "k8s.io/apimachinery"} {
				if after := p.requirements()[module]; after != before[module] {
					t.Errorf("the project now requires %s %s, want %s as before", module, after, before[module])
				}
			}
			p.checkPackages("./...", "tool")
		})
	}
}

// TestAdapterRaisesNothing adds the adapter to a project on controller-runtime v0.24.
func TestAdapterRaisesNothing(t *testing.T) {
	p := newProject(t, "shop")
	before := p.requirements()
	p.run("go", "get", rootPath+"/adapter/controllerruntime@"+p.version)
	p.checkKept(before)
	p.checkPackages("./...", rootPath+"/adapter/controllerruntime")
}
