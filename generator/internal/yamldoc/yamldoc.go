// SPDX-License-Identifier: Apache-2.0

// Package yamldoc reads YAML as Kubernetes does, and knows where in the file its values stand.
//
// The values are those that sigs.k8s.io/yaml makes of a document, which is what kubectl and API
// servers read YAML with: yes and on are true, merge keys and aliases count. The nodes of another
// YAML library only tell positions.
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

	"github.com/informer-gen/informer-gen/generator/diag"
)

// Document is one of the documents of a file.
type Document struct {
	places places
	start  int // offset in the file
	text   []byte

	parsed  bool
	root    *nodes.Node // nil if the nodes' library can't read what sigs.k8s.io/yaml can
	problem error
}

// Documents returns the documents of the named file, without those that have nothing but comments
// in them. The finding is not nil if the file isn't UTF-8.
func Documents(name string, data []byte) ([]*Document, *diag.Diagnostic) {
	at := placesOf(name, data)
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return nil, &diag.Diagnostic{Pos: at.at(i), Message: "the file isn't UTF-8"}
		}
		i += size
	}
	var documents []*Document
	add := func(start, end int) {
		if text := data[start:end]; !bare.Match(text) {
			documents = append(documents, &Document{places: at, start: start, text: text})
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
	// directives are what may stand before the separator that begins a document.
	directives = regexp.MustCompile(`^\x{FEFF}?(?:[ \t]*(?:#.*|%.*)?\r?\n)*[ \t]*$`)
	// bare are documents without content.
	bare = regexp.MustCompile(`^\x{FEFF}?(?:---)?(?:[ \t]*(?:#.*)?\r?(?:\n|$))*$`)
)

// Decode turns the document into a value, which into points to. Numbers in interfaces become a
// json.Number. What is wrong has a line at least, and a message of one line.
func (d *Document) Decode(into any) *diag.Diagnostic {
	err := yaml.Unmarshal(d.text, into, func(decoder *json.Decoder) *json.Decoder {
		decoder.UseNumber()
		return decoder
	})
	if err == nil {
		return nil
	}
	if d.parse(); d.problem != nil {
		err = d.problem // whose lines are right
	}
	line, message := 1, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	if m := withLine.FindStringSubmatch(message); m != nil {
		message = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	return &diag.Diagnostic{Pos: d.places.line(d.line() + line), Message: strings.Join(strings.Fields(message), " ")}
}

var withLine = regexp.MustCompile(`^yaml: (?:unmarshal errors:\s*)?(?:line ([0-9]+): )?((?s).*)$`)

// Contains reports whether a text stands anywhere in the document.
func (d *Document) Contains(text string) bool { return bytes.Contains(d.text, []byte(text)) }

// Pos is where the document begins: at the line that separates it from the one before, if there is
// one.
func (d *Document) Pos() token.Position { return d.places.at(d.start) }

// Find is the position of the first occurrence of a text, which must be there.
func (d *Document) Find(text string) token.Position {
	return d.places.at(d.start + bytes.Index(d.text, []byte(text)))
}

// Root is the node of the whole document.
func (d *Document) Root() Node {
	d.parse()
	return Node{d, d.root}
}

// line is the number of lines before the document, as YAML counts them.
func (d *Document) line() int {
	n, _ := slices.BinarySearch(d.places.yaml, d.start)
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

// target is what an alias stands for, or the node itself.
func target(n *nodes.Node) *nodes.Node {
	if n.Kind == nodes.AliasNode {
		return n.Alias
	}
	return n
}

// Node is where a value of a document stands. An alias is where its target stands. One that can't
// be found stands where the document begins.
type Node struct {
	document *Document
	node     *nodes.Node
}

// Pos is the position of the node's first character.
func (n Node) Pos() token.Position {
	if n.node == nil {
		return n.document.Pos()
	}
	return n.document.places.of(n.document.line()+n.node.Line, n.node.Column)
}

// TextPos is the position of the first character of a text, behind the quote if there is one.
func (n Node) TextPos() token.Position {
	pos := n.Pos()
	if n.node != nil && n.node.Style&(nodes.SingleQuotedStyle|nodes.DoubleQuotedStyle) != 0 {
		pos.Column++
		pos.Offset++
	}
	return pos
}

// Entry is a key of a mapping, with its value.
type Entry struct {
	// Name is the key as a text.
	Name       string
	Key, Value Node
}

// IsText reports whether the key is a text in the file, and not a number, for example, that is
// taken for one.
func (e Entry) IsText() bool {
	return e.Key.node.Kind == nodes.ScalarNode && e.Key.node.ShortTag() == "!!str"
}

// Entries returns the entries of a mapping in the order of the file, a key that stands there twice
// too, and behind them those that are merged in under the key <<.
func (n Node) Entries() []Entry {
	var own, merged []Entry
	for i := 0; n.node != nil && n.node.Kind == nodes.MappingNode && i+1 < len(n.node.Content); i += 2 {
		key, value := Node{n.document, target(n.node.Content[i])}, Node{n.document, target(n.node.Content[i+1])}
		if key.node.ShortTag() != "!!merge" {
			own = append(own, Entry{key.node.Value, key, value})
			continue
		}
		merged = append(merged, value.Entries()...)
		for j := range value.len() {
			merged = append(merged, value.Element(j).Entries()...)
		}
	}
	known := map[string]bool{}
	for _, e := range own {
		known[e.Name] = true
	}
	for _, e := range merged {
		if !known[e.Name] {
			known[e.Name] = true
			own = append(own, e)
		}
	}
	return own
}

// Get returns what a mapping has under a key, what that has under the next one, and so on.
func (n Node) Get(keys ...string) Node {
	for _, key := range keys {
		next := Node{document: n.document}
		for _, e := range n.Entries() {
			if e.Name == key {
				next = e.Value
				break
			}
		}
		n = next
	}
	return n
}

func (n Node) len() int {
	if n.node == nil || n.node.Kind != nodes.SequenceNode {
		return 0
	}
	return len(n.node.Content)
}

// Element returns an element of a list.
func (n Node) Element(i int) Node {
	if i >= n.len() {
		return Node{document: n.document}
	}
	return Node{n.document, target(n.node.Content[i])}
}
