// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/ast"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
)

// deprecated reports whether one of objs is deprecated.
func (r *resolver) deprecated(objs ...types.Object) bool {
	return slices.ContainsFunc(objs, r.isDeprecated)
}

// deprecatedType reports whether t has a name that is deprecated.
func (r *resolver) deprecatedType(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && r.isDeprecated(n.Obj())
}

// isDeprecated reports whether the doc comment of obj, or that of the declaration which it shares
// with other types, calls it deprecated. The syntax of imported packages comes without comments, so
// that it looks at the file.
func (r *resolver) isDeprecated(obj types.Object) bool {
	pos := r.fset.Position(obj.Pos())
	if pos.Filename == "" {
		return false
	}
	lines := r.lines(pos.Filename)
	if pos.Line > len(lines) {
		return false
	}
	n := pos.Line - 1
	if deprecatedAbove(lines, n) {
		return true
	}
	if _, isType := obj.(*types.TypeName); !isType {
		return false
	}
	for n > 0 && (lines[n] == "" || strings.ContainsAny(lines[n][:1], " \t")) {
		n-- // to the line that begins the declaration
	}
	return strings.HasPrefix(lines[n], "type (") && deprecatedAbove(lines, n)
}

// directive is a comment that doesn't count as documentation.
var directive = regexp.MustCompile(`^//[a-z0-9]+:[a-z0-9]`)

// deprecatedAbove reports whether the comment above a line has a paragraph that begins with
// "Deprecated: ".
func deprecatedAbove(lines []string, line int) bool {
	found := false // in the line below
	for _, text := range slices.Backward(lines[:line]) {
		text = strings.TrimSpace(text)
		if directive.MatchString(text) {
			continue
		}
		text, isComment := strings.CutPrefix(text, "//")
		text = strings.TrimSpace(text)
		if found && (!isComment || text == "") {
			return true
		}
		if !isComment {
			return false
		}
		found = strings.HasPrefix(text, "Deprecated: ")
	}
	return found
}

// deprecatedPackage reports whether the package comment calls the package deprecated.
func deprecatedPackage(files []*ast.File) bool {
	return slices.ContainsFunc(files, func(f *ast.File) bool {
		return f.Doc != nil && strings.Contains("\n\n"+f.Doc.Text(), "\n\nDeprecated: ")
	})
}

// lines are those of a file; none if it can't be read.
func (r *resolver) lines(file string) []string {
	lines, ok := r.sources[file]
	if !ok {
		if data, err := os.ReadFile(file); err == nil {
			lines = strings.Split(string(data), "\n")
		}
		if r.sources == nil {
			r.sources = map[string][]string{}
		}
		r.sources[file] = lines
	}
	return lines
}
