// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dave/jennifer/jen"
)

// comment returns a comment of one or more lines, to precede its subject. Long lines are folded.
func comment(lines ...string) *jen.Statement {
	var folded []string
	for _, line := range lines {
		folded = append(folded, fold(line)...)
	}
	return verbatim(folded)
}

func commentf(format string, args ...any) *jen.Statement {
	return comment(fmt.Sprintf(format, args...))
}

// indented returns a comment of one sentence for the inside of a declaration, indented by one tab.
func indented(sentence string) *jen.Statement {
	return verbatim(foldAt(mostColumns-tabColumns-len("// "), sentence))
}

// verbatim returns a comment with these lines. A line that begins with a tab is code: gofmt wants
// no blank before it.
func verbatim(lines []string) *jen.Statement {
	var b strings.Builder
	for _, line := range lines {
		text := strings.TrimRightFunc(line, unicode.IsSpace)
		b.WriteString("//")
		if text != "" && !strings.HasPrefix(text, "\t") {
			b.WriteByte(' ')
		}
		b.WriteString(text)
		b.WriteByte('\n')
	}
	return jen.Comment(b.String())
}

func fold(sentence string) []string { return foldAt(116, sentence) }

func foldAt(width int, sentence string) []string {
	var lines []string
	for len(sentence) > width {
		n := strings.LastIndexByte(sentence[:width], ' ')
		if n <= 0 {
			break
		}
		lines, sentence = append(lines, sentence[:n]), sentence[n+1:]
	}
	return append(lines, sentence)
}

// documented returns a comment with a sentence of ours, the type's own doc comment, and its
// deprecation.
func (k *kind) documented(sentence string) *jen.Statement {
	lines := fold(sentence)
	if len(k.Doc) > 0 {
		lines = append(append(lines, ""), sentences(k.Doc)...)
	}
	return verbatim(append(lines, k.deprecation()...))
}

// sentences prepares a doc comment to stand between other paragraphs. There, a line of its own at
// its start or end would be taken for a heading unless it ends like a sentence.
func sentences(doc []string) []string {
	doc = slices.Clone(doc)
	last := len(doc) - 1
	if last == 0 || doc[1] == "" {
		doc[0] = sentence(doc[0])
	}
	if last > 0 && doc[last-1] == "" {
		doc[last] = sentence(doc[last])
	}
	return doc
}

// sentence returns line with a full stop if it begins like a sentence and nothing ends it.
func sentence(line string) string {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	if unicode.IsUpper(first) && (unicode.IsLetter(last) || unicode.IsDigit(last)) {
		return line + "."
	}
	return line
}

// deprecation returns the "Deprecated: " paragraph for the end of a comment; nil if there is none.
func (k *kind) deprecation() []string {
	if k.Deprecated == "" {
		return nil
	}
	return append([]string{""}, fold("Deprecated: "+k.Deprecated)...)
}
