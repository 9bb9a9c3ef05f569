// SPDX-License-Identifier: Apache-2.0

// Package yamldoc reads YAML as Kubernetes does, and knows the positions of values in a file.
//
// Values come from sigs.k8s.io/yaml, the library of kubectl and API servers: yes and on are true,
// merge keys and aliases work. The nodes of another YAML library only provide positions.
package yamldoc

import (
	"bytes"
	"encoding/json"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	nodes "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Document is one of the documents of a file.
type Document struct {
	positions positions
	start     int // offset in the file
	text      []byte

	parsed  bool
	root    *nodes.Node // nil if the nodes' library can't read a document sigs.k8s.io/yaml can
	problem error
}

// Documents returns the documents of the named file, except those with nothing but comments. The
// finding is not nil if the file isn't UTF-8.
func Documents(name string, data []byte) ([]*Document, *diag.Diagnostic) {
	at := positionsOf(name, data)
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, &diag.Diagnostic{Pos: at.at(i), Message: "the file isn't UTF-8"}
		}
		i += size
	}
	var documents []*Document
	add := func(start, end int) {
		if text := data[start:end]; !empty.Match(text) {
			documents = append(documents, &Document{positions: at, start: start, text: text})
		}
	}
	start := 0
	for _, separator := range separators.FindAllIndex(data, -1) {
		if before := data[start:separator[0]]; !directives.Match(before) {
			add(start, separator[0])
			start = separator[0]
		}
	}
	add(start, len(data))
	return documents, nil
}

var (
	separators = regexp.MustCompile(`(?m)^---(?:[ \t\r]|$)`)
	// directives matches the text allowed before the separator that begins a document.
	directives = regexp.MustCompile(`^\x{FEFF}?(?:[ \t]*(?:#.*|%.*)?\r?\n)*[ \t]*$`)
	// empty matches documents without content.
	empty = regexp.MustCompile(`^\x{FEFF}?(?:---)?(?:[ \t]*(?:#.*)?\r?(?:\n|$))*$`)
)

// Decode decodes the document into the value into points to. Numbers in interfaces become a
// [json.Number]. A finding has at least a line, and a message of one line.
func (d *Document) Decode(into any) *diag.Diagnostic {
	err := yaml.Unmarshal(d.text, into, func(decoder *json.Decoder) *json.Decoder {
		decoder.UseNumber()
		return decoder
	})
	if err == nil {
		return nil
	}
	if d.parse(); d.problem != nil {
		err = d.problem // its lines are right
	}
	line, message := 1, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := withLine.FindStringSubmatch(message); m != nil {
		message = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	return &diag.Diagnostic{Pos: d.positions.line(d.line() + line), Message: strings.Join(strings.Fields(message), " ")}
}

var withLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s*)?(?:line ([0-9]+): )?((?s).*)$`)

// Contains reports whether text occurs anywhere in the document.
func (d *Document) Contains(text string) bool { return bytes.Contains(d.text, []byte(text)) }

// Pos returns the position where the document begins: the separator line before it, if there is
// one.
func (d *Document) Pos() token.Position { return d.positions.at(d.start) }

// Find returns the position of the first occurrence of text, which must exist.
func (d *Document) Find(text string) token.Position {
	return d.positions.at(d.start + bytes.Index(d.text, []byte(text)))
}

// Root returns the root node of the document.
func (d *Document) Root() Node {
	d.parse()
	return Node{d, d.root}
}

// line returns the number of lines before the document, as YAML counts them.
func (d *Document) line() int {
	n, _ := slices.BinarySearch(d.positions.yaml, d.start)
	return n
}

func (d *Document) parse() {
	if d.parsed {
		return
	}
	d.parsed = true
	var document nodes.Node
	if d.problem = nodes.Unmarshal(d.text, &document); d.problem == nil && len(document.Content) == 1 {
		d.root = target(document.Content[0])
	}
}
