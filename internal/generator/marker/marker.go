// SPDX-License-Identifier: Apache-2.0

// Package marker defines the generator's markers, each as a struct. Markers are comment lines like
// "+genclient" or "+informer:index:name=ByNode,field=.spec.nodeName" with instructions for a type
// or a package. Package syntax parses them; package config creates the same structs from the
// configuration file.
//
// Field tags hold the arguments' names, allowed values and documentation, for package syntax. To
// add a marker, add a struct here, and a line to the definitions there.
package marker

import (
	"go/token"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Marker is a pointer to one of the marker structs.
type Marker interface {
	// Where returns the marker's name as written and its position.
	Where() At
}

// At is the place of a marker; every marker struct embeds it.
type At struct {
	// Name is the marker's name with its "+", without arguments; for a marker from the config file,
	// it is the key there.
	Name string
	// Pos is the position of the "+", or of the key.
	Pos token.Position
}

// InFile reports whether the marker comes from the config file, not from a comment.
func (a At) InFile() bool { return !strings.HasPrefix(a.Name, "+") }

// Where returns a itself.
func (a At) Where() At { return a }

// Value is the value of an argument.
type Value struct {
	// Text is the value without quotes.
	Text string
	// Pos is the position of the first byte of Text, inside the quotes; not valid if the argument
	// is missing.
	Pos token.Position
	// Written is Text with its escapes, if it has any.
	Written string
}

// IsSet reports whether the argument is present, if only with an empty value.
func (v Value) IsSet() bool { return v.Pos.IsValid() }

// At returns the position of the byte at offset i of Text, or that of its end.
func (v Value) At(i int) token.Position {
	if v.Written != "" {
		rest := v.Written
		for read := 0; read < i && rest != ""; {
			char, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
			if err != nil {
				break
			}
			read++
			if multibyte {
				read += utf8.RuneLen(char) - 1
			}
			rest = tail
		}
		i = len(v.Written) - len(rest)
	}
	pos := v.Pos
	pos.Column += i
	pos.Offset += i
	return pos
}

// First returns the first marker of type M, or nil.
func First[M any](markers []Marker) *M {
	for _, m := range markers {
		if typed, ok := any(m).(*M); ok {
			return typed
		}
	}
	return nil
}

// All returns the markers of type M in their order.
func All[M any](markers []Marker) []*M {
	var all []*M
	for _, m := range markers {
		if typed, ok := any(m).(*M); ok {
			all = append(all, typed)
		}
	}
	return all
}
