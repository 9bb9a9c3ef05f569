// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"path/filepath"

	"github.com/informer-gen/informer-gen/generator/model"
	"github.com/informer-gen/informer-gen/templates"
)

// expansions returns the names of the types that the user's own files declare in the lister package of a version.
// Files that can't be read or parsed declare nothing; the compiler will say more about them.
func (t target) expansions(group *model.Group, version *model.Version) map[string]bool {
	dir := filepath.Join(t.dir, filepath.FromSlash(templates.ListerDir(t.layout, group, version)))
	declared := map[string]bool{}
	for _, file := range ownFiles(dir) {
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
