// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

// selects reports whether a marker makes the generator read a type.
func selects(line syntax.Line) bool {
	name, value, _ := strings.Cut(line.Text, "=")
	name = strings.TrimSpace(name)
	return name == "genclient" || name == "kubebuilder:object:root" && strings.TrimSpace(value) != "false"
}

type kind struct {
	name   string
	marked bool
	// meta is the import path of the package whose ObjectMeta it embeds; "" if unknown.
	meta string
}

func isStruct(spec *ast.TypeSpec) bool {
	_, ok := spec.Type.(*ast.StructType)
	return ok
}

// metaOf returns the import path of the package whose ObjectMeta a struct embeds; "" if unknown.
// own is the struct's own package.
func metaOf(spec *ast.TypeSpec, own string, file *ast.File) string {
	for _, field := range spec.Type.(*ast.StructType).Fields.List {
		if len(field.Names) > 0 {
			continue
		}
		switch embedded := field.Type.(type) {
		case *ast.SelectorExpr:
			if x, ok := embedded.X.(*ast.Ident); ok && embedded.Sel.Name == "ObjectMeta" {
				return importedAs(file, x.Name)
			}
		case *ast.Ident:
			if embedded.Name == "ObjectMeta" && !hasDotImport(file) {
				return own
			}
		}
	}
	return ""
}

// importedAs returns the path a file imports under a name; "" if unknown.
func importedAs(file *ast.File, name string) string {
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err == nil && (spec.Name != nil && spec.Name.Name == name || spec.Name == nil && path.Base(importPath) == name) {
			return importPath
		}
	}
	return ""
}

func hasDotImport(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return spec.Name != nil && spec.Name.Name == "." })
}

// looksLikeKind reports whether a type embeds TypeMeta and ObjectMeta with tags, as versioned types
// do. With a dot import, the embedded types need no qualifier.
func looksLikeKind(spec *ast.TypeSpec, dot bool) bool {
	s, ok := spec.Type.(*ast.StructType)
	if !ok || !spec.Name.IsExported() {
		return false
	}
	embedded := map[string]bool{}
	for _, field := range s.Fields.List {
		if len(field.Names) > 0 || field.Tag == nil {
			continue
		}
		switch name := field.Type.(type) {
		case *ast.SelectorExpr:
			embedded[name.Sel.Name] = true
		case *ast.Ident:
			embedded[name.Name] = dot
		}
	}
	return embedded["TypeMeta"] && embedded["ObjectMeta"]
}
