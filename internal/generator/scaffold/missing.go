// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// missing is an import that may be missing.
type missing struct {
	path string
	pos  token.Position
}

// importsOfTypes returns what a file imports for its types. The generator doesn't look at
// functions.
func importsOfTypes(fset *token.FileSet, name string, file *ast.File) []missing {
	used := map[string]bool{}
	for _, decl := range file.Decls {
		if decl, ok := decl.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
			ast.Inspect(decl, func(n ast.Node) bool {
				if selector, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := selector.X.(*ast.Ident); ok {
						used[x.Name] = true
					}
				}
				return true
			})
		}
	}
	var all []missing
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil || !isUsed(spec, importPath, used) {
			continue
		}
		pos := fset.Position(spec.Path.Pos())
		pos.Filename = name
		all = append(all, missing{importPath, pos})
	}
	return all
}

// isUsed reports whether an import is one of the names. Without a name of its own it has one that
// is a part of its path.
func isUsed(spec *ast.ImportSpec, importPath string, names map[string]bool) bool {
	if spec.Name != nil {
		return names[spec.Name.Name]
	}
	for name := range names {
		if strings.Contains(importPath, name) {
			return true
		}
	}
	return false
}

// findMissing fills Missing, in the words of the go command and the generator.
func (p *Project) findMissing() {
	if p.isPartial || len(p.required) > 0 {
		return
	}
	for _, f := range p.packages {
		for _, m := range f.imports {
			if p.isProvided(m.path) {
				continue
			}
			p.Missing.Add(diag.Diagnostic{Pos: m.pos, Message: fmt.Sprintf(
				"could not import %s (no required module provides package %[1]s; to add it: go get %[1]s)", m.path)})
		}
	}
	p.Missing = p.Missing.Sorted()
}

// missingImports returns the errors that a package can't be imported because go.mod lacks its
// module. No package is to blame for that.
func (p *Project) missingImports(errs diag.List) diag.List {
	var missing diag.List
	for _, d := range errs {
		if !canBeAdded.MatchString(d.Message) {
			continue
		}
		if d.Pos.Filename != "" && !filepath.IsAbs(d.Pos.Filename) {
			d.Pos.Filename = p.Relative(d.Pos.Filename)
		}
		missing.Add(d)
	}
	return missing
}

var canBeAdded = regexp.MustCompile(`^could not import .*; to add it: go get `)

// isProvided reports whether a package is of the standard library, of this module, or of one that
// it requires. Packages of k8s.io/apimachinery come with the tool.
func (p *Project) isProvided(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	if !strings.Contains(first, ".") || below(importPath, p.Module) || !p.HasTool && below(importPath, "k8s.io/apimachinery") {
		return true
	}
	for dir := importPath; dir != "."; dir = path.Dir(dir) {
		if p.requires[dir] || p.replaces[dir] {
			return true
		}
	}
	return false
}
