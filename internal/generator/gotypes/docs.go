// SPDX-License-Identifier: Apache-2.0

package gotypes

import (
	"go/token"
	"go/types"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Docs reads doc comments from source files, because the syntax of imported packages comes without
// comments.
type Docs struct {
	// Position returns the position of a declaration. It must be set.
	Position func(token.Pos) token.Position

	files map[string][]string // lines of the files read
}

// IsTypeDeprecated reports whether t's name is deprecated.
func (c *Docs) IsTypeDeprecated(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && c.IsDeprecated(n.Obj())
}

// AnyDeprecated reports whether one of objs is deprecated.
func (c *Docs) AnyDeprecated(objs []types.Object) bool {
	return slices.ContainsFunc(objs, c.IsDeprecated)
}

// IsDeprecated reports whether the doc comment of obj, or that of its group of types, has a
// "Deprecated: " paragraph.
func (c *Docs) IsDeprecated(obj types.Object) bool {
	pos := c.Position(obj.Pos())
	if pos.Filename == "" {
		return false
	}
	lines := c.lines(pos.Filename)
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
		n-- // to the line of the group's type keyword
	}
	return strings.HasPrefix(lines[n], "type (") && deprecatedAbove(lines, n)
}

var directive = regexp.MustCompile(`^//[a-z0-9]+:[a-z0-9]`)

// deprecatedAbove reports whether the comment above a line has a "Deprecated: " paragraph.
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

func (c *Docs) lines(file string) []string {
	lines, ok := c.files[file]
	if !ok {
		if data, err := os.ReadFile(file); err == nil {
			lines = strings.Split(string(data), "\n")
		}
		if c.files == nil {
			c.files = map[string][]string{}
		}
		c.files[file] = lines
	}
	return lines
}
