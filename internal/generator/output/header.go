// SPDX-License-Identifier: Apache-2.0

package output

import (
	"bytes"
	"fmt"
	"go/build/constraint"
	"go/scanner"
	"go/token"
	"regexp"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/model"
)

var (
	yearWord = regexp.MustCompile(`\bYEAR\b`)
	// directives matches comments that the go command or the compiler treat as directives.
	directives = regexp.MustCompile(`^(//go:\w+|//line|/\*line)\b`)
)

// HeaderText returns the text for the top of each file, as model.Output.Header, from the content of
// a header file. It replaces the word YEAR by year; hasYear reports whether the word occurs. A
// build constraint becomes its own paragraph. Problems are added to report.
func HeaderText(name string, content []byte, year string, report *diag.List) (text string, hasYear bool) {
	content = bytes.TrimPrefix(bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), []byte("\uFEFF"))
	file := token.NewFileSet().AddFile(name, -1, len(content))
	fail := func(offset int, message string) {
		report.Add(diag.Diagnostic{Pos: file.PositionFor(file.Pos(offset), false), Message: message})
	}
	var (
		scan        scanner.Scanner
		paragraphs  []string
		start       int // of the text not yet in paragraphs
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
			return "", false
		}
		for line := range strings.SplitSeq(text, "\n") {
			if strings.TrimSpace(line) == model.HeaderLine {
				fail(offset, "this comment has the line that marks generated files: change it")
			}
		}
		if directive := directives.FindString(text); directive != "" && !constraint.IsGoBuild(text) {
			fail(offset, "the header has a directive, which would apply to each generated file: remove "+directive)
		}
		if constraint.IsGoBuild(text) {
			if _, err := constraint.Parse(text); err != nil {
				fail(offset, fmt.Sprintf("invalid build constraint: %v", err))
			}
			if constraints++; constraints > 1 {
				fail(offset, "the header has a second build constraint: Go allows only one")
			}
			paragraphs = append(paragraphs, string(content[start:offset]), text)
			start = offset + len(text)
		}
	}
	paragraphs = append(paragraphs, string(content[start:]))
	years := yearWord.FindAllIndex(content, -1)
	if len(years) > 0 && year == "" {
		fail(years[0][0], "the header has the word YEAR: set its replacement with headerYear in the configuration file or with --header-year")
	}
	var kept []string
	for _, paragraph := range paragraphs {
		if paragraph = strings.TrimSpace(paragraph); paragraph != "" {
			kept = append(kept, yearWord.ReplaceAllLiteralString(paragraph, year))
		}
	}
	return strings.Join(kept, "\n\n"), len(years) > 0
}
