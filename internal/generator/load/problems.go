// SPDX-License-Identifier: Apache-2.0

package load

import (
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// ListErrors returns the go command's errors about the package, for example an unresolved import.
func (p *Package) ListErrors() diag.List {
	var list diag.List
	for _, e := range p.meta.Errors {
		if e.Kind != packages.ParseError {
			list.Add(listProblem(e))
		}
	}
	return list.Sorted()
}

func listProblem(e packages.Error) diag.Diagnostic {
	return diag.Diagnostic{Pos: parsePosition(e.Pos), Message: oneLine(e.Msg)}
}

// parsePosition reads "file:line:col", where line and column may be missing.
func parsePosition(s string) token.Position {
	var numbers []int
	for len(numbers) < 2 {
		i := strings.LastIndexByte(s, ':')
		if i < 0 {
			break
		}
		n, err := strconv.Atoi(s[i+1:])
		if err != nil {
			break
		}
		numbers, s = append(numbers, n), s[:i]
	}
	switch len(numbers) {
	case 2:
		return token.Position{Filename: s, Line: numbers[1], Column: numbers[0]}
	case 1:
		return token.Position{Filename: s, Line: numbers[0]}
	}
	return token.Position{}
}

// names reports whether a pattern without a wildcard stands for the package.
func (c Config) names(meta *packages.Package) bool {
	return slices.ContainsFunc(c.Patterns, func(pattern string) bool {
		switch {
		case filepath.IsAbs(pattern):
			return filepath.Clean(pattern) == meta.Dir
		case pattern == "." || pattern == ".." || strings.HasPrefix(pattern, "./") || strings.HasPrefix(pattern, "../"):
			return filepath.Join(c.Dir, filepath.FromSlash(pattern)) == meta.Dir
		}
		return pattern == meta.PkgPath
	})
}

// advice returns a correction for a pattern that matches nothing, if the intention can be guessed;
// else "".
func (c Config) advice(importPath, problem string) string {
	switch m := missingModule.FindStringSubmatch(problem); {
	case m != nil && m[2] == replacedVersion:
		return "; to add it: go get " + m[1]
	case m != nil:
		return "; to add it: go get " + m[1] + "@" + m[2]
	case strings.HasPrefix(problem, "no Go files in "):
		return " (write /... after a folder for all packages below it)"
	case strings.Contains(problem, " is not in std"):
		if info, err := os.Stat(filepath.Join(c.Dir, filepath.FromSlash(importPath))); err == nil && info.IsDir() {
			return ", did you mean ./" + importPath + "?"
		}
	}
	return ""
}

// missingModule matches the go command's error, without advice, for a wildcard in a module without
// content in go.sum.
var missingModule = regexp.MustCompile(`(\S+)@(\S+): missing go\.sum entry$`)

// replacedVersion is the version in go.mod of a module replaced by a folder. It means nothing to
// other modules.
const replacedVersion = "v0.0.0-00010101000000-000000000000"

var adviceFolder = regexp.MustCompile(`to add it: cd .+? go get`)
