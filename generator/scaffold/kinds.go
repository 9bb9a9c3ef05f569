// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"go/ast"
	"strings"

	"github.com/informer-gen/informer-gen/generator/marker/syntax"
)

// selects reports whether a marker makes the generator look at a type.
func selects(line syntax.Line) bool {
	name, value, _ := strings.Cut(line.Text, "=")
	name = strings.TrimSpace(name)
	return name == "genclient" || name == "kubebuilder:object:root" && strings.TrimSpace(value) != "false"
}

func isStruct(spec *ast.TypeSpec) bool {
	_, ok := spec.Type.(*ast.StructType)
	return ok
}

// looksLikeKind reports whether a type embeds a TypeMeta and an ObjectMeta, with tags as versioned
// types have them. In a file that imports names without a qualifier, they need none.
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
