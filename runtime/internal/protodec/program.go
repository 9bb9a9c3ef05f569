// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// Program is the compiled description of a type, for decoding its objects. It is safe for
// concurrent use.
type Program struct {
	// Set once at construction.
	compiler *compiler
	root     *message
	drop     dropped.Parts
}

type unmarshaler interface{ Unmarshal([]byte) error }

// New returns the Program of a Kubernetes type, a struct whose fields have the tags written by
// go-to-protobuf, or of a projection with such tags (see object.NoMeta). It returns an error for
// other types of other projects: they may have such tags and an Unmarshal method that treats them
// otherwise.
//
// Fields of undecodable types are no error: objects that have them are declined.
func New(t reflect.Type, drop dropped.Parts) (*Program, error) { return kubernetes.program(t, drop) }

var kubernetes = compiler{trusted: func(pkg string) bool { return strings.HasPrefix(pkg, "k8s.io/") }}

// compiler compiles each struct at the first object that has it: most objects have few of the
// structs of their types. It is safe for concurrent use.
type compiler struct {
	// trusted reports whether the types of a package are decoded by their tags. Set once at
	// construction.
	trusted func(pkg string) bool

	sites    share.Sites
	messages sync.Map // *message by *gotype.Type
	metadata sync.Map // *message of metadata with dropped parts, by metadataKey
}

func (c *compiler) program(t reflect.Type, drop dropped.Parts) (*Program, error) {
	if !c.isPlain(gotype.Of(t)) && !gotype.IsProjection(t) {
		return nil, fmt.Errorf("%s is not a struct that Kubernetes decodes by protobuf tags", t)
	}
	p := &Program{compiler: c, root: c.message(gotype.Of(t)), drop: drop}
	root := p.root.get()
	err := root.err
	if err == nil && !drop.None() {
		p.root, err = c.withDrop(root, &drop)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t, err)
	}
	return p, nil
}

// IsComplete reports whether all possible fields of objects can be decoded, by numbers of their
// own: structs without an Unmarshal method have a number for each field. It compiles all their
// possible structs.
func (p *Program) IsComplete() bool {
	seen := map[*message]bool{}
	var walk func(m *message) bool
	walk = func(m *message) bool {
		if seen[m] {
			return true
		}
		seen[m] = true
		c := m.get()
		for _, f := range c.fields {
			if f.msg != nil && !walk(f.msg) {
				return false
			}
		}
		return c.err == nil && !c.unnumbered
	}
	return walk(p.root)
}

type message struct {
	// Set once at construction; not needed once compiled.
	compiler *compiler
	typ      *gotype.Type

	once     sync.Once
	compiled atomic.Pointer[compiled] // set by once
}

type compiled struct {
	fields     []field // by number; unused numbers have containerNone
	unnumbered bool    // a field has no number, and the struct no method that would know it
	err        error   // the struct can't be decoded
}

func (m *message) get() *compiled {
	if c := m.compiled.Load(); c != nil {
		return c
	}
	return m.compile()
}

func (m *message) compile() *compiled {
	m.once.Do(func() {
		m.compiled.Store(m.compiler.fields(m.typ))
	})
	return m.compiled.Load()
}

type field struct {
	container container
	isScalar  bool // a pointer to a number or a bool
	skipsZero bool // a zero byte after the tag, which is 0 or an empty text, is the zero value
	// of the value, of a pointer's target, of a slice's elements or of a map's values
	kind      kind
	tag       uint32 // number and wire type
	site      int32  // of a part
	keys      int32  // site of the keys of a map of strings
	text      int32  // site of values that are strings, or are parsed from strings
	offset    uintptr
	valueType *layout.Type // of the value of that kind
	fieldType reflect.Type // of the field
	msg       *message     // of kindMessage
}

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
	kindUnmarshaler // has a hand-written Unmarshal method
)

var wireTypes = [...]uint32{
	kindString: 2, kindName: 2, kindBytes: 2, kindBool: 0, kindInt32: 0, kindInt64: 0, kindFloat32: 5, kindFloat64: 1,
	kindMessage: 2, kindTime: 2, kindMicroTime: 2, kindQuantity: 2, kindUnmarshaler: 2,
}

const maxNumber = 1 << 11

// message returns the message of a struct type, always the same one.
func (c *compiler) message(t *gotype.Type) *message {
	m, ok := c.messages.Load(t)
	if !ok {
		m, _ = c.messages.LoadOrStore(t, &message{compiler: c, typ: t})
	}
	return m.(*message)
}

func (c *compiler) fields(of *gotype.Type) *compiled {
	t := of.Go
	result := &compiled{}
	for f := range t.Fields() {
		number, err := numberOf(f)
		if (number == 0 || !f.IsExported()) && !of.Methods.Protobuf && f.Type != typeMeta && f.Type != noMeta {
			result.unnumbered = true
		}
		if number == 0 && err == nil {
			continue
		}
		if err == nil {
			err = c.add(result, t, f, number)
		}
		if err != nil {
			return &compiled{err: fmt.Errorf("field %s of %s: %w", f.Name, t, err)}
		}
	}
	return result
}

// The types of fields absent from messages.
var (
	typeMeta = reflect.TypeFor[metav1.TypeMeta]()
	noMeta   = reflect.TypeFor[object.NoMeta]()
)

func (c *compiler) add(to *compiled, t reflect.Type, f reflect.StructField, number int) (err error) {
	if number >= len(to.fields) {
		to.fields = append(to.fields, make([]field, number+1-len(to.fields))...)
	}
	if to.fields[number].container != containerNone {
		return fmt.Errorf("number %d is taken", number)
	}
	to.fields[number], err = c.field(f, number)
	if gotype.IsName(t, f) {
		to.fields[number].kind = kindName
	}
	return err
}

// numberOf reads the tag of a field; it is 0 without one.
func numberOf(f reflect.StructField) (number int, err error) {
	encoding, number, ok := gotype.ProtobufTag(f)
	switch {
	case !ok:
		return 0, nil
	case encoding != "bytes" && encoding != "varint":
		return 0, fmt.Errorf("encoding %q: %w", encoding, errUnsupported)
	case number == 0 || number > maxNumber:
		return 0, fmt.Errorf("the protobuf tag has no number from 1 to %d", maxNumber)
	}
	return number, nil
}

var errUnsupported = errors.New("not supported")

func (c *compiler) field(sf reflect.StructField, number int) (f field, err error) {
	t := sf.Type
	f = field{offset: sf.Offset, fieldType: t, site: -1, keys: -1, text: -1}
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
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !gotype.Of(t).Methods.Protobuf:
		f.container, value = containerSlice, t.Elem()
		f.site = c.site(share.Slice, t)
	default:
		f.container = containerField
	}
	if f.kind, f.msg, err = c.value(gotype.Of(value)); err != nil {
		return f, err
	}
	f.valueType = layout.TypeOf(value)
	if f.container == containerPointer {
		f.isScalar = f.kind == kindBool || f.kind == kindInt32 || f.kind == kindInt64
		if !f.isScalar {
			f.site = c.site(share.Reference, t)
		}
	}
	if f.kind == kindString || f.kind == kindQuantity {
		f.text = c.site(share.String, nil)
	}
	f.tag = uint32(number)<<3 | wireTypes[f.kind]
	if f.container == containerMap {
		f.tag = uint32(number)<<3 | 2
	}
	switch f.kind {
	case kindBytes, kindFloat32, kindFloat64, kindUnmarshaler:
	default:
		f.skipsZero = f.container == containerField
	}
	return f, nil
}

func (c *compiler) site(form share.Form, t reflect.Type) int32 {
	return int32(c.sites.Add(form, t))
}

func (c *compiler) value(of *gotype.Type) (kind, *message, error) {
	switch of.Known {
	case gotype.Time:
		return kindTime, nil, nil
	case gotype.MicroTime:
		return kindMicroTime, nil, nil
	case gotype.Quantity:
		return kindQuantity, nil, nil
	}
	hasUnmarshal, t := of.Methods.Protobuf, of.Go
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
		if !hasUnmarshal && t.Elem().Kind() == reflect.Uint8 {
			return kindBytes, nil, nil
		}
	case reflect.Struct:
		if c.isPlain(of) {
			return kindMessage, c.message(of), nil
		}
	}
	if hasUnmarshal && t.Kind() != reflect.Map {
		return kindUnmarshaler, nil, nil
	}
	return 0, nil, errUnsupported
}

// isPlain reports whether a struct is decoded by the tags of its fields: it has tags, and no method
// that treats them otherwise. Structs of projections have no such method.
func (c *compiler) isPlain(of *gotype.Type) bool {
	t := of.Go
	if t.Kind() != reflect.Struct || !c.trusted(t.PkgPath()) && of.Methods.Protobuf {
		return false
	}
	tagged := t.NumField() == 0
	for f := range t.Fields() {
		if _, _, ok := gotype.ProtobufTag(f); ok {
			tagged = true
		} else if !f.IsExported() || strings.HasPrefix(f.Name, "XXX_") {
			return false
		}
	}
	return tagged
}
