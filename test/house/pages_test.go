// SPDX-License-Identifier: Apache-2.0

package house

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	aLink     = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	aCodeSpan = regexp.MustCompile("`[^`\n]*`")
	aTitle    = regexp.MustCompile(`^#+ `)
	aCommand  = regexp.MustCompile("go (?:run|test)[^`#|/]*? (\\./[^ `@]+)")
	aName     = regexp.MustCompile("`([a-z]\\w*)\\.([A-Z]\\w*)")
	aTest     = regexp.MustCompile(`^(Test|Example|Fuzz)([A-Z_]|$)`)
)

// prose returns the lines of a page, with empty lines in place of fenced code.
func prose(content []byte) []string {
	fenced, lines := false, strings.Split(string(content), "\n")
	for i, line := range lines {
		fence := strings.HasPrefix(strings.TrimSpace(line), "```")
		if fence || fenced {
			lines[i] = ""
		}
		fenced = fenced != fence
	}
	return lines
}

// TestPages: prose is narrow, the targets of relative links and anchors exist, and so do the
// packages in commands.
func TestPages(t *testing.T) {
	pages := files(t, ".md")
	anchors := map[string]bool{} // page#anchor
	for path, content := range pages {
		for _, line := range prose(content) {
			if aTitle.MatchString(line) {
				anchors[path+"#"+anchorOf(strings.TrimLeft(line, "# "))] = true
			}
		}
	}
	links := 0
	for path, content := range pages {
		at := func(i int) string { return fmt.Sprintf("%s:%d", path, i+1) }
		for i, line := range prose(content) {
			found := aLink.FindAllStringSubmatch(aCodeSpan.ReplaceAllString(line, ""), -1)
			if width(line) > maxWidth && !strings.HasPrefix(line, "|") && !strings.Contains(line, "](") {
				t.Errorf("%s: the line has %d columns, want at most %d", at(i), width(line), maxWidth)
			}
			for _, m := range found {
				link := m[1] + m[2]
				if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
					continue
				}
				links++
				file, anchor, hasAnchor := strings.Cut(link, "#")
				target := path
				if file != "" {
					target = filepath.Join(filepath.Dir(path), file)
				}
				if _, err := os.Stat(filepath.Join(root, target)); err != nil {
					t.Errorf("%s: the link %s leads to no file", at(i), link)
				} else if hasAnchor && !anchors[target+"#"+anchor] {
					t.Errorf("%s: the link %s leads to no title", at(i), link)
				}
			}
			for _, m := range aCommand.FindAllStringSubmatch(line, -1) {
				folder := strings.TrimSuffix(m[1], "...")
				if _, err := os.Stat(filepath.Join(root, folder)); err != nil && !strings.Contains(line, "cd ") && !strings.Contains(line, "-C ") {
					t.Errorf("%s: no package %s", at(i), m[1])
				}
			}
		}
	}
	if links < 50 {
		t.Errorf("found only %d links", links)
	}
}

// anchorOf is GitHub's anchor of a title: lower case, without punctuation, hyphens for spaces.
func anchorOf(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// TestNamesOnPagesExist looks up package.Name of our packages, and folder.TestName: pages name the
// tests of their promises. The first column of a table has other projects' names.
func TestNamesOnPagesExist(t *testing.T) {
	packages, names := map[string]bool{}, map[string]bool{} // names: package.Name, and folder.Name
	for folder, files := range goFiles(t) {
		for _, f := range files {
			if name := f.file.Name.Name; within(folder, "runtime") || within(folder, "server") || within(folder, "testkit") {
				packages[name] = true
				for declared := range f.file.Scope.Objects {
					names[name+"."+declared] = true
				}
			}
			for _, decl := range f.file.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && aTest.MatchString(fn.Name.Name) {
					names[filepath.Base(folder)+"."+fn.Name.Name] = true
				}
			}
		}
	}
	checked := 0
	for path, content := range files(t, ".md") {
		for i, line := range prose(content) {
			if strings.HasPrefix(line, "|") {
				_, line, _ = strings.Cut(line[1:], "|")
			}
			for _, m := range aName.FindAllStringSubmatch(line, -1) {
				if !packages[m[1]] && !aTest.MatchString(m[2]) {
					continue
				}
				checked++
				if !names[m[1]+"."+m[2]] {
					t.Errorf("%s:%d: no declaration of %s.%s", path, i+1, m[1], m[2])
				}
			}
		}
	}
	if checked < 200 {
		t.Errorf("found only %d names", checked)
	}
}
