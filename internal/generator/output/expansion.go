// SPDX-License-Identifier: Apache-2.0

package output

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Handwritten returns what can be read of the Go files in a folder that aren't generated, apart
// from tests and from files that Go passes over for their names. The compiler will say more about a
// file that is wrong.
func Handwritten(dir string) []*ast.File {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || passedOver(name) {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if file != nil && !ast.IsGenerated(file) {
			files = append(files, file)
		}
	}
	return files
}

// passedOver reports whether Go passes over a file for its name.
func passedOver(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
}

// HandwrittenNames returns the names that the user's own files in a folder declare for the whole
// package. Those of expansion interfaces are among them.
func HandwrittenNames(dir string) map[string]bool {
	declared := map[string]bool{}
	for _, file := range Handwritten(dir) {
		for _, name := range namesOf(file, token.CONST, token.FUNC, token.TYPE, token.VAR) {
			declared[name.Name] = true
		}
	}
	delete(declared, "_")
	return declared
}

// StaleExpansions warns about expansion interfaces that the user's own files below root declare
// among the listers for kinds that nothing is generated for there. kinds has the names of the kinds
// that something is generated for, by the folder of their listers, relative to root.
func StaleExpansions(root string, kinds map[string]map[string]bool) diag.List {
	disk, err := scan(root)
	if err != nil {
		return nil // Write and Diff say so
	}
	var report diag.List
	fset := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(disk.others)) {
		dir := path.Dir(name)
		if !strings.HasSuffix(name, "_expansion.go") || passedOver(path.Base(name)) || !listerFolder(dir, kinds) {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(root, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler will say more
		}
		for _, id := range namesOf(file, token.TYPE) {
			kind, ok := strings.CutSuffix(id.Name, "ListerExpansion")
			if of, ok := strings.CutSuffix(kind, "Namespace"); ok && !kinds[dir][kind] {
				kind = of
			}
			if ok && !kinds[dir][kind] {
				report.Add(diag.Diagnostic{Pos: fset.Position(id.Pos()), Warning: true,
					Message: id.Name + " expands no lister, because nothing is generated for a kind " + kind + " here: remove it, or rename it"})
			}
		}
	}
	return report
}

// listerFolder reports whether listers could be in a folder, in the layout that kinds has folders
// of.
func listerFolder(dir string, kinds map[string]map[string]bool) bool {
	if _, single := kinds["."]; single {
		return dir == "."
	}
	return strings.HasPrefix(dir, "listers/")
}

// namesOf returns the names that a file declares for the whole package by some keywords.
func namesOf(file *ast.File, keywords ...token.Token) []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && slices.Contains(keywords, token.FUNC) {
				names = append(names, decl.Name)
			}
		case *ast.GenDecl:
			if !slices.Contains(keywords, decl.Tok) {
				continue
			}
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name)
				case *ast.ValueSpec:
					names = append(names, spec.Names...)
				}
			}
		}
	}
	return names
}
