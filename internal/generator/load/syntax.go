// SPDX-License-Identifier: Apache-2.0

package load

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
)

// parse parses a file and empties its function bodies. The file isn't nil if only its syntax is
// wrong; the error is one of reading.
func parse(fset *token.FileSet, name string, mode parser.Mode) (*ast.File, scanner.ErrorList, error) {
	file, err := parser.ParseFile(fset, name, nil, mode|parser.SkipObjectResolution)
	var problems scanner.ErrorList
	if err != nil && !errors.As(err, &problems) {
		return nil, nil, fmt.Errorf("reading a Go file: %w", err)
	}
	if file == nil {
		return nil, problems, nil
	}
	for _, decl := range file.Decls {
		// An empty body, not none: a generic function must have one.
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body.List = nil
		}
	}
	return file, problems, nil
}
