// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strconv"
	"strings"
)

type pruning int

const (
	// keepTypes keeps the declarations that types depend on: types, constants and methods.
	keepTypes pruning = iota
	keepFunctions
	keepAll
)

// pruned returns a copy of file with only some declarations and the imports they need. nameOf
// returns the names of imported packages. funcOnly are the imports needed only by functions and
// methods.
func pruned(file *ast.File, keep pruning, nameOf func(path string) string) (small *ast.File, funcOnly map[string]bool) {
	small = &ast.File{Package: file.Package, Name: file.Name, FileStart: file.FileStart, FileEnd: file.FileEnd, GoVersion: file.GoVersion}
	byTypes, byFuncs := map[string]bool{}, map[string]bool{}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil && keep == keepTypes {
				continue
			}
			qualifiers(decl, byFuncs)
		case *ast.GenDecl:
			if decl.Tok != token.TYPE && decl.Tok != token.CONST && !(decl.Tok == token.VAR && keep == keepAll) {
				continue
			}
			qualifiers(decl, byTypes)
		default:
			continue
		}
		small.Decls = append(small.Decls, decl)
	}
	funcOnly = map[string]bool{}
	imports := &ast.GenDecl{Tok: token.IMPORT}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := nameOf(importPath)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "" { // the package isn't there
			name = guessName(importPath, byTypes, byFuncs)
			// otherwise go/types would choose another name
			spec = &ast.ImportSpec{Name: &ast.Ident{NamePos: spec.Path.Pos(), Name: name}, Path: spec.Path, EndPos: spec.EndPos}
		}
		if name == "_" || name != "." && !byTypes[name] && !byFuncs[name] {
			continue
		}
		if name != "." && !byTypes[name] {
			funcOnly[importPath] = true
		}
		imports.Specs = append(imports.Specs, spec)
		small.Imports = append(small.Imports, spec)
	}
	if len(imports.Specs) > 0 {
		imports.TokPos = imports.Specs[0].Pos()
		imports.Lparen, imports.Rparen = imports.TokPos, imports.TokPos
		small.Decls = append([]ast.Decl{imports}, small.Decls...)
	}
	return small, funcOnly
}

// guessName returns the likely name of the package at importPath: the first usual one in use, or
// else the first usual one.
func guessName(importPath string, used ...map[string]bool) string {
	names := []string{path.Base(importPath)}
	if majorVersion.MatchString(names[0]) {
		names = []string{path.Base(path.Dir(importPath)), names[0]}
	}
	// yaml in gopkg.in/yaml.v3, thing in example.com/go-thing and example.com/thing-go
	trimmed, _, _ := strings.Cut(names[0], ".")
	trimmed = strings.TrimPrefix(strings.TrimSuffix(trimmed, "-go"), "go-")
	names = append(names, trimmed, strings.ReplaceAll(trimmed, "-", ""), strings.ReplaceAll(trimmed, "-", "_"))
	for _, in := range used {
		for _, name := range names {
			if in[name] {
				return name
			}
		}
	}
	return names[0]
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// qualifiers adds all identifiers before a dot in node: the possible names of imported packages.
func qualifiers(node ast.Node, names map[string]bool) {
	ast.Inspect(node, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := selector.X.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
		return true
	})
}
