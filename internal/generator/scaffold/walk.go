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

	"golang.org/x/mod/modfile"

	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

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
				if err := p.readNested(name); err != nil {
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
		p.file(p.slashed(name), data)
		return nil
	})
}

func (p *Project) readNested(name string) error {
	data, err := os.ReadFile(filepath.Join(name, "go.mod"))
	if err != nil {
		return err
	}
	below := &Project{Dir: name, Module: modfile.ModulePath(data)}
	if err := below.walk(); err != nil {
		return err
	}
	if len(below.packages) > 0 {
		p.nested = append(p.nested, below)
	}
	p.nested = append(p.nested, below.nested...)
	return nil
}

func (p *Project) slashed(dir string) string {
	rel, err := filepath.Rel(p.Dir, dir)
	if err != nil {
		return filepath.ToSlash(dir)
	}
	return filepath.ToSlash(rel)
}

// takeNested adopts the nested modules that go.mod requires, if there are no API types beside them.
func (p *Project) takeNested() {
	hasOwn := len(p.packages) > 0
	for _, m := range p.nested {
		dir := p.slashed(m.Dir)
		if hasOwn || !p.requires[m.Module] {
			p.Nested = append(p.Nested, Nested{dir, m.Module})
			continue
		}
		m.leaveOut()
		p.required = append(p.required, m)
		for _, f := range m.packages {
			f.name = path.Join(dir, f.name)
			p.packages = append(p.packages, f)
		}
		for _, l := range m.LeftOut {
			l.Folder = path.Join(dir, l.Folder)
			p.LeftOut = append(p.LeftOut, l)
		}
	}
}

// file records the types and lines of interest in a Go file.
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
		// A script or a list of tools, ignored by builds, may belong to another package.
		p.rootBuilt, _ = build.Default.MatchFile(p.Dir, name)
		if p.rootBuilt || p.rootName == "" {
			p.rootName = file.Name.Name
		}
	}
	if !mayHaveTypes || file.Name.Name == "main" {
		return
	}
	found := folder{name: path.Dir(name)}
	marked := map[*ast.TypeSpec]bool{}
	for spec, lines := range syntax.Scan(fset, file).Types {
		marked[spec] = slices.ContainsFunc(lines, selects) && isStruct(spec)
	}
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.TypeSpec)
			if marked[spec] || looksLikeKind(spec, hasDotImport(file)) {
				found.kinds = append(found.kinds, kind{spec.Name.Name, marked[spec], metaOf(spec, path.Join(p.Module, found.name), file)})
			}
		}
	}
	if len(found.kinds) == 0 {
		return
	}
	if n := len(p.packages); n > 0 && p.packages[n-1].name == found.name {
		p.packages[n-1].kinds = append(p.packages[n-1].kinds, found.kinds...)
		return
	}
	p.packages = append(p.packages, found)
}

// hasGenerateLine reports whether data has a go:generate line for informer-gen, and not for
// code-generator's program of that name.
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
