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

// comment is a comment of one or more lines, to be followed by what it says something about. A line
// that is too long is folded.
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

// indented is a comment of one sentence inside of a declaration, one tab from the left.
func indented(sentence string) *jen.Statement {
	return verbatim(foldAt(mostColumns-tabColumns-len("// "), sentence))
}

// verbatim is a comment whose lines stay as they are. A line that begins with a tab is code, before
// which gofmt wants no blank.
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

// fold breaks a sentence into lines.
func fold(sentence string) []string { return foldAt(116, sentence) }

// foldAt breaks a sentence into lines of at most width bytes.
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

// documented is a comment that begins with a sentence of ours, goes on with the type's own doc
// comment, and says if the type is deprecated.
func (k *kind) documented(sentence string) *jen.Statement {
	lines := fold(sentence)
	if len(k.Doc) > 0 {
		lines = append(append(lines, ""), sentences(k.Doc)...)
	}
	return verbatim(append(lines, k.deprecation()...))
}

// sentences is a doc comment to be set between other paragraphs. A line of its own at its beginning
// or end would be taken for a heading there if it doesn't end as a sentence does.
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

// sentence is a line that begins as a sentence does, with a full stop if nothing ends it.
func sentence(line string) string {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	if unicode.IsUpper(first) && (unicode.IsLetter(last) || unicode.IsDigit(last)) {
		return line + "."
	}
	return line
}

// deprecation is the end of a comment: the paragraph by which tools know what is deprecated.
func (k *kind) deprecation() []string {
	if k.Deprecated == "" {
		return nil
	}
	return append([]string{""}, fold("Deprecated: "+k.Deprecated)...)
}
