// SPDX-License-Identifier: Apache-2.0

package load

import (
	"bytes"
	"go/token"
)

// extent says how much of a file is of interest.
type extent int

const (
	// declarations are all of them, and the comments outside of function bodies.
	declarations extent = iota
	// typesOnly are types, constants, methods and imports. Comments above the package clause stay,
	// for build constraints.
	typesOnly
)

// stripBodies returns a Go file without what is of no interest, above all the bodies of functions,
// so that the parser has less to do. Of what is dropped only the line breaks stay: lines and
// columns are what they were, offsets aren't.
//
// ok is false if the file can't be cut safely: because it is wrong, or because it says itself how
// to count its lines.
func stripBodies(src []byte, keep extent) (small []byte, ok bool) {
	if bytes.Contains(src, []byte("//line ")) || bytes.Contains(src, []byte("/*line ")) {
		return nil, false
	}
	s := stripper{src: src, keep: keep, out: make([]byte, 0, len(src)/2)}
	if !s.file() {
		return nil, false
	}
	return s.out, true
}

// stripper goes through a file once, lexeme by lexeme, from declaration to declaration.
type stripper struct {
	src  []byte
	keep extent

	pos     int    // behind the last lexeme
	clause  bool   // the package clause was read
	out     []byte // what is kept of src[:decided]
	decided int
}

func (s *stripper) file() bool {
	for {
		t := s.next()
		switch t.kind {
		case eof:
			s.copy(len(s.src))
			return true
		case ';':
		case word:
			if !s.declaration(t) {
				return false
			}
		default:
			return false
		}
	}
}

// declaration reads the declaration that begins with t.
func (s *stripper) declaration(t lexeme) bool {
	s.copy(t.start)
	before := len(s.out)
	keep, ok := true, true
	switch s.text(t) {
	case "package":
		_, ok = s.until(t, false)
		s.clause = true
	case "import", "type", "const":
		_, ok = s.until(t, false)
	case "var":
		_, ok = s.until(t, false)
		keep = s.keep == declarations
	case "func":
		var method bool
		method, ok = s.function(t)
		keep = method || s.keep == declarations
	default:
		return false
	}
	if ok && !keep {
		s.out, s.decided = s.out[:before], t.start // it may have been cut already
		s.drop(t.start, s.pos)
		if after := s.next(); after.kind == ';' {
			s.drop(after.start, after.end)
		} else {
			s.pos = after.start
		}
	}
	return ok
}

// function reads a function, whose keyword is t, and drops its body.
func (s *stripper) function(t lexeme) (method, ok bool) {
	first := s.pos
	name := s.next()
	s.pos = first
	body, ok := s.until(t, true)
	if !ok || body.kind != '{' {
		return name.kind == '(', ok
	}
	end := s.endOfBody(body.end)
	if end < 0 {
		return false, false
	}
	s.drop(body.end, end)
	s.pos = end + 1
	return name.kind == '(', true
}

// until reads on from t, the first lexeme of a declaration, to its end or, if it is a function, to
// the brace that its body begins with, which it returns.
func (s *stripper) until(t lexeme, function bool) (last lexeme, ok bool) {
	depth := 0
	for last = t; ; {
		t := s.next()
		if depth == 0 && (t.kind == eof || t.kind == ';' || t.newline && s.ends(last)) {
			s.pos = last.end
			return last, true
		}
		switch t.kind {
		case eof, wrong:
			return t, false
		case '(', '[', '{':
			if function && depth == 0 && t.kind == '{' && !s.opensType(last) {
				return t, true
			}
			depth++
		case ')', ']', '}':
			depth--
			if depth < 0 {
				return t, false
			}
		}
		last = t
	}
}

// ends reports whether a line break after t ends a declaration.
func (s *stripper) ends(t lexeme) bool {
	switch t.kind {
	case word:
		return !token.IsKeyword(s.text(t))
	case literal, ')', ']', '}':
		return true
	}
	return false
}

// opensType reports whether a brace after t begins the fields of a struct or the methods of an
// interface.
func (s *stripper) opensType(t lexeme) bool {
	return t.kind == word && (s.text(t) == "struct" || s.text(t) == "interface")
}

// endOfBody returns the index of the brace that ends the function body which begins at src[i]; -1
// if there is none, or if a declaration that stands in the first column makes it likely that it is
// the wrong one.
func (s *stripper) endOfBody(i int) int {
	src, depth := s.src, 1
	for i < len(src) {
		switch src[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'', '`':
			if i = endOfLiteral(src, i); i < 0 {
				return -1
			}
			continue
		case '/':
			if i+1 < len(src) && (src[i+1] == '/' || src[i+1] == '*') {
				if i = endOfComment(src, i); i < 0 {
					return -1
				}
				continue
			}
		case '\n':
			if i+1 < len(src) && src[i+1] > ' ' && beginsDeclaration(src[i+1:]) {
				return -1
			}
		}
		i++
	}
	return -1
}

func beginsDeclaration(line []byte) bool {
	for _, keyword := range []string{"func ", "type ", "var ", "const "} {
		if len(line) > len(keyword) && string(line[:len(keyword)]) == keyword {
			return true
		}
	}
	return false
}

// copy decides that src up to i stays, as far as nothing was decided about it.
func (s *stripper) copy(i int) {
	if s.decided < i {
		s.out = append(s.out, s.src[s.decided:i]...)
		s.decided = i
	}
}

// drop decides that src[from:to] goes, except for its line breaks and, if something follows on the
// last line, blanks that keep it in its column.
func (s *stripper) drop(from, to int) {
	s.copy(from)
	from = max(from, s.decided)
	if to <= from {
		return
	}
	dropped := s.src[from:to]
	for range bytes.Count(dropped, []byte("\n")) {
		s.out = append(s.out, '\n')
	}
	if to < len(s.src) && s.src[to] != '\n' {
		for range len(dropped) - 1 - bytes.LastIndexByte(dropped, '\n') {
			s.out = append(s.out, ' ')
		}
	}
	s.decided = to
}
