// SPDX-License-Identifier: Apache-2.0

package configfile

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io"
	"reflect"
	"strconv"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/informer-gen/informer-gen/internal/diag"
)

// Parse reads a configuration. The error is a [diag.List] unless data isn't YAML. It has all values
// that can't be read, or if there are none, all invalid ones. name is the file's name in errors.
func Parse(name string, data []byte) (*Config, error) {
	d := document{name: name, positions: map[string]token.Position{}}
	var root yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	switch err := decoder.Decode(&root); {
	case errors.Is(err, io.EOF):
		d.report("", "the file is empty", nil)
		return nil, d.findings
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		d.report("", "the file has more than one YAML document", nil)
		return nil, d.findings
	}
	c := defaults()
	d.read(root.Content[0], "", reflect.ValueOf(c).Elem())
	if len(d.findings) == 0 { // otherwise missing values may only be unread ones
		d.check(c)
	}
	if len(d.findings) > 0 {
		return nil, d.findings.Sorted()
	}
	return c, nil
}

type document struct {
	name      string
	positions map[string]token.Position // of the file's values, by path
	findings  diag.List
}

// report adds a finding about the value at a path, or about its innermost parent in the file.
func (d *document) report(path, message string, allowed []string) {
	d.findings.Add(diag.Diagnostic{Pos: d.position(path), Message: message, Allowed: allowed})
}

func (d *document) position(path string) token.Position {
	for {
		if pos, ok := d.positions[path]; ok {
			return pos
		}
		if path == "" {
			return token.Position{Filename: d.name, Line: 1, Column: 1}
		}
		path = path[:max(0, lastPart(path))]
	}
}

// lastPart returns the index of the dot or bracket that begins the last part of a path, or 0.
func lastPart(path string) int {
	for i := len(path) - 1; i > 0; i-- {
		if path[i] == '.' || path[i] == '[' {
			return i
		}
	}
	return 0
}

func (d *document) isSet(path string) bool {
	_, ok := d.positions[path]
	return ok
}

// read reads a value of the file. Values that can't be read keep their defaults.
func (d *document) read(n *yaml.Node, path string, dst reflect.Value) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	d.positions[path] = token.Position{Filename: d.name, Line: n.Line, Column: n.Column}
	switch {
	case n.ShortTag() == "!!null":
		d.report(path, "the value is missing; set one, or remove the key", nil)
	case dst.Kind() == reflect.Struct:
		d.readMapping(n, path, dst)
	case dst.Kind() == reflect.Slice:
		d.readList(n, path, dst)
	case n.Kind != yaml.ScalarNode:
		d.report(path, "must be a single value", nil)
	default:
		d.readScalar(n, path, dst)
	}
}

func (d *document) readMapping(n *yaml.Node, path string, dst reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.report(path, "must be a mapping with these keys", keysOf(dst.Type()))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := token.Position{Filename: d.name, Line: key.Line, Column: key.Column}
		child := join(path, key.Value)
		field, known := fieldOf(dst, key.Value)
		switch {
		case !known:
			allowed := keysOf(dst.Type())
			d.findings.Add(diag.Diagnostic{Pos: at, Message: fmt.Sprintf("there is no key %q%s", key.Value, diag.DidYouMean(key.Value, allowed)), Allowed: allowed})
		case d.isSet(child):
			d.findings.Add(diag.Diagnostic{Pos: at, Message: fmt.Sprintf("the key %q is set twice", key.Value)})
		default:
			d.read(value, child, field)
		}
	}
}

func (d *document) readList(n *yaml.Node, path string, dst reflect.Value) {
	if n.Kind != yaml.SequenceNode {
		d.report(path, "must be a list", nil)
		return
	}
	if len(n.Content) == 0 {
		d.report(path, "the list is empty; add an element, or remove the key", nil)
		return
	}
	dst.Set(reflect.MakeSlice(dst.Type(), len(n.Content), len(n.Content)))
	for i, element := range n.Content {
		if r, ok := dst.Index(i).Addr().Interface().(*Resource); ok {
			*r = defaultResource()
		}
		d.read(element, index(path, i), dst.Index(i))
	}
}

func (d *document) readScalar(n *yaml.Node, path string, dst reflect.Value) {
	switch value := dst.Addr().Interface().(type) {
	case *time.Duration:
		parsed, err := time.ParseDuration(n.Value)
		if err != nil {
			d.report(path, fmt.Sprintf("%q is not a duration, such as 30s or 5m", n.Value), nil)
			return
		}
		*value = parsed
	case *Bytes:
		parsed, err := resource.ParseQuantity(n.Value)
		if err != nil {
			d.report(path, fmt.Sprintf("%q is not an amount of memory, such as 64Mi", n.Value), nil)
			return
		}
		*value = Bytes(parsed.Value())
	case *int:
		parsed, err := strconv.Atoi(n.Value)
		if err != nil || n.ShortTag() != "!!int" {
			d.report(path, fmt.Sprintf("%q is not a whole number", n.Value), nil)
			return
		}
		*value = parsed
	case *bool:
		if n.ShortTag() != "!!bool" {
			d.report(path, fmt.Sprintf("%q is not a boolean", n.Value), []string{"true", "false"})
			return
		}
		*value, _ = strconv.ParseBool(n.Value) // the tag says that it is a bool
	default: // a string
		if n.ShortTag() != "!!str" {
			d.report(path, fmt.Sprintf("must be a string; put %s in quotes", n.Value), nil)
			return
		}
		dst.SetString(n.Value)
	}
}

func keysOf(t reflect.Type) (keys []string) {
	for i := range t.NumField() {
		keys = append(keys, t.Field(i).Tag.Get("yaml"))
	}
	return keys
}

func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for i, k := range keysOf(v.Type()) {
		if k == key {
			return v.Field(i), true
		}
	}
	return reflect.Value{}, false
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
