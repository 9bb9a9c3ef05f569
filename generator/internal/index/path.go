// SPDX-License-Identifier: Apache-2.0

package index

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A path is a sequence of segments, each of which is a dot, the JSON name of a field, and any
// number of looks into what the field holds:
//
//	.spec.containers[*].image                       every element of a list, every value of a map
//	.metadata.labels[keys]                          every key of a map
//	.metadata.labels['app.kubernetes.io/name']      one entry of a map
//	.spec['size.max']                               a field with a dot, say, in its name

// segment is a part of a path.
type segment struct {
	name   string
	offset int // of the name in the text
	looks  []look
	after  int // offset behind the segment
}

// look is what stands in brackets.
type look struct {
	kind          lookKind
	key           string // of the entry
	offset, after int    // of the opening bracket, and behind the closing one
}

type lookKind int

const (
	lookEach lookKind = iota
	lookKeys
	lookEntry
)

// textError is what is wrong at an offset of a text of the marker, such as a path or a condition.
type textError struct {
	offset  int
	message string
	allowed []string
	warning bool
}

func textErrorf(offset int, format string, args ...any) *textError {
	return &textError{offset: offset, message: fmt.Sprintf(format, args...)}
}

// parsePath reads a text that is one path.
func parsePath(text string) ([]segment, *textError) {
	if problem := unprintable(text); problem != nil {
		return nil, problem
	}
	segments, end, problem := pathPrefix(text, 0)
	if problem == nil && end < len(text) {
		problem = unexpected(text, end)
	}
	return segments, problem
}

// unprintable returns an error about the first character that mustn't stand in comments of Go,
// where paths and conditions are repeated.
func unprintable(text string) *textError {
	for i, r := range text {
		if r != '\t' && !unicode.IsPrint(r) || r == utf8.RuneError {
			return textErrorf(i, "character %U has no place here: between \" it may be written with an escape", r)
		}
	}
	return nil
}

// unexpected returns an error about the character at an offset of a path.
func unexpected(text string, at int) *textError {
	r, _ := utf8.DecodeRuneInString(text[at:])
	if r == ';' {
		return textErrorf(at, "unexpected ; in the path: several paths are a list in YAML, and in comments each has quotes of its own")
	}
	return textErrorf(at, "unexpected %q in the path: write a dot before a field, and [*] behind a list", r)
}

// pathPrefix reads the path that begins at an offset of text. It ends before what can't belong to a
// path.
func pathPrefix(text string, start int) (segments []segment, end int, problem *textError) {
	if !strings.HasPrefix(text[start:], ".") {
		hint := ""
		if r, _ := utf8.DecodeRuneInString(text[start:]); unicode.IsLetter(r) {
			hint = ", did you mean ." + firstWord(text[start:]) + "?"
		}
		return nil, start, textErrorf(start, "a path begins with a dot%s", hint)
	}
	for end = start; end < len(text) && text[end] == '.'; {
		s := segment{offset: end + 1}
		s.name = text[s.offset:endOfName(text, s.offset)]
		if s.name == "" {
			return nil, s.offset, textErrorf(s.offset, "a field's name is missing behind the dot")
		}
		s.after = s.offset + len(s.name)
		for strings.HasPrefix(text[s.after:], "[") {
			l, problem := parseLook(text, s.after)
			if problem != nil {
				return nil, s.after, problem
			}
			s.looks = append(s.looks, l)
			s.after = l.after
		}
		segments = append(segments, s)
		end = s.after
	}
	return segments, end, nil
}

// firstWord is what text begins with, up to a blank or an operator.
func firstWord(text string) string {
	if i := strings.IndexAny(text, "=!<>&| \t"); i >= 0 {
		return text[:i]
	}
	return text
}

// endOfName returns the offset of the first byte that can't be part of a field's name.
func endOfName(text string, i int) int {
	if n := strings.IndexAny(text[i:], ".[]=!<>&|;'\" \t"); n >= 0 {
		return i + n
	}
	return len(text)
}

// parseLook reads what stands in the bracket at an offset of text.
func parseLook(text string, start int) (look, *textError) {
	l := look{offset: start}
	inside := start + 1
	if inside < len(text) && (text[inside] == '\'' || text[inside] == '"') {
		key, end, problem := unquote(text, inside)
		switch {
		case problem != nil:
			return l, problem
		case !strings.HasPrefix(text[end:], "]"):
			return l, textErrorf(start, "the bracket isn't closed behind the key %q", key)
		}
		l.kind, l.key, l.after = lookEntry, key, end+1
		return l, nil
	}
	if curly(text[inside:]) {
		return l, textErrorf(inside, curlyMessage)
	}
	word, _, closed := strings.Cut(text[inside:], "]")
	if !closed {
		return l, textErrorf(start, "the bracket isn't closed")
	}
	l.after = inside + len(word) + 1
	switch word {
	case "*":
		return l, nil
	case "keys":
		l.kind = lookKeys
		return l, nil
	case "":
		return l, textErrorf(start, "nothing stands in the brackets: [*] means every element, ['KEY'] one entry of a map")
	case "key", "Keys":
		return l, textErrorf(start, "[%s] means nothing, did you mean [keys]?", word)
	case "values", "value", "Values":
		return l, textErrorf(start, "[%s] means nothing, did you mean [*]?", word)
	}
	return l, textErrorf(start, "[%s] means nothing: [*] means every element, ['%s'] the entry of a map with this key", word, strings.Trim(word, "'\""))
}

// curly reports whether text begins with what gofmt makes of two quotes in a doc comment.
func curly(text string) bool { return strings.HasPrefix(text, "”") || strings.HasPrefix(text, "“") }

const curlyMessage = `this quote is no part of the language; gofmt makes one of '' in doc comments, so that empty text is written ""`

// unquote reads the quoted text that begins at an offset of text, and returns the offset behind it.
// Between ' the only escapes are \' and \\; between " it is a string of Go.
func unquote(text string, start int) (value string, end int, problem *textError) {
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
				return "", start, textErrorf(start, "%s is no string: it is read like one of Go", text[start:i+1])
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
			return "", start, textErrorf(i, "a dot needs no \\ between quotes")
		default:
			return "", start, textErrorf(i, "a \\ stands for itself as \\\\")
		}
	}
	return "", start, textErrorf(start, "the quote isn't closed")
}
