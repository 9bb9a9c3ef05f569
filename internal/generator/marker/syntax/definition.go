// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"reflect"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/internal/generator/marker"
)

// Target is the thing that a marker describes.
type Target string

// A type's markers stand in its doc comment or in the comment one blank line above it, a package's
// markers in any comment of its files.
const (
	Type    Target = "type"
	Package Target = "package"
	// Nowhere is the target of no marker.
	Nowhere Target = ""
)

// Definition describes a kind of marker.
type Definition struct {
	// Name is the name without "+".
	Name   string
	Target Target
	// Doc is a line of documentation.
	Doc string
	// Args are the arguments in the order of the documentation; none for a mere flag.
	Args []Arg

	newMarker func() marker.Marker
	goType    reflect.Type // of newMarker's result
}

// Arg describes an argument of a marker.
type Arg struct {
	// Name is empty for the value right behind the marker's "=".
	Name string `json:"name,omitempty"`
	// Doc is a line of documentation.
	Doc string `json:"doc"`
	// Required means that the marker is wrong without the argument.
	Required bool `json:"required,omitempty"`
	// List means that the argument takes several values.
	List bool `json:"list,omitempty"`
	// Empty means that the value may be empty.
	Empty bool `json:"mayBeEmpty,omitempty"`
	// Allowed are the allowed values; empty if any value will do.
	Allowed []string `json:"allowed,omitempty"`
	// Instead means that the argument replaces the one before it.
	Instead bool `json:"-"`

	field int // index in the marker struct
}

// Definitions returns the definitions of all markers, in the order of the documentation.
func Definitions() []*Definition { return slices.Clone(definitions) }

// DefinitionOf returns the definition of the marker m, or nil if comments can't have it.
func DefinitionOf(m marker.Marker) *Definition {
	t := reflect.TypeOf(m)
	for _, d := range definitions {
		if d.goType == t {
			return d
		}
	}
	return nil
}

// Examples returns at least one comment with the marker, valid for [Parse].
func (d *Definition) Examples() []string { return strings.Split(examples[d.Name], "\n") }

// Usage returns the marker's syntax, for example "+informer:index:name=…,field=…|func=…".
func (d *Definition) Usage() string {
	usage := "+" + d.Name
	for i, arg := range d.Args {
		switch {
		case i > 0 && arg.Instead:
			usage += "|"
		case i > 0:
			usage += ","
		case arg.Name != "":
			usage += ":"
		}
		usage += arg.Name + "=…"
	}
	return usage
}

func define[M any, P interface {
	*M
	marker.Marker
}](target Target, name, doc string) *Definition {
	d := &Definition{Name: name, Target: target, Doc: doc, newMarker: func() marker.Marker { return P(new(M)) }, goType: reflect.TypeFor[P]()}
	t := reflect.TypeFor[M]()
	for i := range t.NumField() {
		field := t.Field(i)
		if field.Anonymous {
			continue
		}
		d.Args = append(d.Args, Arg{
			Name:     field.Tag.Get("arg"),
			Doc:      field.Tag.Get("doc"),
			Required: field.Tag.Get("required") == "true",
			Empty:    field.Tag.Get("empty") == "true",
			List:     field.Type.Kind() == reflect.Slice,
			Allowed:  strings.Fields(field.Tag.Get("allowed")),
			Instead:  field.Tag.Get("instead") == "true",
			field:    i,
		})
	}
	return d
}

// lookup finds the definition for a marker's full name. A last part beyond the definition's name is
// the name of the first argument.
func lookup(name string) (d *Definition, firstArg string) {
	for _, d := range definitions {
		if d.Name == name {
			return d, ""
		}
	}
	base, arg, ok := cutLast(name)
	if !ok {
		return nil, ""
	}
	for _, d := range definitions {
		if d.Name == base && d.hasNamedArgs() {
			return d, arg
		}
	}
	return nil, ""
}

func cutLast(name string) (base, last string, ok bool) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, "", false
	}
	return name[:i], name[i+1:], true
}

func (d *Definition) hasNamedArgs() bool {
	for _, arg := range d.Args {
		if arg.Name != "" {
			return true
		}
	}
	return false
}

func (d *Definition) arg(name string) (Arg, bool) {
	for _, arg := range d.Args {
		if arg.Name == name {
			return arg, true
		}
	}
	return Arg{}, false
}

func (d *Definition) argNames() []string {
	var names []string
	for _, arg := range d.Args {
		if arg.Name != "" {
			names = append(names, arg.Name)
		}
	}
	return names
}

func (arg Arg) store(m marker.Marker, values []marker.Value) {
	field := reflect.ValueOf(m).Elem().Field(arg.field)
	if arg.List {
		field.Set(reflect.ValueOf(values))
		return
	}
	field.Set(reflect.ValueOf(values[0]))
}

func setAt(m marker.Marker, at marker.At) {
	reflect.ValueOf(m).Elem().FieldByName("At").Set(reflect.ValueOf(at))
}
