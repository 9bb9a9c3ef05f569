// SPDX-License-Identifier: Apache-2.0

// Package scaffold sets a project up for the generator: it looks at what is there, writes a
// commented informer-gen.yaml that fits, and adds the go:generate line.
//
// Look only reads, and what it has found can be seen in the Project; Project.Write writes.
package scaffold

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/informer-gen/informer-gen/generator"
	"github.com/informer-gen/informer-gen/generator/marker/syntax"
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
	// Nested are the folders of other modules below Dir that have API types. No pattern with ...
	// enters them.
	Nested []string
	// Discover means that no type is marked, but that there are some with TypeMeta and ObjectMeta,
	// in the Inputs.
	Discover bool
	// Header is a file with the licence; empty if there is none.
	Header string
	// HeaderYear is set if the header has the word YEAR in it.
	HeaderYear string
	// CRDs are folders with CustomResourceDefinitions.
	CRDs []string
	// Plurals are exceptions from the rules, by kind.
	Plurals map[string]string
	// Script is the script that Header and Plurals come from; empty if there is none.
	Script string
	// Packages are settings of single packages.
	Packages []Package
	// Notes are remarks about the Inputs, to stand above them.
	Notes []string
	// HasTool means that go.mod has a tool line for informer-gen.
	HasTool bool
	// Generate is the file that has a go:generate line for informer-gen; empty if none has.
	Generate string

	// Chosen means that the Inputs were chosen by Use.
	Chosen bool

	cwd      string   // absolute
	header   []byte   // of Header
	rootName string   // of the package in Dir; empty if there is none
	packages []folder // with types
}

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
	name            string // with slashes, relative to the module
	marked, unnamed bool   // unnamed: a type with TypeMeta and ObjectMeta that isn't marked
}

// Tool is the package of the command.
const Tool = "github.com/informer-gen/informer-gen/cmd/informer-gen"

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
	for _, f := range p.packages {
		if f.marked {
			p.Folders = append(p.Folders, f.name)
		}
	}
	isKubebuilder := p.exists("PROJECT")
	p.Script = p.script()
	switch {
	case isKubebuilder:
		p.Layout = Kubebuilder
	case p.Script != "" || slices.ContainsFunc(p.Folders, func(name string) bool { return strings.HasPrefix(name, "pkg/apis/") }):
		p.Layout = CodeGenerator
	case len(p.packages) > 0:
		p.Layout = Plain
	}
	if err := p.readScript(); err != nil {
		return nil, err
	}
	if p.Header == "" && p.exists(boilerplate) {
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

// boilerplate is where both kubebuilder and code-generator have the licence.
const boilerplate = "hack/boilerplate.go.txt"

// module finds go.mod.
func (p *Project) module(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("finding the working directory: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	p.cwd = dir
	for d := dir; ; d = filepath.Dir(d) {
		name := filepath.Join(d, "go.mod")
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			if filepath.Dir(d) == d {
				return fmt.Errorf("%s lies in no Go module: there is no go.mod in it or above it; run go mod init first", dir)
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("looking for the module of %s: %w", dir, err)
		}
		file, err := modfile.ParseLax(name, data, nil)
		if err != nil {
			return fmt.Errorf("reading go.mod: %w", err)
		}
		if file.Module == nil {
			return fmt.Errorf("%s has no module path", name)
		}
		p.Dir, p.Module = d, file.Module.Mod.Path
		full, err := modfile.Parse(name, data, nil)
		p.HasTool = err == nil && slices.ContainsFunc(full.Tool, func(t *modfile.Tool) bool { return t.Path == Tool })
		return nil
	}
}

// walk reads the Go files of the module.
func (p *Project) walk() error {
	return filepath.WalkDir(p.Dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := entry.Name()
		if entry.IsDir() {
			if name == p.Dir {
				return nil
			}
			if base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return filepath.SkipDir
			}
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil {
				if err := p.nested(name); err != nil {
					return err
				}
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(base, ".go") || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || !entry.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(p.Dir, name)
		if err != nil {
			return err
		}
		p.file(filepath.ToSlash(rel), data)
		return nil
	})
}

// nested reads the module in a folder below.
func (p *Project) nested(name string) error {
	below := &Project{Dir: name}
	if err := below.walk(); err != nil {
		return err
	}
	rel, err := filepath.Rel(p.Dir, name)
	if err != nil {
		return err
	}
	rel = filepath.ToSlash(rel)
	if len(below.packages) > 0 {
		p.Nested = append(p.Nested, rel)
	}
	for _, folder := range below.Nested {
		p.Nested = append(p.Nested, path.Join(rel, folder))
	}
	return nil
}

// file notes what is to be known about a Go file.
func (p *Project) file(name string, data []byte) {
	isTest := strings.HasSuffix(name, "_test.go")
	if p.Generate == "" && hasGenerateLine(data) {
		p.Generate = name
	}
	atRoot := path.Dir(name) == "." && p.rootName == "" && !isTest
	mayHaveTypes := !isTest && (bytes.Contains(data, []byte("ObjectMeta")) || bytes.Contains(data, []byte("+genclient")))
	if !atRoot && !mayHaveTypes {
		return
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return
	}
	if atRoot {
		p.rootName = file.Name.Name
	}
	if !mayHaveTypes || file.Name.Name == "main" {
		return
	}
	found := folder{name: path.Dir(name)}
	dot := slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "." })
	for spec, lines := range syntax.Scan(fset, file).Types {
		if slices.ContainsFunc(lines, selects) && isStruct(spec) {
			found.marked = true
		}
	}
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			if looksLikeKind(spec.(*ast.TypeSpec), dot) {
				found.unnamed = true
			}
		}
	}
	if !found.marked && !found.unnamed {
		return
	}
	if n := len(p.packages); n > 0 && p.packages[n-1].name == found.name {
		p.packages[n-1].marked = p.packages[n-1].marked || found.marked
		p.packages[n-1].unnamed = p.packages[n-1].unnamed || found.unnamed
		return
	}
	p.packages = append(p.packages, found)
}

// selects reports whether a marker makes the generator look at a type.
func selects(line syntax.Line) bool {
	name, value, _ := strings.Cut(line.Text, "=")
	name = strings.TrimSpace(name)
	return name == "genclient" || name == "kubebuilder:object:root" && strings.TrimSpace(value) != "false"
}

func isStruct(spec *ast.TypeSpec) bool {
	_, ok := spec.Type.(*ast.StructType)
	return ok
}

// looksLikeKind reports whether a type embeds a TypeMeta and an ObjectMeta, with tags as versioned
// types have them. In a file that imports names without a qualifier, they need none.
func looksLikeKind(spec *ast.TypeSpec, dot bool) bool {
	s, ok := spec.Type.(*ast.StructType)
	if !ok || !spec.Name.IsExported() {
		return false
	}
	embedded := map[string]bool{}
	for _, field := range s.Fields.List {
		if len(field.Names) > 0 || field.Tag == nil {
			continue
		}
		switch name := field.Type.(type) {
		case *ast.SelectorExpr:
			embedded[name.Sel.Name] = true
		case *ast.Ident:
			embedded[name.Name] = dot
		}
	}
	return embedded["TypeMeta"] && embedded["ObjectMeta"]
}

// hasGenerateLine reports whether one of the lines is a go:generate line for informer-gen, and not
// for code-generator's program of that name.
func hasGenerateLine(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		command, ok := strings.CutPrefix(line, "//go:generate ")
		if !ok {
			continue
		}
		for word := range strings.FieldsSeq(command) {
			if word, _, _ = strings.Cut(word, "@"); word == "informer-gen" || word == Tool {
				return true
			}
		}
	}
	return false
}

// Place is the name of a file or folder of the project as one writes it in the folder that Look was
// given.
func (p *Project) Place(name string) string {
	rel, err := filepath.Rel(p.cwd, filepath.Join(p.Dir, filepath.FromSlash(name)))
	if err != nil {
		return name
	}
	return filepath.ToSlash(rel)
}

// exists reports whether there is a regular file of the name.
func (p *Project) exists(name string) bool {
	info, err := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(name)))
	return err == nil && info.Mode().IsRegular()
}

func (p *Project) isFolder(name string) bool {
	info, err := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(name)))
	return err == nil && info.IsDir()
}

// crdFolders are where projects have their CustomResourceDefinitions; the first one that has any is
// taken.
var crdFolders = []string{"config/crd/bases", "config/crd", "config/crds", "deploy/crds", "crds"}

// hasCRDs reports whether the folder has CustomResourceDefinitions that the generator can read.
func (p *Project) hasCRDs(name string) bool {
	return p.isFolder(name) && len(generator.Config{Dir: p.Dir, File: generator.NoFile, CRDs: []string{name}}.Check()) == 0
}
