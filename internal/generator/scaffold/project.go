// SPDX-License-Identifier: Apache-2.0

// Package scaffold sets a project up for the generator: it looks at what is there, writes a
// commented informer-gen.yaml that fits, and adds the go:generate line.
//
// Look only reads, and what it has found can be seen in the Project; Project.Write writes.
package scaffold

import (
	"fmt"
	"go/version"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/skew"
)

// Layout is the way in which a project is laid out.
type Layout int

// The layouts that Look knows.
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

// String returns in words what the layout is.
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

// Project is what Look has found. Names of files and folders have slashes and are relative to Dir.
type Project struct {
	// Dir is the folder of go.mod, absolute.
	Dir string
	// Module is the module's path.
	Module string
	Layout Layout
	// Inputs are the patterns of the packages to read.
	Inputs []string
	// Folders have types that are marked.
	Folders []string
	// Nested are the modules below Dir that have API types and aren't among the Inputs. No pattern
	// with ... enters their folders.
	Nested []Nested
	// Left are the folders that the Inputs leave out.
	Left []Left
	// Discover means that no type is marked, but that there are some with TypeMeta and ObjectMeta,
	// in the Inputs.
	Discover bool
	// Header is a file with the licence; empty if there is none.
	Header string
	// HeaderYear is set if the header has the word YEAR in it.
	HeaderYear string
	// CRDs are folders with CustomResourceDefinitions.
	CRDs []string
	// Packages are settings of single packages.
	Packages []Package
	// Notes are remarks about the Inputs, to stand above them.
	Notes []string
	// HasTool means that go.mod has a tool line for informer-gen.
	HasTool bool
	// Go is the version of go.mod's go line; empty if it has none.
	Go string
	// Generate is the file that has a go:generate line for informer-gen; empty if none has.
	Generate string

	// Chosen means that the Inputs were chosen by Use.
	Chosen bool

	cwd       string     // absolute
	header    []byte     // of Header
	rootName  string     // of the package in Dir; empty if there is none
	rootBuilt bool       // rootName is that of a file which a build doesn't pass over
	packages  []folder   // with types
	nested    []*Project // modules below Dir that have types
	required  []*Project // those whose packages are among the Inputs

	requires map[string]bool // paths of modules in go.mod
}

// Nested is a module in a folder.
type Nested struct{ Folder, Module string }

// Left is a folder that is left out.
type Left struct{ Folder, Reason string }

// Package has the settings of one package whose markers don't say all that is needed.
type Package struct {
	Path string
	// Leave are the kinds that can't be generated, with the reasons.
	Leave []Leave
}

// Leave is a kind that can't be generated.
type Leave struct {
	Kind, Reason string
}

// folder is a folder with Go files that declare types which are marked, or look like kinds.
type folder struct {
	name  string // with slashes, relative to the module
	kinds []kind
}

func (f folder) isMarked() bool {
	return slices.ContainsFunc(f.kinds, func(k kind) bool { return k.marked })
}

// Tool is the package of the command.
const Tool = "github.com/informer-gen/informer-gen/cmd/informer-gen"

// toolGo is the language version of informer-gen's own go line.
const toolGo = "go1.26"

// LiftedGo returns the language version, such as "1.26", to which requiring the tool lifts go.mod's
// go line; "" if the line stays.
func (p *Project) LiftedGo() string {
	if p.HasTool || version.Compare(version.Lang("go"+p.Go), toolGo) >= 0 {
		return ""
	}
	return strings.TrimPrefix(toolGo, "go")
}

// Client returns the argument of the go get without which go mod tidy fails, such as
// k8s.io/client-go@v0.37.2; "" if there is no need for it.
func (p *Project) Client() string {
	if missing := skew.Find(filepath.Join(p.Dir, "go.mod")); missing != nil {
		return missing.Get
	}
	return ""
}

// Look looks at the module that dir belongs to. year takes the place of the word YEAR in its
// licence header. It reads files and runs nothing. Files that don't parse are passed over.
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

// Relative is the name of a file or folder of the project as one writes it in the folder that Look
// was given.
func (p *Project) Relative(name string) string {
	rel, err := filepath.Rel(p.cwd, filepath.Join(p.Dir, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}
