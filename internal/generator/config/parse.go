// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"go/token"
	"reflect"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/diag"
	"github.com/informer-gen/informer-gen/internal/generator/marker"
	"github.com/informer-gen/informer-gen/internal/generator/yamldoc"
)

// Parse parses data, the content of the named file. It returns either a file or all errors, sorted.
func Parse(name string, data []byte) (*File, diag.List) {
	p := &parser{}
	file := &File{Name: name}
	if value, node := p.document(name, data); value != nil {
		p.fill(value, node, reflect.ValueOf(file).Elem(), "the file")
		p.checkDuplicates(file)
	}
	if len(p.report) > 0 {
		return nil, p.report.Sorted()
	}
	return file, nil
}

// versionLine is the first setting of a file.
const versionLine = "version: 1"

type parser struct {
	report diag.List
}

func (p *parser) fail(node yamldoc.Node, key, message string, allowed ...string) {
	p.report.Add(diag.Diagnostic{Pos: node.Pos(), Marker: key, Message: message, Allowed: allowed})
}

// document returns the top-level mapping and its node, or nil if its content is unusable.
func (p *parser) document(name string, data []byte) (map[string]any, yamldoc.Node) {
	wrong := func(d diag.Diagnostic) (map[string]any, yamldoc.Node) {
		p.report.Add(d)
		return nil, yamldoc.Node{}
	}
	documents, problem := yamldoc.Documents(name, data)
	switch {
	case problem != nil:
		return wrong(*problem)
	case len(documents) == 0:
		return wrong(diag.Diagnostic{Pos: token.Position{Filename: name, Line: 1, Column: 1}, Message: "the file is empty: begin it with " + versionLine})
	case len(documents) > 1:
		return wrong(diag.Diagnostic{Pos: documents[1].Pos(), Message: "the file has a second document: it can have only one"})
	}
	var value any
	if problem := documents[0].Decode(&value); problem != nil {
		problem.Message = "invalid YAML: " + problem.Message
		return wrong(*problem)
	}
	root := documents[0].Root()
	top, ok := value.(map[string]any)
	if !ok {
		return wrong(diag.Diagnostic{Pos: root.Pos(), Message: "the file is " + typeName(value) + ", but must be a mapping that begins with " + versionLine})
	}
	// the keys of other versions are unknown
	if version, ok := top["version"].(json.Number); ok && isInteger(version) && version != "1" {
		return wrong(diag.Diagnostic{Pos: root.Get("version").Pos(), Marker: "version",
			Message: "version " + version.String() + " isn't known: this informer-gen reads version 1"})
	}
	return top, root
}

// fill reads a mapping into a struct. Messages call the mapping where.
func (p *parser) fill(value any, node yamldoc.Node, into reflect.Value, where string) {
	mapping, ok := value.(map[string]any)
	if !ok {
		p.fail(node, where, "the value is "+typeName(value)+", but must be a mapping with the keys "+strings.Join(keys(into.Type()), ", "))
		return
	}
	if at := into.FieldByName("At"); at.IsValid() {
		at.Set(reflect.ValueOf(marker.At{Name: where, Pos: node.Pos()}))
	}
	for _, e := range p.entries(mapping, node) {
		field, known := fieldOf(into.Type(), e.Name)
		if !known {
			all := keys(into.Type())
			p.fail(e.Key, "", "unknown key "+oneLine(e.Name)+diag.DidYouMean(e.Name, all), all...)
			continue
		}
		p.value(mapping[e.Name], e.Value, into.FieldByIndex(field.Index), field)
	}
	for _, field := range fieldsOf(into.Type()) {
		name := field.Tag.Get("arg")
		if _, ok := mapping[name]; ok || field.Tag.Get("required") != "true" {
			continue
		}
		message := "key " + name + " is missing"
		if name == "version" {
			message += ": begin the file with " + versionLine
		}
		p.fail(node, "", message)
	}
}

// entries returns the entries of a mapping, each key once, and reports duplicate and non-string
// keys.
func (p *parser) entries(mapping map[string]any, node yamldoc.Node) []yamldoc.Entry {
	var entries []yamldoc.Entry
	seen := map[string]yamldoc.Node{}
	for _, e := range node.Entries() {
		first, duplicate := seen[e.Name]
		_, decoded := mapping[e.Name]
		switch {
		case !e.IsText() || !decoded:
			p.fail(e.Key, "", "the key isn't a string: put it in quotes")
		case duplicate:
			p.fail(e.Key, "", fmt.Sprintf("duplicate key %s, already in line %d", oneLine(e.Name), first.Pos().Line))
			entries[slices.IndexFunc(entries, func(before yamldoc.Entry) bool { return before.Name == e.Name })] = e
		default:
			seen[e.Name] = e.Key
			entries = append(entries, e)
		}
	}
	return entries
}

func (p *parser) value(value any, node yamldoc.Node, into reflect.Value, field reflect.StructField) {
	switch {
	case into.Type() == valueType:
		if v, ok := p.scalar(value, node, field); ok {
			into.Set(reflect.ValueOf(v))
		}
	case into.Type().Elem() == entryType:
		p.mapping(value, node, into, field)
	case into.Type().Elem() == valueType && isScalar(value):
		if v, ok := p.scalar(value, node, field); ok {
			into.Set(reflect.ValueOf([]marker.Value{v}))
		}
	default:
		p.list(value, node, into, field)
	}
}

func (p *parser) list(value any, node yamldoc.Node, into reflect.Value, field reflect.StructField) {
	key := field.Tag.Get("arg")
	elements, ok := value.([]any)
	switch {
	case !ok:
		p.fail(node, key, wrongType(value, "a list"))
		return
	case len(elements) == 0:
		p.fail(node, key, "the list is empty: add an element, or remove the key")
		return
	}
	for i, element := range elements {
		at := node.Element(i)
		if into.Type().Elem() == valueType {
			if v, ok := p.scalar(element, at, field); ok {
				into.Set(reflect.Append(into, reflect.ValueOf(v)))
			}
			continue
		}
		next := reflect.New(into.Type().Elem().Elem())
		p.fill(element, at, next.Elem(), key)
		into.Set(reflect.Append(into, next))
	}
}

func (p *parser) mapping(value any, node yamldoc.Node, into reflect.Value, field reflect.StructField) {
	name := field.Tag.Get("arg")
	mapping, ok := value.(map[string]any)
	switch {
	case !ok:
		p.fail(node, name, wrongType(value, "a mapping"))
		return
	case len(mapping) == 0:
		p.fail(node, name, "the mapping is empty: add an entry, or remove the key")
		return
	}
	for _, e := range p.entries(mapping, node) {
		if v, ok := p.scalar(mapping[e.Name], e.Value, field); ok {
			entry := Entry{Key: marker.Value{Text: e.Name, Pos: e.Key.TextPos()}, Value: v}
			into.Set(reflect.Append(into, reflect.ValueOf(entry)))
		}
	}
}

// scalar reads a string, number or bool, as the field's tags demand. Its position is that of its
// first character, inside the quotes.
func (p *parser) scalar(value any, node yamldoc.Node, field reflect.StructField) (marker.Value, bool) {
	key, allowed := field.Tag.Get("arg"), strings.Fields(field.Tag.Get("allowed"))
	want := typeOf(field.Tag)
	if !want.is(value) {
		p.fail(node, key, wrongType(value, want.name), allowed...)
		return marker.Value{}, false
	}
	text := fmt.Sprint(value)
	switch {
	case text == "" && field.Tag.Get("empty") != "true":
		p.fail(node, key, "the value is empty: add one, or remove the key", allowed...)
		return marker.Value{}, false
	case len(allowed) > 0 && !slices.Contains(allowed, text):
		p.fail(node, key, fmt.Sprintf("%q isn't known%s", text, diag.DidYouMean(text, allowed)), allowed...)
		return marker.Value{}, false
	}
	return marker.Value{Text: text, Pos: node.TextPos()}, true
}

// checkDuplicates reports duplicate packages, and duplicate kinds within a package.
func (p *parser) checkDuplicates(file *File) {
	packages := map[string]marker.Value{}
	for _, pkg := range file.Packages {
		p.checkDuplicate(packages, pkg.Path, "path", "package")
		kinds, only := map[string]marker.Value{}, map[string]marker.Value{}
		for _, v := range pkg.Only {
			p.checkDuplicate(only, v, "only", "kind")
		}
		for _, kind := range pkg.Kinds {
			p.checkDuplicate(kinds, kind.Name, "name", "kind")
			if _, ok := only[kind.Name.Text]; !ok && len(pkg.Only) > 0 && kind.Name.IsSet() {
				p.report.Add(diag.Diagnostic{Pos: kind.Name.Pos, Marker: "name",
					Message: fmt.Sprintf("kind %s is left out by only in line %d, which doesn't list it", oneLine(kind.Name.Text), pkg.Only[0].Pos.Line)})
			}
		}
	}
}

func (p *parser) checkDuplicate(seen map[string]marker.Value, v marker.Value, key, noun string) {
	if !v.IsSet() {
		return // reported
	}
	if first, ok := seen[v.Text]; ok {
		p.report.Add(diag.Diagnostic{Pos: v.Pos, Marker: key,
			Message: fmt.Sprintf("duplicate %s %s, already in line %d", noun, oneLine(v.Text), first.Pos.Line)})
		return
	}
	seen[v.Text] = v
}
