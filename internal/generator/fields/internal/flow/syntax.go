// SPDX-License-Identifier: Apache-2.0

package flow

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// cut empties the functions of a package in SSA form, whose syntax package ssa keeps, and drops
// what info knows of them. Generic functions stay as they are: their instances are made later.
func cut(files []*ast.File, info *types.Info) {
	var generic []*ast.FuncDecl
	var done []ast.Node
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if isGeneric(n) {
					generic = append(generic, n)
					return false
				}
				done = append(done, n)
			case *ast.FuncLit, *ast.RangeStmt:
				done = append(done, n)
			}
			return true
		})
	}
	for _, n := range done {
		switch n := n.(type) {
		case *ast.FuncDecl:
			*n = ast.FuncDecl{Name: n.Name, Type: &ast.FuncType{}}
		case *ast.FuncLit:
			*n = ast.FuncLit{Type: &ast.FuncType{}, Body: &ast.BlockStmt{}}
		case *ast.RangeStmt:
			*n = ast.RangeStmt{}
		}
	}
	if info == nil {
		return
	}
	stays := within(generic)
	*info = types.Info{
		Types:        those(info.Types, stays),
		Instances:    those(info.Instances, stays),
		Defs:         those(info.Defs, stays),
		Uses:         those(info.Uses, stays),
		Implicits:    those(info.Implicits, stays),
		Selections:   those(info.Selections, stays),
		Scopes:       those(info.Scopes, stays),
		FileVersions: info.FileVersions,
	}
}

func isGeneric(f *ast.FuncDecl) bool {
	if f.Type.TypeParams != nil {
		return true
	}
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return false
	}
	t := f.Recv.List[0].Type
	for {
		switch u := t.(type) {
		case *ast.StarExpr:
			t = u.X
		case *ast.ParenExpr:
			t = u.X
		case *ast.IndexExpr, *ast.IndexListExpr:
			return true
		default:
			return false
		}
	}
}

// within returns a function that reports whether a position is in one of some functions.
func within(functions []*ast.FuncDecl) func(token.Pos) bool {
	slices.SortFunc(functions, func(a, b *ast.FuncDecl) int { return int(a.Pos() - b.Pos()) })
	return func(pos token.Pos) bool {
		i, exact := slices.BinarySearchFunc(functions, pos, func(f *ast.FuncDecl, pos token.Pos) int { return int(f.Pos() - pos) })
		return exact || i > 0 && pos < functions[i-1].End()
	}
}

// those returns a map with the entries whose keys are at positions that stay.
func those[N interface {
	comparable
	ast.Node
}, V any](all map[N]V, stays func(token.Pos) bool) map[N]V {
	kept := map[N]V{}
	for n, v := range all {
		if stays(n.Pos()) {
			kept[n] = v
		}
	}
	return kept
}
