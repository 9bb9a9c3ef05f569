// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/output"
)

// packageName returns the package name for the layout Single: that of the handwritten files in the
// output folder or, without any, the last element of the import path. A main package with a build
// constraint doesn't count: it is a script, run by its file name.
func packageName(to target) (string, error) {
	for _, file := range output.Handwritten(to.dir) {
		switch {
		case file.Name == nil || file.Name.Name == "_":
		case file.Name.Name != "main":
			return file.Name.Name, nil
		case !hasBuildConstraint(file):
			return "", fmt.Errorf("the layout single makes one package of the output %s, but the Go files there are a program, which no other package can import: choose another output",
				to.importPath)
		}
	}
	name := path.Base(to.importPath)
	if !token.IsIdentifier(name) || name == "_" || name == "main" || strings.HasSuffix(name, "_test") {
		return "", fmt.Errorf("the layout single makes one package of the output %s, but %q can't be its name: choose another output, or write a Go file with a package clause there",
			to.importPath, name)
	}
	return name, nil
}

func hasBuildConstraint(file *ast.File) bool {
	for _, group := range file.Comments {
		if group.Pos() < file.Package && slices.ContainsFunc(group.List, func(c *ast.Comment) bool { return constraint.IsGoBuild(c.Text) }) {
			return true
		}
	}
	return false
}
