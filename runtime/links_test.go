// SPDX-License-Identifier: Apache-2.0

package runtime_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// mostReadmeLines is what a reader looks through before the first try.
const mostReadmeLines = 170

func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n > mostReadmeLines {
		t.Errorf("README.md has %d lines, want at most %d: what is more goes to a page of docs", n, mostReadmeLines)
	}
}

// TestLinks: every relative link and anchor of the pages leads somewhere.
func TestLinks(t *testing.T) {
	var checked int
	for _, page := range pagesWithLinks(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range linksOf(string(text)) {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			checked++
			if why := brokenLink(page, link); why != "" {
				t.Errorf("%s: (%s): %s", page, link, why)
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links were found", checked)
	}
}

// TestNamesOnPagesExist looks up the names of the runtime that stand in backticks on a page. The
// first column of a table has other projects' names.
func TestNamesOnPagesExist(t *testing.T) {
	api, tests, checked := newNames(t), testNames(t), 0
	var ours []string // names of packages
	for _, pkg := range api.packages {
		ours = append(ours, pkg.Name())
	}
	name := regexp.MustCompile(`(?:^|[^\w.])((?:` + strings.Join(ours, "|") + `)(?:\.[A-Z]\w*)+)`)
	for _, page := range pagesWithLinks(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		outside, _ := prose(string(text))
		for line := range strings.Lines(outside) {
			if cells := cellsOf(strings.TrimSpace(line)); line[0] == '|' && len(cells) > 1 {
				line = strings.Join(cells[1:], " ")
			}
			for _, code := range quoted(line) {
				for _, m := range name.FindAllStringSubmatch(code, -1) {
					checked++
					if err := api.lookup(m[1]); err != nil && tests.lookup(m[1]) != nil {
						t.Errorf("%s: `%s`: %v", page, code, err)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names were found", checked)
	}
}

// TestFilesOnPagesExist looks for the files and folders of the repository that pages about it name
// in backticks, by their path or its end.
func TestFilesOnPagesExist(t *testing.T) {
	paths := []string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != "." && d.Name() != ".." && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		paths = append(paths, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"../ARCHITECTURE.md", "../CONTRIBUTING.md", "../docs/performance.md", "../docs/promises.md", "../docs/releasing.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		outside, _ := prose(string(text))
		for line := range strings.Lines(outside) {
			for _, name := range quoted(line) {
				exists := func(path string) bool { return strings.HasSuffix(path, "/"+strings.TrimSuffix(name, "/")) }
				if aPath.MatchString(name) && !slices.ContainsFunc(paths, exists) {
					t.Errorf("%s: there is no %s", page, name)
				}
			}
		}
	}
}

// aPath is the path of a file, or of a folder that has another one in it.
var aPath = regexp.MustCompile(`^[\w-]+(/[\w-]+)*\.(go|md|yaml|txtar)$|^(runtime|generator|cmd|bench|test|examples|devserver)(/[\w-]+)+$`)

func TestBrokenLinksAreFound(t *testing.T) {
	text := "a [b](no.md), ![c](no.svg) `[d](code)`, [e](../README.md#try-it) [f](#no-such)\n" +
		"```go\nm[k](v)\n```\n<img src=\"no.png\">\n[g](README.md)"
	links := linksOf(text)
	if want := []string{"no.md", "no.svg", "../README.md#try-it", "#no-such", "no.png", "README.md"}; !slices.Equal(links, want) {
		t.Fatalf("found the links %q, want %q", links, want)
	}
	for _, link := range links {
		broken := brokenLink("../docs/README.md", link) != ""
		if want := strings.HasPrefix(strings.TrimPrefix(link, "#"), "no"); broken != want {
			t.Errorf("%s is broken: %v, want %v", link, broken, want)
		}
	}
	if brokenLink("../docs/README.md", "../README.md#no-such") == "" {
		t.Error("an anchor that another page lacks is not found")
	}
}

// TestTenQuestions: the answers that CONTRIBUTING.md names are at most two links away from
// README.md or ARCHITECTURE.md, by other pages than that list, and what it calls a section of a Go
// file is one.
func TestTenQuestions(t *testing.T) {
	const list = "../CONTRIBUTING.md"
	near := map[string]bool{"../README.md": true, "../ARCHITECTURE.md": true}
	for range 2 {
		for _, page := range slices.Collect(maps.Keys(near)) {
			if page == list || filepath.Ext(page) != ".md" {
				continue
			}
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for _, link := range linksOf(string(text)) {
				path, _, _ := strings.Cut(link, "#")
				near[filepath.ToSlash(filepath.Join(filepath.Dir(page), filepath.FromSlash(path)))] = true
			}
		}
	}
	rows := tableAfter(t, list, "## Ten questions")
	if len(rows) != 10 {
		t.Errorf("%s has %d questions", list, len(rows))
	}
	for _, row := range rows {
		question, answer := row.cells[0], row.cells[1]
		links := linksOf(answer)
		if len(links) != 1 {
			t.Errorf("%s: %q: want one link, got %q", list, question, links)
			continue
		}
		path, _, _ := strings.Cut(links[0], "#")
		if path = "../" + path; !near[path] {
			t.Errorf("%s: %q: %s is more than two links away", list, question, path)
		}
		if filepath.Ext(path) == ".go" {
			text, err := os.ReadFile(filepath.FromSlash(path))
			_, section, _ := strings.Cut(answer, `"`)
			if title := "\n// # " + strings.TrimSuffix(section, `"`) + "\n"; err != nil || !strings.Contains(string(text), title) {
				t.Errorf("%s: %q: %s has no section %q (error %v)", list, question, path, section, err)
			}
		}
	}
}

// pagesWithLinks are the pages for people.
func pagesWithLinks(t *testing.T) []string {
	t.Helper()
	pages := []string{"../README.md", "../ARCHITECTURE.md", "../CONTRIBUTING.md", "../CHANGELOG.md", "../SECURITY.md",
		"../VERSIONING.md", "../MAINTAINERS.md", "../CODE_OF_CONDUCT.md"}
	more, err := filepath.Glob("../docs/*.md")
	if err != nil || len(more) == 0 {
		t.Fatalf("found no pages in docs: %v", err)
	}
	return append(pages, more...)
}

var (
	aLink     = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	aCodeSpan = regexp.MustCompile("`[^`\n]*`")
)

// linksOf returns the targets of the links of a Markdown page, without those in code.
func linksOf(text string) (links []string) {
	text, _ = prose(text)
	for _, m := range aLink.FindAllStringSubmatch(aCodeSpan.ReplaceAllString(text, ""), -1) {
		links = append(links, m[1]+m[2])
	}
	return links
}

// prose returns the lines of a Markdown page that are outside of fenced code, and the titles among
// them.
func prose(text string) (outside string, titles []string) {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(strings.TrimLeft(line, " "), "```"):
			fenced = !fenced
		case !fenced:
			b.WriteString(line)
			if title := strings.TrimLeft(line, "#"); title != line && strings.HasPrefix(title, " ") {
				titles = append(titles, strings.TrimSpace(title))
			}
		}
	}
	return b.String(), titles
}

// brokenLink returns what is wrong with a relative link of a page; "" if it leads somewhere.
func brokenLink(page, link string) string {
	path, anchor, hasAnchor := strings.Cut(link, "#")
	target := page
	if path != "" {
		target = filepath.Join(filepath.Dir(page), filepath.FromSlash(path))
		if _, err := os.Stat(target); err != nil {
			return "there is no such file"
		}
	}
	if !hasAnchor {
		return ""
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err.Error()
	}
	_, titles := prose(string(text))
	for _, title := range titles {
		if anchorOf(title) == anchor {
			return ""
		}
	}
	return "there is no such title"
}

// anchorOf is what GitHub makes of a title: lower case, without punctuation, and with hyphens for
// spaces.
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
