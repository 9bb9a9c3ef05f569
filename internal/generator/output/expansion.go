// SPDX-License-Identifier: Apache-2.0

package output

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// Handwritten returns the readable parts of a folder's Go files, except generated files, tests, and
// files whose names Go ignores. Errors in a file are left to the compiler.
func Handwritten(dir string) []*ast.File {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var files []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || isIgnored(name) {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if file != nil && !ast.IsGenerated(file) {
			files = append(files, file)
		}
	}
	return files
}

func isIgnored(name string) bool {
	return strings.HasPrefix(name, "_") || strings.HasPrefix(name, ".")
}

// HandwrittenNames returns the package-level names declared by the user's files in a folder.
func HandwrittenNames(dir string) map[string]bool {
	declared := map[string]bool{}
	for _, file := range Handwritten(dir) {
		for _, name := range namesOf(file) {
			declared[name.Name] = true
		}
	}
	delete(declared, "_")
	return declared
}

func namesOf(file *ast.File) []*ast.Ident {
	var names []*ast.Ident
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				names = append(names, decl.Name)
			}
		case *ast.GenDecl:
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
