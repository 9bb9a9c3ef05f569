// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/model"
	"github.com/informer-gen/informer-gen/templates"
)

// expansions returns the names of the types that the user's own files declare in the lister package
// of a version. Files that can't be read or parsed declare nothing; the compiler will say more
// about them.
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

// staleExpansions warns about expansion interfaces that the user's own files declare among the
// listers for kinds that nothing is generated for there.
func (t target) staleExpansions(out *model.Output) diag.List {
	kinds := map[string]map[string]bool{} // by folder
	for _, g := range out.Groups {
		for _, v := range g.Versions {
			dir := templates.ListerDir(t.layout, g, v)
			if kinds[dir] == nil {
				kinds[dir] = map[string]bool{}
			}
			for _, k := range v.Types {
				kinds[dir][k.Name] = true
			}
		}
	}
	disk, err := scan(t.dir)
	if err != nil {
		return nil // Write and Diff say so
	}
	var report diag.List
	fset := token.NewFileSet()
	for _, name := range slices.Sorted(maps.Keys(disk.others)) {
		dir := path.Dir(name)
		if !strings.HasSuffix(name, "_expansion.go") || (t.layout == model.Single) != (dir == ".") || dir != "." && !strings.HasPrefix(dir, "listers/") {
			continue
		}
		file, err := parser.ParseFile(fset, filepath.Join(t.dir, filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler will say more
		}
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				id := spec.(*ast.TypeSpec).Name
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
	}
	return report
}
