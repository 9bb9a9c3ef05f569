// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"bytes"
	"go/token"
	"slices"
	"unicode/utf8"
)

// positions converts positions of the YAML library to Go's. The library counts columns in
// characters and ends lines as YAML 1.1 does; Go counts bytes and ends lines at line feeds.
type positions struct {
	name  string
	data  []byte
	yaml  []int // offsets of YAML's lines
	lines []int // offsets of Go's lines
}

func positionsOf(name string, data []byte) positions {
	start := 0
	if bytes.HasPrefix(data, []byte("\uFEFF")) {
		start = len("\uFEFF")
	}
	p := positions{name: name, data: data, yaml: []int{start}, lines: []int{0}}
	for i := start; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++ // the line feed ends the line
			continue
		}
		i += size
		switch r {
		case '\n':
			p.lines = append(p.lines, i)
			p.yaml = append(p.yaml, i)
		case '\r', '\u0085', '\u2028', '\u2029':
			p.yaml = append(p.yaml, i)
		}
	}
	return p
}

// of returns the position of a line and column, both as YAML counts them, from 1.
func (p positions) of(line, column int) token.Position {
	offset := p.yaml[min(max(line-1, 0), len(p.yaml)-1)]
	for range column - 1 {
		_, size := utf8.DecodeRune(p.data[offset:])
		offset += size
	}
	return p.at(offset)
}

// line returns the position of the first nonblank character of a line, as YAML counts lines.
func (p positions) line(n int) token.Position {
	offset := p.yaml[min(max(n-1, 0), len(p.yaml)-1)]
	for offset < len(p.data) && (p.data[offset] == ' ' || p.data[offset] == '\t') {
		offset++
	}
	return p.at(offset)
}

func (p positions) at(offset int) token.Position {
	line, found := slices.BinarySearch(p.lines, offset)
	if !found {
		line--
	}
	return token.Position{Filename: p.name, Offset: offset, Line: line + 1, Column: offset - p.lines[line] + 1}
}
