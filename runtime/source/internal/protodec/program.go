// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/source/internal/dropped"
)

// Program is the compiled description of a type: how its objects are decoded. It is safe for
// concurrent use.
type Program struct {
	// Set once at construction.
	root  *message
	sites share.Sites
	drop  dropped.Parts
}

// unmarshaler is the method that Kubernetes generates for its types.
type unmarshaler interface{ Unmarshal([]byte) error }

// New returns the Program of a Kubernetes type, a struct whose fields have the tags that
// go-to-protobuf writes. It returns an error for types of other projects: they may have such tags
// and an Unmarshal method that treats them otherwise.
func New(t reflect.Type, drop dropped.Parts) (*Program, error) {
	return newProgram(t, drop, func(pkg string) bool { return strings.HasPrefix(pkg, "k8s.io/") })
}

// newProgram is New. trusted reports whether the types of a package are decoded by their tags.
func newProgram(t reflect.Type, drop dropped.Parts, trusted func(pkg string) bool) (*Program, error) {
	p := &Program{drop: drop}
	c := compiler{program: p, trusted: trusted, messages: map[reflect.Type]*message{}}
	if !c.isPlain(t) {
		return nil, fmt.Errorf("%s is not a struct that Kubernetes decodes by protobuf tags", t)
	}
	root, err := c.message(t)
	if err != nil {
		return nil, err
	}
	p.root = root
	if drop.ManagedFields || len(drop.Annotations) > 0 {
		if p.root, err = c.withDrop(root, drop); err != nil {
			return nil, fmt.Errorf("%s: %w", t, err)
		}
	}
	return p, nil
}

// message describes a struct type.
type message struct {
	fields []field // by number; unused numbers have containerNone
}

// field describes a field of a struct.
type field struct {
	container container
	small     bool // a pointer to a number or a bool
	// of the value, of a pointer's target, of a slice's elements or of a map's values
	kind   kind
	tag    uint32 // number and wire type
	site   int32  // of a part
	keys   int32  // site of the keys of a map of strings
	text   int32  // site of values that are strings, or are parsed from strings
	offset uintptr
	typ    *layout.Type // of the value of that kind
	whole  reflect.Type // of the field
	msg    *message     // of kindMessage
}

// container is what holds the values of a field: the struct itself, a pointer, a slice or a map.
type container uint8

const (
	containerNone container = iota // there is no such field
	containerField
	containerPointer
	containerSlice
	containerMap
	containerDropped
	containerAnnotations // containerMap without some keys
)

// kind is the kind of a value, on the wire and in memory.
type kind uint8

const (
	kindString kind = iota
	kindName        // a string that programs often keep longer than its object
	kindBytes
	kindBool
	kindInt32
	kindInt64
	kindFloat32
	kindFloat64
	kindMessage
	kindTime
	kindMicroTime
	kindQuantity
	kindOwn // has a hand-written Unmarshal method
)

// wire is the wire type of each kind.
var wire = [...]uint32{
	kindString: 2, kindName: 2, kindBytes: 2, kindBool: 0, kindInt32: 0, kindInt64: 0, kindFloat32: 5, kindFloat64: 1,
	kindMessage: 2, kindTime: 2, kindMicroTime: 2, kindQuantity: 2, kindOwn: 2,
}

// maxNumber is the largest field number of a type that is compiled.
const maxNumber = 1 << 11

type compiler struct {
	// Set once at construction.
	program *Program
	trusted func(pkg string) bool

	messages map[reflect.Type]*message
}

// message compiles a struct type.
func (c *compiler) message(t reflect.Type) (*message, error) {
	if m, ok := c.messages[t]; ok {
		return m, nil
	}
	m := &message{}
	c.messages[t] = m
	for f := range t.Fields() {
		number, ok, err := parseTag(f)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		if !ok {
			continue
		}
		if number >= len(m.fields) {
			m.fields = append(m.fields, make([]field, number+1-len(m.fields))...)
		}
		if m.fields[number].container != containerNone {
			return nil, fmt.Errorf("field %s of %s: number %d is taken", f.Name, t, number)
		}
		if m.fields[number], err = c.field(f, number); err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		if t == reflect.TypeFor[metav1.ObjectMeta]() && (number == nameNumber || number == namespaceNumber) {
			m.fields[number].kind = kindName
		}
	}
	return m, nil
}

// parseTag reads the tag of a field; ok is false without one.
func parseTag(f reflect.StructField) (number int, ok bool, err error) {
	tag, ok := f.Tag.Lookup("protobuf")
	if !ok || tag == "-" {
		return 0, false, nil
	}
	items := strings.Split(tag, ",")
	if len(items) < 2 {
		return 0, false, fmt.Errorf("protobuf tag %q has no number", tag)
	}
	if items[0] != "bytes" && items[0] != "varint" {
		return 0, false, fmt.Errorf("protobuf tag %q: %w", tag, errUnsupported)
	}
	number, err = strconv.Atoi(items[1])
	if err != nil || number <= 0 || number > maxNumber {
		return 0, false, fmt.Errorf("protobuf tag %q has no number from 1 to %d", tag, maxNumber)
	}
	return number, true, nil
}

var errUnsupported = errors.New("not supported")

func (c *compiler) field(sf reflect.StructField, number int) (f field, err error) {
	t := sf.Type
	f = field{offset: sf.Offset, whole: t, site: -1, keys: -1, text: -1}
	value := t
	switch {
	case t.Kind() == reflect.Pointer:
		f.container, value = containerPointer, t.Elem()
	case t.Kind() == reflect.Map:
		if t.Key().Kind() != reflect.String {
			return f, errUnsupported
		}
		f.container, value = containerMap, t.Elem()
		f.site, f.keys = c.site(share.Reference, t), c.site(share.String, nil)
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !hasOwn(t):
		f.container, value = containerSlice, t.Elem()
		f.site = c.site(share.Slice, t)
	default:
		f.container = containerField
	}
	if f.kind, f.msg, err = c.value(value); err != nil {
		return f, err
	}
	f.typ = layout.NewType(value)
	if f.container == containerPointer {
		f.small = f.kind == kindBool || f.kind == kindInt32 || f.kind == kindInt64
		if !f.small {
			f.site = c.site(share.Reference, t)
		}
	}
	if f.kind == kindString || f.kind == kindQuantity {
		f.text = c.site(share.String, nil)
	}
	f.tag = uint32(number)<<3 | wire[f.kind]
	if f.container == containerMap {
		f.tag = uint32(number)<<3 | 2
	}
	return f, nil
}

func (c *compiler) site(form share.Form, t reflect.Type) int32 {
	return int32(c.program.sites.Add(form, t))
}

// value returns how a value of a type is decoded.
func (c *compiler) value(t reflect.Type) (kind, *message, error) {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return kindTime, nil, nil
	case reflect.TypeFor[metav1.MicroTime]():
		return kindMicroTime, nil, nil
	case reflect.TypeFor[resource.Quantity]():
		return kindQuantity, nil, nil
	}
	own := hasOwn(t)
	switch t.Kind() {
	case reflect.String:
		return kindString, nil, nil
	case reflect.Bool:
		return kindBool, nil, nil
	case reflect.Int32, reflect.Uint32:
		return kindInt32, nil, nil
	case reflect.Int64, reflect.Uint64:
		return kindInt64, nil, nil
	case reflect.Float32:
		return kindFloat32, nil, nil
	case reflect.Float64:
		return kindFloat64, nil, nil
	case reflect.Slice:
		if !own && t.Elem().Kind() == reflect.Uint8 {
			return kindBytes, nil, nil
		}
	case reflect.Struct:
		if own && c.isPlain(t) {
			m, err := c.message(t)
			return kindMessage, m, err
		}
	}
	if own && t.Kind() != reflect.Map {
		return kindOwn, nil, nil
	}
	return 0, nil, errUnsupported
}

// hasOwn reports whether a type has a decoding method.
func hasOwn(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]())
}

// isPlain reports whether all fields of a struct have tags.
func (c *compiler) isPlain(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || !c.trusted(t.PkgPath()) {
		return false
	}
	tagged := t.NumField() == 0
	for f := range t.Fields() {
		if tag, ok := f.Tag.Lookup("protobuf"); ok && tag != "-" {
			tagged = true
		} else if !f.IsExported() || strings.HasPrefix(f.Name, "XXX_") {
			return false
		}
	}
	return tagged
}

// The numbers of ObjectMeta, and of fields in it.
const (
	metadataNumber      = 1
	nameNumber          = 1
	namespaceNumber     = 3
	uidNumber           = 5
	versionNumber       = 6
	annotationsNumber   = 12
	managedFieldsNumber = 17
)

// withDrop returns a copy of root that doesn't decode the dropped metadata.
func (c *compiler) withDrop(root *message, drop dropped.Parts) (*message, error) {
	if len(root.fields) <= metadataNumber || root.fields[metadataNumber].whole != reflect.TypeFor[metav1.ObjectMeta]() {
		return nil, fmt.Errorf("its field %d is not metadata", metadataNumber)
	}
	root = &message{fields: slices.Clone(root.fields)}
	f := &root.fields[metadataNumber]
	f.msg = &message{fields: slices.Clone(f.msg.fields)}
	if drop.ManagedFields {
		f.msg.fields[managedFieldsNumber].container = containerDropped
	}
	if len(drop.Annotations) > 0 {
		f.msg.fields[annotationsNumber].container = containerAnnotations
		f.msg.fields[annotationsNumber].site = c.site(share.Reference, f.msg.fields[annotationsNumber].whole)
	}
	return root, nil
}
