// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/marker/syntax"
)

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
	atRoot := path.Dir(name) == "." && !p.rootBuilt && !isTest
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
		// A script or a list of tools, which a build passes over, may be of another package.
		p.rootBuilt, _ = build.Default.MatchFile(p.Dir, name)
		if p.rootBuilt || p.rootName == "" {
			p.rootName = file.Name.Name
		}
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
