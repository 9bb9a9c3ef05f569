// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"go/types"
	"os"
	"slices"
	"strings"
)

// deprecated says whether one of objs is deprecated.
func (r *resolver) deprecated(objs ...types.Object) bool {
	return slices.ContainsFunc(objs, r.isDeprecated)
}

// deprecatedType says whether t has a name that is deprecated.
func (r *resolver) deprecatedType(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && r.isDeprecated(n.Obj())
}

// isDeprecated says whether the doc comment of obj has a paragraph that begins with "Deprecated: ". The syntax of imported
// packages comes without comments, so that it looks at the file.
func (r *resolver) isDeprecated(obj types.Object) bool {
	pos := r.fset.Position(obj.Pos())
	if pos.Filename == "" {
		return false
	}
	lines := r.lines(pos.Filename)
	if pos.Line > len(lines) {
		return false
	}
	found := false // in the line below
	for n := pos.Line - 2; n >= 0; n-- {
		text, isComment := strings.CutPrefix(strings.TrimSpace(lines[n]), "//")
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
