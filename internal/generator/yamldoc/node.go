// SPDX-License-Identifier: Apache-2.0

package yamldoc

import (
	"go/token"

	nodes "go.yaml.in/yaml/v3"
)

func target(n *nodes.Node) *nodes.Node {
	if n.Kind == nodes.AliasNode {
		return n.Alias
	}
	return n
}

// Node is the place of a value in a document. An alias has its target's place. A missing node has
// the place where the document begins.
type Node struct {
	document *Document
	node     *nodes.Node
}

// Pos returns the position of the node's first character.
func (n Node) Pos() token.Position {
	if n.node == nil {
		return n.document.Pos()
	}
	return n.document.positions.of(n.document.line()+n.node.Line, n.node.Column)
}

// TextPos returns the position of the first character of a text, inside its quotes if it has any.
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
	// Name is the key's text.
	Name       string
	Key, Value Node
}

// IsText reports whether the key is a string in the file, and not a number, say, read as one.
func (e Entry) IsText() bool {
	return e.Key.node.Kind == nodes.ScalarNode && e.Key.node.ShortTag() == "!!str"
}

// Entries returns the entries of a mapping in the order of the file, including duplicate keys.
// Entries merged in by the key << follow.
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

// Get returns the value of a mapping at a key, the value of that at the next key, and so on.
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

// Element returns element i of a list.
func (n Node) Element(i int) Node {
	if i >= n.len() {
		return Node{document: n.document}
	}
	return Node{n.document, target(n.node.Content[i])}
}
