// SPDX-License-Identifier: Apache-2.0

// Package scaffold sets a project up for the generator: it examines the module, writes a matching
// informer-gen.yaml with comments, and adds the go:generate line. With a controller, it also writes
// a program that runs it, with its tests and its files for a cluster.
//
// [Look] returns its findings as a [Project]; [Project.Write] writes.
package scaffold

import (
	"fmt"
	"go/version"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/informer-gen/informer-gen/internal/generator/skew"
)

// Layout is the arrangement of a project's folders.
type Layout int

const (
	// Empty projects have no API types yet.
	Empty Layout = iota
	// Plain projects have API types in some folders.
	Plain
	// Kubebuilder projects have a file PROJECT, and API types below api or apis.
	Kubebuilder
	// CodeGenerator projects have API types in pkg/apis/GROUP/VERSION, or a script
	// hack/update-codegen.sh.
	CodeGenerator
)

// String describes the layout in words.
func (l Layout) String() string {
	switch l {
	case Empty:
		return "a module without API types"
	case Plain:
		return "a module with API types"
	case Kubebuilder:
		return "a kubebuilder project"
	case CodeGenerator:
		return "a project of code-generator"
	}
	return fmt.Sprintf("Layout(%d)", int(l))
}

// Project is the result of [Look]. File and folder names have slashes and are relative to Dir.
type Project struct {
	// Dir is the absolute path of go.mod's folder.
	Dir string
	// Module is the module's path.
	Module string
	Layout Layout
	// Inputs are the patterns of the packages to read.
	Inputs []string
	// Folders have marked types.
	Folders []string
	// Nested are the modules below Dir with API types outside the Inputs. No pattern with ...
	// enters their folders.
	Nested []Nested
	// LeftOut are the folders left out of the Inputs.
	LeftOut []LeftOut
	// Discover means that the Inputs have types with TypeMeta and ObjectMeta, but none is marked.
	Discover bool
	// Header is the licence file; empty if there is none.
	Header string
	// HeaderYear is set if the header has the word YEAR.
	HeaderYear string
	// CRDs are folders with CustomResourceDefinitions.
	CRDs []string
	// Packages are settings of single packages.
	Packages []Package
	// Notes are remarks about the Inputs, for the lines above them.
	Notes []string
	// HasTool means that go.mod has a tool line for informer-gen, HasControllerGen and HasDevserver
	// that it has one for these.
	HasTool, HasControllerGen, HasDevserver bool
	// Go is the version in go.mod's go line; empty if it has none.
	Go string
	// Generate is the file with a go:generate line for informer-gen; empty if none has one.
	Generate string

	// Chosen means that [Project.Use] chose the Inputs.
	Chosen bool
	// Controller, unless nil, is a program to write.
	Controller *Controller

	cwd       string     // absolute
	header    []byte     // of Header
	rootName  string     // of the package in Dir; empty if there is none
	rootBuilt bool       // a build includes the file of rootName
	packages  []folder   // with types
	nested    []*Project // modules below Dir with types
	required  []*Project // nested modules with packages among the Inputs

	requires   map[string]bool // paths of modules in go.mod
	kubernetes string          // the version of k8s.io/apimachinery among them
}

// Nested is a module in a folder.
type Nested struct{ Folder, Module string }

// LeftOut is a folder left out of the Inputs.
type LeftOut struct{ Folder, Reason string }

// Package has settings that one package's markers lack.
type Package struct {
	Path string
	// Excluded are the kinds that can't be generated, with the reasons.
	Excluded []Excluded
}

// Excluded is a kind that can't be generated.
type Excluded struct {
	Kind, Reason string
}

// folder is a folder whose Go files declare marked types or types with the shape of a kind.
type folder struct {
	name  string // with slashes, relative to the module
	kinds []kind
}

func (f folder) isMarked() bool {
	return slices.ContainsFunc(f.kinds, func(k kind) bool { return k.marked })
}

// Tool is the package of the command.
const Tool = "github.com/informer-gen/informer-gen/cmd/informer-gen"

// toolGo is the language version in informer-gen's own go line.
const toolGo = "go1.26"

// RaisedGo returns the language version, such as "1.26", of go.mod's go line after adding the tool;
// "" if adding it leaves the line unchanged.
func (p *Project) RaisedGo() string {
	if p.HasTool || version.Compare(version.Lang("go"+p.Go), toolGo) >= 0 {
		return ""
	}
	return strings.TrimPrefix(toolGo, "go")
}

// devserverKubernetes is the version of the Kubernetes libraries in devserver's go.mod.
const devserverKubernetes = "v0.37"

// RaisedKubernetes returns the version, such as "v0.37", to which devserver raises the Kubernetes
// libraries in go.mod; "" if these are as new.
func (p *Project) RaisedKubernetes() string {
	if p.kubernetes == "" || semver.Compare(p.kubernetes, devserverKubernetes) >= 0 {
		return ""
	}
	return devserverKubernetes
}

// Client returns the argument of a go get that go mod tidy needs to succeed, such as
// k8s.io/client-go@v0.37.2; "" if it needs none.
func (p *Project) Client() string {
	if missing := skew.Find(filepath.Join(p.Dir, "go.mod")); missing != nil {
		return missing.Get
	}
	return ""
}

// Look examines the module of the folder dir. year replaces the word YEAR in its licence header. It
// reads files and runs nothing. Files that don't parse are ignored.
func Look(dir, year string) (*Project, error) {
	p := &Project{}
	if err := p.module(dir); err != nil {
		return nil, err
	}
	if err := p.walk(); err != nil {
		return nil, fmt.Errorf("looking at %s: %w", p.Dir, err)
	}
	p.leaveOut()
	p.takeNested()
	for _, f := range p.packages {
		if f.isMarked() {
			p.Folders = append(p.Folders, f.name)
		}
	}
	isKubebuilder := p.exists("PROJECT")
	switch {
	case isKubebuilder:
		p.Layout = Kubebuilder
	case p.exists("hack/update-codegen.sh") || slices.ContainsFunc(p.Folders, func(name string) bool { return strings.HasPrefix(name, "pkg/apis/") }):
		p.Layout = CodeGenerator
	case len(p.packages) > 0:
		p.Layout = Plain
	}
	if p.exists(boilerplate) {
		p.Header = boilerplate
	}
	if err := p.readHeader(year); err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(crdFolders, p.hasCRDs); i >= 0 {
		p.CRDs = []string{crdFolders[i]}
	}
	p.inputs()
	return p, nil
}

// Relative returns the name of a project's file or folder relative to the folder passed to [Look].
func (p *Project) Relative(name string) string {
	rel, err := filepath.Rel(p.cwd, filepath.Join(p.Dir, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}
