// SPDX-License-Identifier: Apache-2.0

// Package release tests the next release: it serves the modules that people import as a module
// proxy would serve them after the tags, and uses them in other modules, without the workspace.
package release

import (
	"flag"
	"path"
	"strings"
	"testing"
)

// Resolving all imports finds a module that can't be had. Compiling takes minutes more.
var compile = flag.Bool("compile", false, "compile all packages of all modules, not only what the pages show")

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

// TestAdapterRaisesNothing adds the adapter to a project on controller-runtime v0.24.
func TestAdapterRaisesNothing(t *testing.T) {
	p := newProject(t, "shop")
	before := p.requirements()
	p.run("go", "get", rootPath+"/adapter/controllerruntime@"+p.version)
	p.checkKept(before)
	p.checkPackages("./...", rootPath+"/adapter/controllerruntime")
}
