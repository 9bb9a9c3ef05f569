// SPDX-License-Identifier: Apache-2.0

package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/informer-gen/informer-gen/generator/diag"
	"github.com/informer-gen/informer-gen/generator/marker"
)

// Parse reads data, which is the content of the named file. It returns either a file or everything that is wrong with it,
// sorted.
func Parse(name string, data []byte) (*File, diag.List) {
	p := &parser{places: placesOf(name, data)}
	file := &File{Name: name}
	if root := p.document(data); root != nil {
		p.fill(root, reflect.ValueOf(file).Elem(), "the file")
		p.twice(file)
	}
	if len(p.report) > 0 {
		return nil, p.report.Sorted()
	}
	return file, nil
}

type parser struct {
	places places
	report diag.List
}

// fail reports an error at a node. key is the one that it is about.
func (p *parser) fail(node *yaml.Node, key, message string, allowed ...string) {
	p.report.Add(diag.Diagnostic{Pos: p.places.of(node), Marker: key, Message: message, Allowed: allowed})
}

// document returns the mapping at the top, or nil if nothing can be said about what is in it.
func (p *parser) document(data []byte) *yaml.Node {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			p.report.Add(diag.Diagnostic{Pos: p.places.at(i), Message: "the file isn't UTF-8"})
			return nil
		}
		i += size
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var document, second yaml.Node
	err := decoder.Decode(&document)
	if errors.Is(err, io.EOF) {
		p.report.Add(diag.Diagnostic{Pos: p.places.at(0), Message: "the file is empty: it begins with version: 1"})
		return nil
	}
	if err == nil {
		err = decoder.Decode(&second)
		switch {
		case err == nil:
			p.fail(&second, "", "the file has a second document: it takes one")
		case errors.Is(err, io.EOF):
			err = nil
		}
	}
	if err != nil {
		p.syntax(err)
		return nil
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		p.fail(root, "", "the file is "+what(root)+": it is a mapping, which begins with version: 1")
		return nil
	}
	// What other versions of the format have can't be known.
	for i := 0; i+1 < len(root.Content); i += 2 {
		if key, value := root.Content[i], root.Content[i+1]; key.Value == "version" && value.ShortTag() == "!!int" && value.Value != "1" {
			p.fail(value, "version", "version "+oneLine(value.Value)+" isn't known: this informer-gen reads version 1")
			return nil
		}
	}
	return root
}

var syntaxError = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?((?s).*)$`)

// syntax reports what the YAML library says, of which only the line is known.
func (p *parser) syntax(err error) {
	line, message := 1, err.Error()
	if m := syntaxError.FindStringSubmatch(message); m != nil {
		message = m[2]
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
	}
	p.report.Add(diag.Diagnostic{Pos: p.places.line(line), Message: "this is no YAML: " + strings.Join(strings.Fields(message), " ")})
}

// fill reads a mapping into a struct. where is what the mapping is called.
func (p *parser) fill(node *yaml.Node, into reflect.Value, where string) {
	if node.Kind != yaml.MappingNode {
		p.fail(node, where, "it is "+what(node)+": it takes a mapping with the keys "+strings.Join(keys(into.Type()), ", "))
		return
	}
	if at := into.FieldByName("At"); at.IsValid() {
		at.Set(reflect.ValueOf(marker.At{Name: where, Pos: p.places.of(node)}))
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !p.key(key, seen) {
			continue
		}
		field, known := fieldOf(into.Type(), key.Value)
		if !known {
			all := keys(into.Type())
			p.fail(key, "", "unknown key "+oneLine(key.Value)+diag.DidYouMean(key.Value, all), all...)
			continue
		}
		p.value(value, into.FieldByIndex(field.Index), field)
	}
	for _, field := range fieldsOf(into.Type()) {
		if name := field.Tag.Get("arg"); field.Tag.Get("required") == "true" && seen[name] == nil {
			message := "key " + name + " is missing"
			if name == "version" {
				message += ": the file begins with version: 1"
			}
			p.fail(node, "", message)
		}
	}
}

// key says whether a key is a text that wasn't there before.
func (p *parser) key(key *yaml.Node, seen map[string]*yaml.Node) bool {
	switch {
	case key.Kind == yaml.ScalarNode && key.ShortTag() == "!!merge":
		p.fail(key, "", "keys can't be merged in here: write them out")
		return false
	case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
		p.fail(key, "", "the key is "+what(key)+": it takes a text")
		return false
	case seen[key.Value] != nil:
		p.fail(key, "", fmt.Sprintf("key %s is there already, in line %d", oneLine(key.Value), p.places.of(seen[key.Value]).Line))
		return false
	}
	seen[key.Value] = key
	return true
}

var (
	valueType = reflect.TypeFor[Value]()
	entryType = reflect.TypeFor[Entry]()
)

// value reads the value of a key into the key's field.
func (p *parser) value(node *yaml.Node, into reflect.Value, field reflect.StructField) {
	switch {
	case into.Type() == valueType:
		if v, ok := p.scalar(node, field); ok {
			into.Set(reflect.ValueOf(v))
		}
	case into.Type().Elem() == entryType:
		p.entries(node, into, field)
	case into.Type().Elem() == valueType && node.Kind == yaml.ScalarNode && node.ShortTag() != "!!null":
		if v, ok := p.scalar(node, field); ok {
			into.Set(reflect.ValueOf([]Value{v}))
		}
	default:
		p.list(node, into, field)
	}
}

// list reads a list of texts or of structs.
func (p *parser) list(node *yaml.Node, into reflect.Value, field reflect.StructField) {
	key := field.Tag.Get("arg")
	switch {
	case node.Kind != yaml.SequenceNode:
		p.fail(node, key, wrongType(node, "a list"))
		return
	case len(node.Content) == 0:
		p.fail(node, key, "the list is empty: give it an element, or remove the key")
		return
	}
	for _, element := range node.Content {
		if into.Type().Elem() == valueType {
			if v, ok := p.scalar(element, field); ok {
				into.Set(reflect.Append(into, reflect.ValueOf(v)))
			}
			continue
		}
		next := reflect.New(into.Type().Elem().Elem())
		p.fill(element, next.Elem(), key)
		into.Set(reflect.Append(into, next))
	}
}

// entries reads a mapping whose keys aren't known beforehand.
func (p *parser) entries(node *yaml.Node, into reflect.Value, field reflect.StructField) {
	name := field.Tag.Get("arg")
	switch {
	case node.Kind != yaml.MappingNode:
		p.fail(node, name, wrongType(node, "a mapping"))
		return
	case len(node.Content) == 0:
		p.fail(node, name, "the mapping is empty: give it a key, or remove it")
		return
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if !p.key(key, seen) {
			continue
		}
		if v, ok := p.scalar(value, field); ok {
			entry := Entry{Key: p.valueOf(key), Value: v}
			into.Set(reflect.Append(into, reflect.ValueOf(entry)))
		}
	}
}

// scalar reads a text, a number or a bool, whichever the field's tags ask for.
func (p *parser) scalar(node *yaml.Node, field reflect.StructField) (Value, bool) {
	key, allowed := field.Tag.Get("arg"), strings.Fields(field.Tag.Get("allowed"))
	want := typeOf(field.Tag)
	if node.Kind != yaml.ScalarNode || !slices.Contains(want.tags, node.ShortTag()) {
		p.fail(node, key, wrongType(node, want.text), allowed...)
		return Value{}, false
	}
	switch {
	case node.Value == "" && field.Tag.Get("empty") != "true":
		p.fail(node, key, "the value is empty: give it one, or remove the key", allowed...)
		return Value{}, false
	case len(allowed) > 0 && !slices.Contains(allowed, node.Value):
		p.fail(node, key, fmt.Sprintf("%q isn't known%s", node.Value, diag.DidYouMean(node.Value, allowed)), allowed...)
		return Value{}, false
	}
	return p.valueOf(node), true
}

// valueOf is the value of a node. Its position is that of its first character, behind the quote.
func (p *parser) valueOf(node *yaml.Node) Value {
	pos := p.places.of(node)
	if node.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		pos.Column++
		pos.Offset++
	}
	return Value{Text: node.Value, Pos: pos}
}

// scalarType is a type of values: what messages and the JSON schema call it, and the tags that YAML has for it.
type scalarType struct {
	text   string
	schema []string
	tags   []string
}

// typeOf is the type that the tags of a field ask for.
func typeOf(tag reflect.StructTag) scalarType {
	switch {
	case tag.Get("type") == "integer":
		return scalarType{"a whole number", []string{"integer"}, []string{"!!int"}}
	case tag.Get("type") == "year":
		return scalarType{"a text", []string{"string", "integer"}, []string{"!!str", "!!int"}}
	case isBool(tag):
		return scalarType{"true or false", []string{"boolean"}, []string{"!!bool"}}
	}
	return scalarType{"a text", []string{"string"}, []string{"!!str"}}
}

func isBool(tag reflect.StructTag) bool { return tag.Get("allowed") == "true false" }

// wrongType says what a node is and what it should be.
func wrongType(node *yaml.Node, want string) string {
	message := "it is " + what(node) + ": it takes " + want
	switch {
	case node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null":
		return "the value is missing: give the key one, or remove it"
	case node.Kind == yaml.ScalarNode && want == "a text":
		message += ", so put it in quotes"
	}
	return message
}

// what says what a node is.
func what(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch node.ShortTag() {
	case "!!str":
		return "a text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "empty"
	case "!!timestamp":
		return "a date"
	}
	return "of the type " + oneLine(node.ShortTag())
}

// oneLine returns what a message can cite as it is: text, in quotes if there are line breaks or the like in it.
func oneLine(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return strconv.Quote(text)
	}
	return text
}

// twice reports packages, and kinds within a package, that are there twice.
func (p *parser) twice(file *File) {
	packages := map[string]Value{}
	for _, pkg := range file.Packages {
		p.again(packages, pkg.Path, "path", "package")
		kinds, only := map[string]Value{}, map[string]Value{}
		for _, v := range pkg.Only {
			p.again(only, v, "only", "kind")
		}
		for _, kind := range pkg.Kinds {
			p.again(kinds, kind.Name, "name", "kind")
			if _, ok := only[kind.Name.Text]; !ok && len(pkg.Only) > 0 && kind.Name.IsSet() {
				p.report.Add(diag.Diagnostic{Pos: kind.Name.Pos, Marker: "name",
					Message: fmt.Sprintf("kind %s is left out by only in line %d, which doesn't list it", oneLine(kind.Name.Text), pkg.Only[0].Pos.Line)})
			}
		}
	}
}

func (p *parser) again(seen map[string]Value, v Value, key, noun string) {
	if !v.IsSet() {
		return // reported
	}
	if first, ok := seen[v.Text]; ok {
		p.report.Add(diag.Diagnostic{Pos: v.Pos, Marker: key,
			Message: fmt.Sprintf("%s %s is there already, in line %d", noun, oneLine(v.Text), first.Pos.Line)})
		return
	}
	seen[v.Text] = v
}
