// SPDX-License-Identifier: Apache-2.0

package scaffold

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/marker/syntax"
)

const metaPackage = "k8s.io/apimachinery/pkg/apis/meta/v1"

// readStatus finds the fields of the kind's status. The package is that of the Go file source.
func (c *Controller) readStatus(source string) error {
	declared, err := declarations(filepath.Dir(source))
	if err != nil {
		return err
	}
	kind := declared[c.Kind]
	if c.definesCRDs && !slices.ContainsFunc(kind.markers, func(m string) bool { return m == "kubebuilder:subresource:status" }) {
		return errors.New("it has no subresource for the status; write // +kubebuilder:subresource:status above it")
	}
	status, ok := typeName(fieldOf(kind, "Status"))
	if !ok {
		return errors.New("it has no field Status of a struct type of the same package")
	}
	if !isConditions(declared[status]) {
		return fmt.Errorf("%s lacks the field\n\tConditions []metav1.Condition `json:\"conditions,omitempty\"`", status)
	}
	generation, _ := typeName(fieldOf(declared[status], "ObservedGeneration"))
	c.ObservedGeneration = generation == "int64"
	return nil
}

// declaration is the declaration of a type, with the markers above it.
type declaration struct {
	spec    *ast.TypeSpec
	file    *ast.File
	markers []string
}

// declarations returns the types declared in the Go files of a folder.
func declarations(dir string) (map[string]declaration, error) {
	declared := map[string]declaration{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		lines := syntax.Scan(fset, file).Types
		for _, decl := range file.Decls {
			decl, ok := decl.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE {
				continue
			}
			for _, spec := range decl.Specs {
				d := declaration{spec: spec.(*ast.TypeSpec), file: file}
				for _, line := range lines[d.spec] {
					d.markers = append(d.markers, line.Text)
				}
				declared[d.spec.Name.Name] = d
			}
		}
	}
	return declared, nil
}

// fieldOf returns the type of a struct's field; nil if there is none.
func fieldOf(d declaration, name string) ast.Expr {
	if d.spec == nil || !isStruct(d.spec) {
		return nil
	}
	for _, field := range d.spec.Type.(*ast.StructType).Fields.List {
		if slices.ContainsFunc(field.Names, func(n *ast.Ident) bool { return n.Name == name }) {
			return field.Type
		}
	}
	return nil
}

func typeName(x ast.Expr) (string, bool) {
	name, ok := x.(*ast.Ident)
	if !ok {
		return "", false
	}
	return name.Name, true
}

// isConditions reports whether a struct has a field Conditions with metav1's conditions.
func isConditions(d declaration) bool {
	list, ok := fieldOf(d, "Conditions").(*ast.ArrayType)
	if !ok || list.Len != nil {
		return false
	}
	element, ok := list.Elt.(*ast.SelectorExpr)
	if !ok || element.Sel.Name != "Condition" {
		return false
	}
	qualifier, ok := element.X.(*ast.Ident)
	return ok && importedAs(d.file, qualifier.Name) == metaPackage
}
