// SPDX-License-Identifier: Apache-2.0

package load

import "bytes"

// A lexeme is no finer than what it takes to find the ends of declarations.
type lexeme struct {
	start, end int
	kind       byte
	newline    bool // there is a line break before it
}

// Kinds of lexemes; brackets and semicolons are kinds of their own.
const (
	eof     = 0
	word    = 'w' // an identifier, keyword or number
	literal = '"' // a string or rune
	sign    = '+' // one byte of anything else
	wrong   = '!'
)

func (s *stripper) text(t lexeme) string { return string(s.src[t.start:t.end]) }

// next reads a lexeme. Comments are none; those that aren't wanted are dropped.
func (s *stripper) next() lexeme {
	t := lexeme{}
	for i := s.pos; i < len(s.src); {
		switch c := s.src[i]; {
		case c == '\n':
			t.newline = true
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case c == '/' && i+1 < len(s.src) && (s.src[i+1] == '/' || s.src[i+1] == '*'):
			end := endOfComment(s.src, i)
			if end < 0 {
				return lexeme{kind: wrong}
			}
			t.newline = t.newline || bytes.IndexByte(s.src[i:end], '\n') >= 0
			if s.keep == typesOnly && s.clause {
				s.drop(i, end)
			}
			i = end
		default:
			t.start = i
			t.kind, t.end = lexemeAt(s.src, i)
			s.pos = t.end
			return t
		}
	}
	s.pos = len(s.src)
	return lexeme{start: s.pos, end: s.pos, kind: eof, newline: true}
}

// lexemeAt returns the kind and the end of the lexeme at src[i].
func lexemeAt(src []byte, i int) (kind byte, end int) {
	switch c := src[i]; c {
	case '(', ')', '[', ']', '{', '}', ';':
		return c, i + 1
	case '"', '\'', '`':
		if end := endOfLiteral(src, i); end >= 0 {
			return literal, end
		}
		return wrong, i
	default:
		if !inWord(c) {
			return sign, i + 1
		}
		number := c >= '0' && c <= '9'
		for i < len(src) && (inWord(src[i]) || number && src[i] == '.') {
			i++
		}
		return word, i
	}
}

func inWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// endOfComment returns the index behind the comment at src[i], without the line break of a line
// comment; -1 if it has no end.
func endOfComment(src []byte, i int) int {
	end, length := []byte("\n"), 0
	if src[i+1] == '*' {
		end, length = []byte("*/"), 2
	}
	switch n := bytes.Index(src[i+2:], end); {
	case n >= 0:
		return i + 2 + n + length
	case length == 0:
		return len(src)
	}
	return -1
}

// endOfLiteral returns the index behind the string or rune at src[i]; -1 if it has no end.
func endOfLiteral(src []byte, i int) int {
	quote := src[i]
	for i++; i < len(src); i++ {
		switch src[i] {
		case quote:
			return i + 1
		case '\\':
			if quote != '`' {
				i++
			}
		case '\n':
			if quote != '`' {
				return -1
			}
		}
	}
	return -1
}
