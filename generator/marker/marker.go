// SPDX-License-Identifier: Apache-2.0

// Package marker reads markers: comment lines like "+genclient" or
// "+informer:index:name=ByNode,field=.spec.nodeName" that tell the generator what to do with a type
// or a package.
//
// Scan finds the lines of a file and what they stand at, Parse turns lines into typed structs
// (Genclient, Index, …), reporting what is wrong with a position inside of the comment. Definitions
// is everything that is known about the markers themselves.
//
// A marker is a line of its own in a comment. It has a name and, after "=", a value or named
// arguments; a single argument may also stand behind a colon:
//
//	+genclient
//	+genclient:onlyVerbs=get,list,watch
//	+groupName=samples.example.com          // what follows a blank and // or # is a comment
//	+kubebuilder:resource:path=gizmos,scope=Cluster
package marker

import (
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Marker is a pointer to one of the marker structs of this package. Most come from comments; the
// config file makes the same structs of its values.
type Marker interface {
	// Place returns the marker's name as written and its position.
	Place() At
}

// At is where a marker stands; every marker struct embeds it.
type At struct {
	// Name is the marker's name with its "+", without arguments; for a marker from the config file
	// it is the key there.
	Name string
	// Pos is the position of the "+", or of the key.
	Pos token.Position
}

// InFile reports whether the marker comes from the config file, not from a comment.
func (a At) InFile() bool { return !strings.HasPrefix(a.Name, "+") }

// Place returns a itself.
func (a At) Place() At { return a }

// Value is the value of an argument.
type Value struct {
	// Text is the value without quotes.
	Text string
	// Pos is the position of the first byte of Text, which is behind an opening quote; not valid if
	// the argument isn't there.
	Pos token.Position

	written string // Text with its escapes, if it has any
}

// IsSet reports whether the argument is there; its value may still be empty.
func (v Value) IsSet() bool { return v.Pos.IsValid() }

// At returns the position of the byte at offset i of Text, or that of its end.
func (v Value) At(i int) token.Position {
	if v.written != "" {
		rest := v.written
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
		i = len(v.written) - len(rest)
	}
	pos := v.Pos
	pos.Column += i
	pos.Offset += i
	return pos
}

// Target is what a marker describes.
type Target string

// A marker describes a type, and stands in its doc comment or in the comment one blank line above,
// or it describes a package, and stands in any comment of any of its files.
const (
	Type    Target = "type"
	Package Target = "package"
	// Nowhere is the target of no marker.
	Nowhere Target = ""
)

// Definition describes a kind of marker.
type Definition struct {
	// Name is the name without "+".
	Name string
	// Target is what the marker describes.
	Target Target
	// Doc says in a line what the marker means.
	Doc string
	// Args are the arguments in the order of the documentation; none for a marker that is a mere
	// flag.
	Args []Arg

	newMarker func() Marker
	goType    reflect.Type // of what newMarker returns
}

// Arg describes an argument of a marker.
type Arg struct {
	// Name is empty for the value that stands right behind the marker's "=".
	Name string
	// Doc says in a line what the argument means.
	Doc string
	// Required means that the marker is wrong without it.
	Required bool
	// Empty means that the value may be empty.
	Empty bool
	// List means that several values can be given.
	List bool
	// Allowed are the values that are right; empty if there is no such list.
	Allowed []string
	// Instead means that the argument takes the place of the one before it.
	Instead bool

	field int // index of the field in the marker struct
}

// define derives a Definition from the struct tags of M.
func define[M any, P interface {
	*M
	Marker
}](target Target, name, doc string) *Definition {
	d := &Definition{Name: name, Target: target, Doc: doc, newMarker: func() Marker { return P(new(M)) }, goType: reflect.TypeFor[P]()}
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

// DefinitionOf returns what is known about the marker m, or nil for one that has no form as a
// comment.
func DefinitionOf(m Marker) *Definition {
	t := reflect.TypeOf(m)
	for _, d := range definitions {
		if d.goType == t {
			return d
		}
	}
	return nil
}

// lookup finds the definition for a marker's full name. A last part that is no part of the
// definition's name is the name of the first argument.
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

// usage shows how the marker is written, for messages about a wrong one.
func (d *Definition) usage() string {
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

// store puts a checked value into the marker's field for arg.
func (arg Arg) store(m Marker, values []Value) {
	field := reflect.ValueOf(m).Elem().Field(arg.field)
	if arg.List {
		field.Set(reflect.ValueOf(values))
		return
	}
	field.Set(reflect.ValueOf(values[0]))
}

func setPlace(m Marker, at At) {
	reflect.ValueOf(m).Elem().FieldByName("At").Set(reflect.ValueOf(at))
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

// Line is a comment line that looks like a marker.
type Line struct {
	// Text starts behind the "+" and ends before trailing blanks.
	Text string
	// Pos is the position of the "+".
	Pos token.Position
}

// at returns the position of the byte at offset i of Text.
func (l Line) at(i int) token.Position {
	pos := l.Pos
	pos.Column += 1 + i
	pos.Offset += 1 + i
	return pos
}
