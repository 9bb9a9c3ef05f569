// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"github.com/informer-gen/informer-gen/generator/model"
	"github.com/informer-gen/informer-gen/templates"
)

// expansions returns the names of the types that the user's own files declare in the lister package of a version.
// Files that can't be read or parsed declare nothing; the compiler will say more about them.
func (t target) expansions(group *model.Group, version *model.Version) map[string]bool {
	dir := filepath.Join(t.dir, filepath.FromSlash(templates.ListerDir(group, version)))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	declared := map[string]bool{}
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, _ := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if file == nil || ast.IsGenerated(file) {
			continue
		}
		for _, decl := range file.Decls {
			if decl, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						declared[spec.Name.Name] = true
					}
				}
			}
		}
	}
	return declared
}
