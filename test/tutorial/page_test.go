// SPDX-License-Identifier: Apache-2.0

package tutorial

import (
	"errors"
	"fmt"
	"go/format"
	"path"
	"regexp"
	"strings"
	"testing"
)

// block is a block of the page: a file, or commands.
type block struct {
	line int    // of its first line
	file string // "" for commands
	text string
}

var (
	aFence    = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")
	aFileName = regexp.MustCompile("`([^` ]+)`:\n\n$")
)

// blocks returns the blocks of a page. A block of Go or YAML is a whole file, below a line with its
// name. A block without a language has commands.
func blocks(page string) (found []block, err error) {
	names := map[string]bool{}
	for _, at := range aFence.FindAllStringSubmatchIndex(page, -1) {
		language, text := page[at[2]:at[3]], page[at[4]:at[5]]
		b := block{line: 1 + strings.Count(page[:at[4]], "\n"), text: text}
		if language != "" {
			name := aFileName.FindStringSubmatch(page[:at[0]])
			if name == nil {
				return nil, fmt.Errorf("line %d: a block of %s lacks a line with the name of its file (`main.go`:) above it", b.line, language)
			}
			b.file = name[1]
			if err := b.checkFile(language); err != nil {
				return nil, err
			}
			if names[b.file] {
				return nil, fmt.Errorf("line %d: the page has %s twice", b.line, b.file)
			}
			names[b.file] = true
		}
		found = append(found, b)
	}
	if strings.Count(page, "\n```")+strings.Count(page[:min(3, len(page))], "```") != 2*len(found) {
		return nil, errors.New("a block doesn't end, or begins with more than ``` and a language")
	}
	return found, nil
}

func (b block) checkFile(language string) error {
	if path.Ext(b.file) != "."+language {
		return fmt.Errorf("line %d: %s is a block of %s", b.line, b.file, language)
	}
	if language != "go" {
		return nil
	}
	formatted, err := format.Source([]byte(b.text))
	switch {
	case err != nil:
		return fmt.Errorf("line %d: %s: %w", b.line, b.file, err)
	case !strings.Contains("\n"+b.text, "\npackage "):
		return fmt.Errorf("line %d: %s is no whole file", b.line, b.file)
	case string(formatted) != b.text:
		return fmt.Errorf("line %d: %s is not formatted by gofmt", b.line, b.file)
	}
	return nil
}

func TestBlocks(t *testing.T) {
	const fence = "```"
	found, err := blocks("# A\n\n`a/b.go`:\n\n" + fence + "go\npackage a\n" + fence + "\n\nThen:\n\n" + fence + "\ngo vet ./...\n" + fence + "\n")
	want := "[{6 a/b.go package a\n} {12  go vet ./...\n}]"
	if got := fmt.Sprint(found); got != want || err != nil {
		t.Errorf("the blocks are %q, error %v; want %q", got, err, want)
	}
	for page, want := range map[string]string{
		"Code:\n\n" + fence + "go\npackage a\n" + fence + "\n":               "line 4: a block of go lacks a line with the name",
		"`a.go`:\n\n" + fence + "yaml\na: 1\n" + fence + "\n":                "line 4: a.go is a block of yaml",
		"`a.go`:\n\n" + fence + "go\nfunc A() {}\n" + fence + "\n":           "line 4: a.go is no whole file",
		"`a.go`:\n\n" + fence + "go\npackage\n" + fence + "\n":               "line 4: a.go: ",
		"`a.go`:\n\n" + fence + "go\npackage  a\n" + fence + "\n":            "line 4: a.go is not formatted",
		strings.Repeat("`a.yaml`:\n\n"+fence+"yaml\na: 1\n"+fence+"\n\n", 2): "line 10: the page has a.yaml twice",
		"Then:\n\n" + fence + "\ngo vet ./...\n":                             "a block doesn't end",
		"`a.go`:\n\n" + fence + "go title=a\npackage a\n" + fence + "\n":     "a block doesn't end, or begins with more",
	} {
		if _, err := blocks(page); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error of %q is %v, want one with %q", page, err, want)
		}
	}
}
