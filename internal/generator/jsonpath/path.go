// SPDX-License-Identifier: Apache-2.0

// Package jsonpath reads the paths in markers that name fields of API types, for indexes,
// conditions and projections. A path is a sequence of segments. Each is a dot, the JSON name of a
// field, and any number of selectors for parts of the field's value:
//
//	.spec.containers[*].image                       every element of a list, every value of a map
//	.metadata.labels[keys]                          every key of a map
//	.metadata.labels['app.kubernetes.io/name']      one entry of a map
//	.spec['size.max']                               a field with a dot, say, in its name
package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Segment is a part of a path.
type Segment struct {
	Name      string
	Offset    int // of the name in the text
	Selectors []Selector
	After     int // offset after the segment
}

// Selector is the part of a segment in brackets.
type Selector struct {
	Kind          SelectorKind
	Key           string // of the entry
	Offset, After int    // of the opening bracket, and after the closing one
}

// SelectorKind is the target of a selector.
type SelectorKind int

// The kinds of selectors: every element, every key, and the entry with a key.
const (
	Each SelectorKind = iota
	Keys
	Entry
)

// Error is a problem at an offset of a marker's text, such as a path or a condition.
type Error struct {
	Offset  int
	Message string
	Allowed []string
	Warning bool
}

// Errorf returns an error at an offset.
func Errorf(offset int, format string, args ...any) *Error {
	return &Error{Offset: offset, Message: fmt.Sprintf(format, args...)}
}

// Parse reads a text consisting of one path.
func Parse(text string) ([]Segment, *Error) {
	if problem := CheckText(text); problem != nil {
		return nil, problem
	}
	segments, end, problem := Prefix(text, 0)
	if problem == nil && end < len(text) {
		problem = Unexpected(text, end)
	}
	return segments, problem
}

// CheckText returns an error about the first character not allowed in Go comments, which repeat
// paths and conditions.
func CheckText(text string) *Error {
	for i, r := range text {
		if r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError {
			return Errorf(i, "character %U isn't allowed here: write it with an escape between \"", r)
		}
	}
	return nil
}

// Unexpected returns an error about the character at an offset of a path.
func Unexpected(text string, at int) *Error {
	r, _ := utf8.DecodeRuneInString(text[at:])
	if r == ';' {
		return Errorf(at, "unexpected ; in the path: several paths are a list in YAML; in comments, quote each of them separately")
	}
	return Errorf(at, "unexpected %q in the path: write a dot before a field, and [*] after a list", r)
}

// Prefix reads the path that begins at an offset of text. It stops at the first byte outside a
// path.
func Prefix(text string, start int) (segments []Segment, end int, problem *Error) {
	if !strings.HasPrefix(text[start:], ".") {
		hint := ""
		if r, _ := utf8.DecodeRuneInString(text[start:]); unicode.IsLetter(r) {
			hint = ", did you mean ." + FirstWord(text[start:]) + "?"
		}
		return nil, start, Errorf(start, "a path begins with a dot%s", hint)
	}
	for end = start; end < len(text) && text[end] == '.'; {
		s := Segment{Offset: end + 1}
		s.Name = text[s.Offset:endOfName(text, s.Offset)]
		if s.Name == "" {
			return nil, s.Offset, Errorf(s.Offset, "a field name is missing after the dot")
		}
		s.After = s.Offset + len(s.Name)
		for strings.HasPrefix(text[s.After:], "[") {
			l, problem := parseSelector(text, s.After)
			if problem != nil {
				return nil, s.After, problem
			}
			s.Selectors = append(s.Selectors, l)
			s.After = l.After
		}
		segments = append(segments, s)
		end = s.After
	}
	return segments, end, nil
}

// FirstWord returns the beginning of text, up to a blank or an operator.
func FirstWord(text string) string {
	if i := strings.IndexAny(text, "=!<>&| \t"); i >= 0 {
		return text[:i]
	}
	return text
}

func endOfName(text string, i int) int {
	if n := strings.IndexAny(text[i:], ".[]=!<>&|;'\" \t"); n >= 0 {
		return i + n
	}
	return len(text)
}

func parseSelector(text string, start int) (Selector, *Error) {
	l := Selector{Offset: start}
	inside := start + 1
	if inside < len(text) && (text[inside] == '\'' || text[inside] == '"') {
		key, end, problem := Unquote(text, inside)
		switch {
		case problem != nil:
			return l, problem
		case !strings.HasPrefix(text[end:], "]"):
			return l, Errorf(start, "the bracket isn't closed after the key %q", key)
		}
		l.Kind, l.Key, l.After = Entry, key, end+1
		return l, nil
	}
	if IsCurly(text[inside:]) {
		return l, Errorf(inside, CurlyMessage)
	}
	word, _, closed := strings.Cut(text[inside:], "]")
	if !closed {
		return l, Errorf(start, "the bracket isn't closed")
	}
	l.After = inside + len(word) + 1
	switch word {
	case "*":
		return l, nil
	case "keys":
		l.Kind = Keys
		return l, nil
	case "":
		return l, Errorf(start, "the brackets are empty: [*] means every element, ['KEY'] one entry of a map")
	case "key", "Keys":
		return l, Errorf(start, "[%s] means nothing, did you mean [keys]?", word)
	case "values", "value", "Values":
		return l, Errorf(start, "[%s] means nothing, did you mean [*]?", word)
	}
	return l, Errorf(start, "[%s] means nothing: [*] means every element, ['%s'] the entry of a map with this key", word, strings.Trim(word, "'\""))
}

// IsCurly reports whether text begins with a curly quote.
func IsCurly(text string) bool {
	return strings.HasPrefix(text, "”") || strings.HasPrefix(text, "“")
}

// CurlyMessage describes the problem with a curly quote.
const CurlyMessage = `curly quotes aren't allowed; gofmt makes one of '' in doc comments, so write "" for empty text`

// Unquote reads the quoted text that begins at an offset of text, and returns the offset after it.
// Between ' the only escapes are \' and \\; a text between " is a Go string.
func Unquote(text string, start int) (value string, end int, problem *Error) {
	quote := text[start]
	var b strings.Builder
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == quote:
			if quote == '\'' {
				return b.String(), i + 1, nil
			}
			value, err := strconv.Unquote(text[start : i+1])
			if err != nil {
				return "", start, Errorf(start, "%s isn't a valid Go string", text[start:i+1])
			}
			return value, i + 1, nil
		case c != '\\':
			b.WriteByte(c)
		case i+1 == len(text):
			// not closed
		case quote == '"' || text[i+1] == '\'' || text[i+1] == '\\':
			i++
			b.WriteByte(text[i])
		case text[i+1] == '.':
			return "", start, Errorf(i, "between quotes, a dot needs no \\")
		default:
			return "", start, Errorf(i, "write \\\\ for a \\")
		}
	}
	return "", start, Errorf(start, "the quote isn't closed")
}
