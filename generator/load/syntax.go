// SPDX-License-Identifier: Apache-2.0

package load

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"sync"
)

// reader reads and parses files.
type reader struct {
	fset *token.FileSet

	mu   sync.Mutex                   // guards seen
	seen map[string][sha256.Size]byte // of the contents of files that may change, by name
}

// read parses what is of interest in a file; functions have no bodies. The file isn't nil if there
// are only problems with its syntax; the error is one of reading. Offsets of its positions don't
// mean anything.
func (r *reader) read(name string, keep extent, remember bool) (*ast.File, scanner.ErrorList, error) {
	src, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("reading a Go file: %w", err)
	}
	if remember {
		r.remember(name, src)
	}
	if small, ok := stripBodies(src, keep); ok {
		if file, _, err := parse(r.fset, name, small, keep); err == nil {
			return file, nil, nil
		}
		// The parser says more about the whole file.
	}
	file, problems, err := parse(r.fset, name, src, keep)
	if len(problems) > 0 {
		err = nil
	}
	return file, problems, err
}

func (r *reader) remember(name string, src []byte) {
	sum := sha256.Sum256(src)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen[name] = sum
}

// parse parses a file and strips its functions of their bodies. If the error is that something is
// wrong with the syntax, the problems say what.
func parse(fset *token.FileSet, name string, src []byte, keep extent) (*ast.File, scanner.ErrorList, error) {
	mode := parser.SkipObjectResolution
	if keep == declarations {
		mode |= parser.ParseComments
	}
	file, err := parser.ParseFile(fset, name, src, mode)
	var problems scanner.ErrorList
	if err != nil && !errors.As(err, &problems) {
		return nil, nil, fmt.Errorf("parsing %s: %w", name, err)
	}
	if file == nil {
		return nil, problems, err
	}
	for _, decl := range file.Decls {
		// An empty body, not none: a generic function must have one.
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body.List = nil
		}
	}
	return file, problems, err
}
