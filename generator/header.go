// SPDX-License-Identifier: Apache-2.0

package generator

import (
	"bytes"
	"fmt"
	"go/build/constraint"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/model"
)

var (
	yearWord  = regexp.MustCompile(`\bYEAR\b`)
	yearValue = regexp.MustCompile(`^[0-9]{4}([-, ]+[0-9]{4})*$`)
	// directives are what the go command and the compiler take comments for.
	directives = regexp.MustCompile(`^(//go:\w+|//line|/\*line)\b`)
)

// readHeader returns the text that stands on top of each file, as model.Output.Header.
func (s *settings) readHeader(file, year setting, report *diag.List) string {
	if year.isSet() && !yearValue.MatchString(year.text) {
		report.Add(year.wrong(fmt.Sprintf("%q is no year: write it like 2026 or 2024-2026", year.text)))
		return ""
	}
	if !file.isSet() {
		if year.isSet() {
			report.Add(year.wrong("a year for the header does nothing without a header"))
		}
		return ""
	}
	content, err := os.ReadFile(file.path())
	if err != nil {
		report.Add(file.wrong(fmt.Sprintf("reading the header: %v", err)))
		return ""
	}
	s.reads = append(s.reads, file.path())
	return headerText(file.path(), content, year, report)
}

// headerText checks the content of a header's file and puts the year into it. A build constraint
// becomes a paragraph of its own.
func headerText(name string, content []byte, year setting, report *diag.List) string {
	content = bytes.TrimPrefix(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\uFEFF"))
	file := token.NewFileSet().AddFile(name, -1, len(content))
	fail := func(offset int, message string) {
		report.Add(diag.Diagnostic{Pos: file.PositionFor(file.Pos(offset), false), Message: message})
	}
	var (
		scan        scanner.Scanner
		paragraphs  []string
		start       int // of the text that isn't in paragraphs yet
		constraints int
	)
	scan.Init(file, content, func(at token.Position, message string) { fail(at.Offset, message) }, scanner.ScanComments)
	for {
		pos, tok, text := scan.Scan()
		if tok == token.EOF {
			break
		}
		offset := file.Offset(pos)
		if tok != token.COMMENT {
			if scan.ErrorCount == 0 {
				fail(offset, "the header has something other than comments: put // before it")
			}
			return ""
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) == model.HeaderLine {
				fail(offset, "this comment has the line by which generated files are told from others: change it")
			}
		}
		if directive := directives.FindString(text); directive != "" && !constraint.IsGoBuild(text) {
			fail(offset, "the header has a directive, which would count for each generated file: take out "+directive)
		}
		if constraint.IsGoBuild(text) {
			if _, err := constraint.Parse(text); err != nil {
				fail(offset, fmt.Sprintf("the build constraint is wrong: %v", err))
			}
			if constraints++; constraints > 1 {
				fail(offset, "the header has a second build constraint: Go takes one")
			}
			paragraphs = append(paragraphs, string(content[start:offset]), text)
			start = offset + len(text)
		}
	}
	paragraphs = append(paragraphs, string(content[start:]))
	years := yearWord.FindAllIndex(content, -1)
	switch {
	case len(years) > 0 && !year.isSet():
		fail(years[0][0], "the header has the word YEAR: say with headerYear in the configuration file, or with --header-year, what takes its place")
	case len(years) == 0 && year.isSet():
		d := year.wrong("the year of the header does nothing, because " + filepath.Base(name) + " has no word YEAR")
		d.Warning = true
		report.Add(d)
	}
	var text []string
	for _, paragraph := range paragraphs {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			text = append(text, yearWord.ReplaceAllLiteralString(paragraph, year.text))
		}
	}
	return strings.Join(text, "\n\n")
}
