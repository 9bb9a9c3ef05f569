// SPDX-License-Identifier: Apache-2.0

// Package gotype describes Go types to the packages that read and write values of types that are
// known only at run time: which types have a meaning of their own, which have methods to decode
// them, which fields they have in JSON and in protobuf, where they refer to other memory, and which
// hold the metadata of API objects. Each type is described once in the process.
//
//	Of(t) ─▶ Type ─▶ JSON      fields by name           ─▶ jsondec
//	                 Protobuf  fields by number         ─▶ protodec
//	                 Leaves    fields by their place    ─▶ share, adopt
package gotype

import (
	"encoding"
	"encoding/json"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Known is a type with a meaning of its own. The zero value is any other type.
type Known uint8

// The types that are known.
const (
	GoTime Known = iota + 1 // time.Time
	Time                    // metav1.Time
	MicroTime
	Duration
	Quantity
	IntOrString
	Number // json.Number
)

var known = map[reflect.Type]Known{
	reflect.TypeFor[time.Time]():          GoTime,
	reflect.TypeFor[metav1.Time]():        Time,
	reflect.TypeFor[metav1.MicroTime]():   MicroTime,
	reflect.TypeFor[metav1.Duration]():    Duration,
	reflect.TypeFor[resource.Quantity]():  Quantity,
	reflect.TypeFor[intstr.IntOrString](): IntOrString,
	reflect.TypeFor[json.Number]():        Number,
}

// Type describes a Go type. It is safe for concurrent use.
type Type struct {
	// Set once at construction.
	Go     reflect.Type
	Memory *layout.Type
	Known  Known
	// Methods are the methods that decode a value, on its address.
	Methods Methods

	json   func() []JSONField
	leaves func() []Leaf
}

// Methods is a set of decoding methods.
type Methods struct {
	JSON     bool // UnmarshalJSON
	Text     bool // UnmarshalText
	Protobuf bool // Unmarshal, as Kubernetes generates it
}

// types are the types that were described, *Type by reflect.Type.
var types sync.Map

var (
	jsonUnmarshaler     = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler     = reflect.TypeFor[encoding.TextUnmarshaler]()
	protobufUnmarshaler = reflect.TypeFor[interface{ Unmarshal([]byte) error }]()
)

// Of returns the description of a type, always the same one. It looks at the type's fields only
// when they are asked for.
func Of(t reflect.Type) *Type {
	if known, ok := types.Load(t); ok {
		return known.(*Type)
	}
	p := reflect.PointerTo(t)
	made := &Type{
		Go: t, Memory: layout.TypeOf(t), Known: known[t],
		Methods: Methods{p.Implements(jsonUnmarshaler), p.Implements(textUnmarshaler), p.Implements(protobufUnmarshaler)},
	}
	made.json = sync.OnceValue(func() []JSONField { return jsonFields(t) })
	made.leaves = sync.OnceValue(func() []Leaf { return appendLeaves(nil, t, 0, Leaf{}) })
	actual, _ := types.LoadOrStore(t, made)
	return actual.(*Type)
}

// Kind returns the kind of the type.
func (t *Type) Kind() reflect.Kind { return t.Go.Kind() }

// Elem describes what a pointer, a slice, an array or a map has as its target, elements or values.
func (t *Type) Elem() *Type { return Of(t.Go.Elem()) }

// JSON returns the fields that encoding/json finds in a struct, in their order in the type: of
// several fields of one name the least deeply embedded counts, of those the one with a tag; if that
// leaves several, none counts. They must not be changed.
func (t *Type) JSON() []JSONField { return t.json() }

// Leaves returns the fields of a value that are no structs, in the order of the memory, with those
// of structs in it. A value that is no struct is its own leaf. They must not be changed.
func (t *Type) Leaves() []Leaf { return t.leaves() }
