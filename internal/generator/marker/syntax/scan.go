// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"go/ast"
	"go/token"
	"strings"
)

// File holds the marker lines of a file by their place. Comments inside function bodies don't
// count.
type File struct {
	// Package are the lines in comments of the package and of declarations other than types.
	Package []Line
	// Types are the lines in the doc comment of a type and in a comment one blank line above it.
	Types map[*ast.TypeSpec][]Line
	// Inside are the lines inside type declarations, at fields and methods.
	Inside []Line
}

// Line is a comment line that looks like a marker.
type Line struct {
	// Text starts behind the "+" and ends before trailing blanks.
	Text string
	// Pos is the position of the "+".
	Pos token.Position
}

func (l Line) at(i int) token.Position {
	pos := l.Pos
	pos.Column += 1 + i
	pos.Offset += 1 + i
	return pos
}

// Scan finds the marker lines of file, which must have been parsed with comments.
func Scan(fset *token.FileSet, file *ast.File) *File {
	found := &File{Types: map[*ast.TypeSpec][]Line{}}
	owner := map[*ast.CommentGroup]*ast.TypeSpec{}
	endingAt := map[int]*ast.CommentGroup{}
	for _, group := range file.Comments {
		endingAt[fset.Position(group.End()).Line] = group
	}
	for _, decl := range file.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok || decl.Tok != token.TYPE {
			continue
		}
		for _, spec := range decl.Specs {
			spec := spec.(*ast.TypeSpec)
			doc, top := spec.Doc, spec.Pos()
			if !decl.Lparen.IsValid() {
				doc, top = decl.Doc, decl.Pos()
			}
			if doc != nil {
				owner[doc] = spec
				top = doc.Pos()
			}
			if above := endingAt[fset.Position(top).Line-2]; above != nil && owner[above] == nil && !within(file, above) {
				owner[above] = spec
			}
		}
	}
	for _, group := range file.Comments {
		lines := linesOf(fset, group)
		if len(lines) == 0 {
			continue
		}
		switch spec, decl := owner[group], declOf(file, group); {
		case spec != nil:
			found.Types[spec] = append(found.Types[spec], lines...)
		case isFunc(decl):
		case decl != nil && decl.(*ast.GenDecl).Tok == token.TYPE:
			found.Inside = append(found.Inside, lines...)
		default:
			found.Package = append(found.Package, lines...)
		}
	}
	return found
}

func declOf(file *ast.File, group *ast.CommentGroup) ast.Decl {
	for _, decl := range file.Decls {
		if decl.Pos() <= group.Pos() && group.End() <= decl.End() {
			return decl
		}
	}
	return nil
}

func isFunc(decl ast.Decl) bool {
	_, ok := decl.(*ast.FuncDecl)
	return ok
}

// within reports whether the comment lies inside a declaration other than a group of types.
func within(file *ast.File, group *ast.CommentGroup) bool {
	switch decl := declOf(file, group).(type) {
	case nil:
		return false
	case *ast.GenDecl:
		if decl.Tok != token.TYPE || !decl.Lparen.IsValid() {
			return true
		}
		for _, spec := range decl.Specs {
			if spec.Pos() <= group.Pos() && group.End() <= spec.End() {
				return true
			}
		}
		return false
	}
	return true
}

func linesOf(fset *token.FileSet, group *ast.CommentGroup) []Line {
	var lines []Line
	for _, comment := range group.List {
		file := fset.File(comment.Pos())
		first := file.PositionFor(comment.Pos(), false).Line
		text := strings.TrimSuffix(comment.Text[len("//"):], "*/")
		for i, line := range strings.Split(text, "\n") {
			// The parser drops carriage returns from comments, so offsets count only from the
			// line's start.
			start := comment.Pos() + token.Pos(len("//"))
			trimmed := strings.TrimLeft(line, blanks)
			if i > 0 {
				start = file.LineStart(first + i)
				trimmed = strings.TrimLeft(strings.TrimPrefix(trimmed, "*"), blanks)
			}
			if looksLikeMarker(trimmed) {
				pos := fset.Position(start + token.Pos(len(line)-len(trimmed)))
				lines = append(lines, Line{Text: strings.TrimRight(trimmed[1:], " \t\r"), Pos: pos})
			}
		}
	}
	return lines
}

// looksLikeMarker reports whether a line begins with "+" and a letter. Blanks between them are
// allowed before our names, and before other tools' names unless text follows, so that Parse can
// report them.
func looksLikeMarker(line string) bool {
	if len(line) < 2 || line[0] != '+' {
		return false
	}
	if c := line[1]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return true
	}
	text := strings.TrimLeft(line[1:], blanks)
	name := nameOf(text)
	space, _, _ := strings.Cut(name, ":")
	return space == "informer" && name != space || (space == "genclient" || space == "kubebuilder") && !strings.HasPrefix(text[len(name):], " ")
}
