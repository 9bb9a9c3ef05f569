// SPDX-License-Identifier: Apache-2.0

// Package house checks the repository's own rules: the imports between packages, the length of
// files, and the links, names and Go code of pages. Run it with -count=1: the go command doesn't
// see changes outside of this module, and would repeat an earlier result.
package house

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	root     = "../.."
	maxLines = 400 // of a Go file
	maxWidth = 100 // of a comment, or of a line of prose in a Markdown file
	license  = "// SPDX-License-Identifier: Apache-2.0"
)

// goFile is a handwritten Go file of the repository.
type goFile struct {
	path  string // from the root
	lines []string
	file  *ast.File
	set   *token.FileSet
}

var parsed map[string][]goFile // the result of goFiles

// goFiles returns all handwritten Go files, by folder.
func goFiles(t *testing.T) map[string][]goFile {
	t.Helper()
	if parsed != nil {
		return parsed
	}
	folders := map[string][]goFile{}
	for path, content := range files(t, ".go") {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, content, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(file) {
			f := goFile{path, strings.Split(string(content), "\n"), file, set}
			folders[filepath.Dir(path)] = append(folders[filepath.Dir(path)], f)
		}
	}
	parsed = folders
	return folders
}

// files returns the contents of all files with names that end in suffix, by their paths from the
// root. It leaves out test data and the folders ignored by the go command.
func files(t *testing.T, suffix string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(root), ".", func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (name == "testdata" || name != "." && strings.ContainsAny(name[:1], "._")):
			return fs.SkipDir
		case !entry.IsDir() && strings.HasSuffix(name, suffix):
			found[path], err = os.ReadFile(filepath.Join(root, path))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// width counts a tab as four columns.
func width(line string) int { return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t") }

// TestGoFiles: files are short and have the licence, packages have a doc comment and a row in
// ARCHITECTURE.md, comments are narrow.
func TestGoFiles(t *testing.T) {
	architecture := string(files(t, "ARCHITECTURE.md")["ARCHITECTURE.md"])
	for folder, of := range goFiles(t) {
		documented, code := false, false
		for _, f := range of {
			documented = documented || f.file.Doc != nil
			code = code || !strings.HasSuffix(f.path, "_test.go")
			if n := len(f.lines) - 1; n > maxLines {
				t.Errorf("%s has %d lines, want at most %d", f.path, n, maxLines)
			}
			if !slices.Contains(f.lines[:min(3, len(f.lines))], license) {
				t.Errorf("%s does not begin with %s", f.path, license)
			}
			checkComments(t, f)
		}
		if !documented {
			t.Errorf("the package in %s has no doc comment", folder)
		}
		above := folder
		for above != "." && !strings.Contains(architecture, "`"+above+"`") {
			above = filepath.Dir(above)
		}
		if code && above == "." && folder != "runtime" {
			t.Errorf("ARCHITECTURE.md has no row `%s`", folder)
		}
	}
}

// checkComments checks the width of comments. Links, directives and the output of an example may be
// wide.
func checkComments(t *testing.T, f goFile) {
	for _, group := range f.file.Comments {
		if strings.Contains(strings.ToLower(group.Text()), "output:") {
			continue
		}
		for n := f.set.Position(group.Pos()).Line; n <= f.set.Position(group.End()).Line; n++ {
			line := f.lines[n-1]
			text := strings.TrimSpace(line)
			if width(line) > maxWidth && !strings.Contains(line, "://") && !strings.HasPrefix(text, "// +") && !strings.HasPrefix(text, "//go:") {
				t.Errorf("%s:%d: the comment has %d columns, want at most %d", f.path, n, width(line), maxWidth)
			}
		}
	}
}

// TestDependabotKnowsEveryModule: .github/dependabot.yml has the folder of each go.mod.
func TestDependabotKnowsEveryModule(t *testing.T) {
	known, err := os.ReadFile(filepath.Join(root, ".github", "dependabot.yml"))
	if err != nil {
		t.Fatal(err)
	}
	for path := range files(t, "go.mod") {
		folder := cmp.Or(strings.TrimSuffix("/"+filepath.ToSlash(filepath.Dir(path)), "/."), "/")
		if !strings.Contains(string(known), `"`+folder+`"`) {
			t.Errorf(".github/dependabot.yml lacks the folder %s", folder)
		}
	}
}
