// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/ast"
	"go/token"
	"slices"
)

// dropUnexported drops the functions and variables of a package that no other package can name,
// unless a type, a constant or an exported variable depends on them.
func dropUnexported(files []*ast.File) {
	needed := map[string]bool{}
	need := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				needed[id.Name] = true
			}
			return true
		})
	}
	unexported := map[*ast.ValueSpec]bool{} // variables
	for _, file := range files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				ast.Inspect(decl.Type, func(n ast.Node) bool {
					if array, ok := n.(*ast.ArrayType); ok && array.Len != nil {
						need(array.Len)
					}
					return true
				})
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok && decl.Tok == token.VAR && !slices.ContainsFunc(v.Names, (*ast.Ident).IsExported) {
						unexported[v] = true
					} else if decl.Tok != token.IMPORT {
						need(spec)
					}
				}
			}
		}
	}
	isNeeded := func(id *ast.Ident) bool { return needed[id.Name] && id.Name != "_" }
	for more := true; more; {
		more = false
		for v := range unexported {
			if slices.ContainsFunc(v.Names, isNeeded) {
				need(v)
				delete(unexported, v)
				more = true
			}
		}
	}
	for _, file := range files {
		file.Decls = slices.DeleteFunc(file.Decls, func(decl ast.Decl) bool {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				return decl.Recv == nil && !decl.Name.IsExported() && !isNeeded(decl.Name)
			case *ast.GenDecl:
				decl.Specs = slices.DeleteFunc(decl.Specs, func(spec ast.Spec) bool {
					v, ok := spec.(*ast.ValueSpec)
					return ok && unexported[v]
				})
				return len(decl.Specs) == 0
			}
			return false
		})
	}
}
