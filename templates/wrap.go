// SPDX-License-Identifier: Apache-2.0

package templates

import (
	"bytes"
	"cmp"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"unicode/utf8"
)

// mostColumns is the maximum length of a line that can be broken. A tab counts as tabColumns.
const (
	mostColumns = 120
	tabColumns  = 4
)

// wrap breaks overlong lines of formatted code: parentheses and braces get a line for each part,
// and a condition continues in the next line. Lengths are known only here, because they depend on
// the names of the user's types and packages.
func wrap(src []byte) ([]byte, error) {
	for {
		long := longLines(src)
		if len(long) == 0 {
			return src, nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		w := wrapper{file: fset.File(file.FileStart), long: long, best: map[int]wrapping{}}
		ast.Inspect(file, w.look)
		if len(w.best) == 0 {
			return src, nil
		}
		if src, err = format.Source(w.apply(src)); err != nil {
			return nil, err
		}
	}
}

// longLines returns the overlong lines, by number, with the offset where each becomes too long.
func longLines(src []byte) map[int]int {
	long := map[int]int{}
	line, start, columns := 1, 0, 0
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == '\n':
			line, start, columns = line+1, i+1, 0
		case r == '\t':
			columns += tabColumns
		default:
			columns++
		}
		if columns > mostColumns && long[line] == 0 && !bytes.HasPrefix(bytes.TrimLeft(src[start:i], "\t"), []byte("//")) {
			long[line] = i
		}
		i += size
	}
	return long
}

type wrapper struct {
	file *token.File
	long map[int]int
	best map[int]wrapping // by line
}

type wrapping struct {
	rank  rank
	after []int // offsets of line ends
	comma int   // offset of a final comma behind the last part; 0 for none
}

// rank determines which construct in a line is broken; the outermost one among equals.
type rank int

const (
	parameters rank = iota
	elements        // of a literal
	arguments
	operator
)

func (w *wrapper) look(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.FuncLit:
		if fields := n.Type.Params; len(fields.List) > 0 {
			w.parts(parameters, fields.Opening, fields.Closing, ends(fields.List))
		}
	case *ast.CompositeLit:
		if len(n.Elts) > 1 {
			w.parts(elements, n.Lbrace, n.Rbrace, ends(n.Elts))
		}
	case *ast.CallExpr:
		if len(n.Args) > 1 {
			parts := ends(n.Args)
			if n.Ellipsis.IsValid() { // belongs to the last one
				parts[len(parts)-1] = n.Ellipsis + token.Pos(len("..."))
			}
			w.parts(arguments, n.Lparen, n.Rparen, parts)
		}
	case *ast.BinaryExpr:
		line := w.file.Line(n.OpPos)
		after := w.file.Offset(n.OpPos) + len(n.Op.String())
		if n.Op == token.LAND && w.long[line] >= after && w.file.Line(n.X.Pos()) == line {
			w.note(line, wrapping{rank: operator, after: []int{after}})
		}
	}
	return true
}

func ends[N ast.Node](parts []N) []token.Pos {
	var all []token.Pos
	for _, part := range parts {
		all = append(all, part.End())
	}
	return all
}

// parts notes a possible break of a list that lies on one overlong line.
func (w *wrapper) parts(rank rank, opening, closing token.Pos, ends []token.Pos) {
	line := w.file.Line(opening)
	if w.long[line] == 0 || w.file.Line(closing) != line {
		return
	}
	p := wrapping{rank: rank, after: []int{w.file.Offset(opening) + 1}, comma: w.file.Offset(ends[len(ends)-1])}
	for _, end := range ends[:len(ends)-1] {
		p.after = append(p.after, w.file.Offset(end)+len(","))
	}
	w.note(line, p)
}

// note keeps the first wrapping of the lowest rank, or the last operator.
func (w *wrapper) note(line int, p wrapping) {
	best, ok := w.best[line]
	if !ok || p.rank < best.rank || p.rank == operator && best.rank == operator && p.after[0] > best.after[0] {
		w.best[line] = p
	}
}

func (w *wrapper) apply(src []byte) []byte {
	type insertion struct {
		at   int
		text string
	}
	var all []insertion
	for _, p := range w.best {
		for _, at := range p.after {
			all = append(all, insertion{at, "\n"})
		}
		if p.comma > 0 {
			all = append(all, insertion{p.comma, ",\n"})
		}
	}
	slices.SortFunc(all, func(a, b insertion) int { return cmp.Compare(a.at, b.at) })
	var out bytes.Buffer
	from := 0
	for _, i := range all {
		out.Write(src[from:i.at])
		out.WriteString(i.text)
		from = i.at
	}
	out.Write(src[from:])
	return out.Bytes()
}
