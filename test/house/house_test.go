// SPDX-License-Identifier: Apache-2.0

// Package house holds the repository against the measures that it is built to: how long files are
// and how much packages export, which package knows which, how wide comments are, words that have
// one meaning or are not used, and whether the Go code on pages compiles and the commands there can
// be run. "go test -v -count=1 ./test/house" prints the measures. Without -count=1, the go command
// may repeat an earlier result: it doesn't see changes outside of this module.
package house

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	root       = "../.."
	mostLines  = 400 // of a file
	mostMedian = 150 // of a package's files, if it has more than fewFiles
	fewFiles   = 4
	mostNames  = 25  // that a package exports
	mostWidth  = 100 // of a comment, or of a line of prose in a Markdown file
	tabColumns = 4
)

// moreNames are the packages that export more than mostNames, with their own number.
var moreNames = map[string]int{
	"runtime/informer": 47, // the options, handlers and status of which a program needs a few
}

// unwanted are words that comments and docs have a plainer one for.
var unwanted = []struct {
	word    *regexp.Regexp
	instead string
}{
	{regexp.MustCompile(`(?i)\b(says|tells) whether\b`), "reports whether"},
	{regexp.MustCompile(`(?i)\b(nobody|somebody|anybody)\b`), "the actor's name, such as the caller, or another goroutine"},
	{regexp.MustCompile(`(?i)\bfor the reason of\b`), "because"},
}

// unbroken are markers and directives, which are one line each.
var unbroken = regexp.MustCompile(`^\s*//( ?\+|go:)`)

// goFile is a Go file of the repository that was written by hand.
type goFile struct {
	path  string // from the root
	lines []string
	file  *ast.File
	set   *token.FileSet
}

var parsed map[string][]goFile // by the first test that needs them

// goFiles returns all of them, by the folder that they are in.
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
			folders[filepath.Dir(path)] = append(folders[filepath.Dir(path)], goFile{path, linesOf(content), file, set})
		}
	}
	parsed = folders
	return folders
}

// files returns the contents of all files of the repository whose names end in suffix, by their
// paths from the root, without test data and folders that the go command passes over.
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

func linesOf(content []byte) (lines []string) {
	for scanner := bufio.NewScanner(bytes.NewReader(content)); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	return lines
}

func width(line string) int {
	return utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
}

func TestFilesAndPackagesAreSmall(t *testing.T) {
	folders := goFiles(t)
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		var code []int // lines of each file that is no test
		for _, f := range folders[folder] {
			if len(f.lines) > mostLines {
				t.Errorf("%s has %d lines, %d at most", f.path, len(f.lines), mostLines)
			}
			if !strings.HasSuffix(f.path, "_test.go") {
				code = append(code, len(f.lines))
			}
		}
		if len(code) == 0 {
			continue
		}
		slices.Sort(code)
		sum, median, names := 0, code[len(code)/2], exported(folders[folder])
		for _, n := range code {
			sum += n
		}
		t.Logf("%-45s %3d files, %5d lines; median %3d, longest %3d; %d exported names",
			folder, len(code), sum, median, code[len(code)-1], names)
		if len(code) > fewFiles && median > mostMedian {
			t.Errorf("%s: the median of its files is %d lines, %d at most", folder, median, mostMedian)
		}
		switch own, excepted := moreNames[folder]; {
		case excepted && names <= mostNames:
			t.Errorf("%s exports %d names, so it needs no exception", folder, names)
		case names > max(mostNames, own):
			t.Errorf("%s exports %d names, %d at most", folder, names, max(mostNames, own))
		}
	}
	for folder := range moreNames {
		if folders[folder] == nil {
			t.Errorf("there is no package in %s any more: take its exception out", folder)
		}
	}
}

// exported counts the exported names of a package: types, functions, variables and constants.
func exported(files []goFile) (n int) {
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		for _, decl := range f.file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil && decl.Name.IsExported() {
					n++
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							n++
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							if name.IsExported() {
								n++
							}
						}
					}
				}
			}
		}
	}
	return n
}

func TestCommentsAreNarrowAndPlain(t *testing.T) {
	for _, folder := range goFiles(t) {
		for _, f := range folder {
			for _, group := range f.file.Comments {
				output := false // of an example: what it prints is as wide as it is
				for _, comment := range group.List {
					output = output || strings.Contains(strings.ToLower(comment.Text), "output:")
					at := f.set.Position(comment.Pos())
					for i := range strings.Count(comment.Text, "\n") + 1 {
						line := f.lines[at.Line-1+i]
						if w := width(line); w > mostWidth && !output && !strings.Contains(line, "://") && !unbroken.MatchString(line) {
							t.Errorf("%s:%d: a comment of %d columns, %d at most", f.path, at.Line+i, w, mostWidth)
						}
					}
					for _, u := range unwanted {
						if found := u.word.FindString(comment.Text); found != "" && !output {
							t.Errorf("%s:%d: %q in a comment; plainer is %s", f.path, at.Line, found, u.instead)
						}
					}
				}
			}
		}
	}
}

func TestEveryPackageHasADoc(t *testing.T) {
	for folder, files := range goFiles(t) {
		if !slices.ContainsFunc(files, func(f goFile) bool { return f.file.Doc != nil }) {
			t.Errorf("the package in %s has no doc comment", folder)
		}
	}
}

// TestPagesAreNarrowAndPlain looks at Markdown files. Tables, code and links may be wide.
func TestPagesAreNarrowAndPlain(t *testing.T) {
	for path, content := range files(t, ".md") {
		code := false
		for i, line := range linesOf(content) {
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			if w := width(line); w > mostWidth && !code && !strings.HasPrefix(line, "|") && !strings.Contains(line, "](") {
				t.Errorf("%s:%d: a line of %d columns, %d at most", path, i+1, w, mostWidth)
			}
			for _, u := range unwanted {
				if found := u.word.FindString(line); found != "" && !code {
					t.Errorf("%s:%d: %q; plainer is %s", path, i+1, found, u.instead)
				}
			}
		}
	}
}

var aColor = regexp.MustCompile(`#[0-9a-f]{6}\b`)

// TestPicturesDifferInColorsOnly: a picture for dark pages shows the same as that for light pages.
func TestPicturesDifferInColorsOnly(t *testing.T) {
	pictures := files(t, ".svg")
	for path, content := range pictures {
		other := strings.Replace(path, "-light.svg", "-dark.svg", 1)
		if path != other && !bytes.Equal(aColor.ReplaceAll(content, nil), aColor.ReplaceAll(pictures[other], nil)) {
			t.Errorf("%s and %s differ in more than colors", path, other)
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
		if folder := strings.TrimSuffix("/"+filepath.ToSlash(filepath.Dir(path)), "/."); !bytes.Contains(known, []byte(`"`+cmp.Or(folder, "/")+`"`)) {
			t.Errorf(".github/dependabot.yml doesn't have %s", path)
		}
	}
}

// TestMeasuresFindWhatTheyLookFor holds the checks against lines that they have to refuse.
func TestMeasuresFindWhatTheyLookFor(t *testing.T) {
	for _, text := range []string{"x says whether y holds", "Nobody reads it", "tells whether", "for the reason of"} {
		if !slices.ContainsFunc(unwanted, func(u struct {
			word    *regexp.Regexp
			instead string
		}) bool {
			return u.word.MatchString(text)
		}) {
			t.Errorf("%q is refused by none", text)
		}
	}
	if got := width(fmt.Sprint("\t", strings.Repeat("ä", 97))); got != 101 {
		t.Errorf("a tab and 97 letters are %d columns wide", got)
	}
}
