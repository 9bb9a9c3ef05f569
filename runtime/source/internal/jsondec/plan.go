// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
	"github.com/informer-gen/informer-gen/runtime/source/internal/dropped"
)

// op is the way in which a value of a node's type is read.
type op uint8

const (
	opRefuse op = iota // declined: the type is unusual
	opString
	opName // a string that programs often keep longer than its object
	opBool
	opInt8
	opInt16
	opInt32
	opInt64
	opUint8
	opUint16
	opUint32
	opUint64
	opFloat32
	opFloat64
	opStruct
	opPointer
	opScalarPointer // to a boolean, an integer or a duration
	opStringPointer
	opSlice
	opBytes
	opArray
	opMap
	opAny
	opTime
	opMicroTime
	opDuration
	opQuantity
	opIntOrString
	opRaw     // by the type's UnmarshalJSON
	opText    // by the type's UnmarshalText
	opManaged // managed fields that are dropped
)

// node describes how to read the values of one field, element or key. A Pod has a thousand nodes,
// so they are small.
type node struct {
	op      op
	number  uint16 // index in the Decoder's list of what it has learned, for the op
	scratch uint16 // of a slice or map
	site    uint16 // site of the table, for strings and values that may be shared
	length  int    // of an array

	typ    *layout.Type
	elem   *node // of a pointer, slice, array or map
	key    *node // of a map
	object *object
	drop   map[string]bool // keys of a map that are not kept
}

// object describes how to read the members of a struct. All nodes of the type use the same one.
type object struct {
	number  uint16
	members []member
	names   names
}

type member struct {
	start  start
	offset uintptr
	node   *node
	outer  *outer // the embedded pointer that leads to the field, or nil
}

// outer is an embedded pointer to a struct.
type outer struct {
	outer  *outer  // the pointer that leads to it, or nil
	offset uintptr // of the pointer
	typ    *layout.Type
}

// compiler makes the nodes of a type.
type compiler struct {
	drop    dropped.Parts
	sites   share.Sites
	objects map[reflect.Type]*object
	types   map[reflect.Type]*layout.Type
	counts  counts
	many    bool // the type has too many nodes for a number
}

// counts are the lengths of a Decoder's lists.
type counts struct{ objects, strings, scratches, maps, parts uint16 }

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// knownTypes have decoding methods of their own, which this package doesn't need.
var knownTypes = map[reflect.Type]op{
	reflect.TypeFor[metav1.Time]():        opTime,
	reflect.TypeFor[metav1.MicroTime]():   opMicroTime,
	reflect.TypeFor[metav1.Duration]():    opDuration,
	reflect.TypeFor[resource.Quantity]():  opQuantity,
	reflect.TypeFor[intstr.IntOrString](): opIntOrString,
}

var kindOps = [...]op{
	reflect.Bool: opBool, reflect.String: opString,
	reflect.Int: opInt, reflect.Int8: opInt8, reflect.Int16: opInt16, reflect.Int32: opInt32, reflect.Int64: opInt64,
	reflect.Uint: opUint, reflect.Uint8: opUint8, reflect.Uint16: opUint16, reflect.Uint32: opUint32, reflect.Uint64: opUint64, reflect.Uintptr: opUint,
	reflect.Float32: opFloat32, reflect.Float64: opFloat64,
	reflect.Struct: opStruct, reflect.Pointer: opPointer, reflect.Slice: opSlice, reflect.Array: opArray, reflect.Map: opMap,
	reflect.Interface: opAny,
	reflect.Chan:      opRefuse, reflect.Func: opRefuse, reflect.Complex64: opRefuse, reflect.Complex128: opRefuse,
	reflect.UnsafePointer: opRefuse,
}

// opInt and opUint are the ops of int and uint, which have the size of a pointer.
var opInt, opUint = func() (op, op) {
	if reflect.TypeFor[int]().Size() == 4 {
		return opInt32, opUint32
	}
	return opInt64, opUint64
}()

// node makes a node of a type.
func (c *compiler) node(t reflect.Type) *node {
	n := &node{op: kindOps[t.Kind()], typ: c.typ(t)}
	// encoding/json calls methods on the address of a value, if its type has a name.
	if p := reflect.PointerTo(t); t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		own := p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)
		switch op, ok := knownTypes[t]; {
		case ok:
			n.op = op
		case own && t.Name() == "", t == reflect.TypeFor[json.Number]():
			n.op = opRefuse
		case p.Implements(jsonUnmarshaler):
			n.op = opRaw
		case own:
			n.op = opText
		}
	}
	switch n.op {
	case opString:
		c.text(n)
	case opIntOrString:
		c.text(n)
	case opStruct:
		n.object = c.object(t)
	case opPointer:
		n.elem = c.node(t.Elem())
		switch op := n.elem.op; {
		case op >= opBool && op <= opUint64, op == opDuration:
			n.op = opScalarPointer
		case op == opString:
			n.op = opStringPointer
		default:
			n.number, n.site = c.number(&c.counts.parts), c.site(share.Reference, t)
		}
	case opSlice:
		if t.Elem().Kind() == reflect.Uint8 {
			n.op = opBytes
			break
		}
		n.elem = c.node(t.Elem())
		n.scratch = c.number(&c.counts.scratches)
		n.number, n.site = c.number(&c.counts.parts), c.site(share.Slice, t)
	case opArray:
		n.elem, n.length = c.node(t.Elem()), t.Len()
	case opMap:
		c.mapNode(n, t)
	case opAny:
		if t.NumMethod() > 0 {
			n.op = opRefuse
		}
	}
	return n
}

// number returns the next number of a count.
func (c *compiler) number(n *uint16) uint16 {
	*n++
	c.many = c.many || *n == 0
	return *n - 1
}

// site adds a site of fields of a type.
func (c *compiler) site(form share.Form, t reflect.Type) uint16 {
	n := c.sites.Add(form, t)
	c.many = c.many || n > math.MaxUint16
	return uint16(n)
}

// typ returns the layout.Type of a type, always the same one.
func (c *compiler) typ(t reflect.Type) *layout.Type {
	typ := c.types[t]
	if typ == nil {
		typ = layout.NewType(t)
		c.types[t] = typ
	}
	return typ
}

// text prepares the node of a string.
func (c *compiler) text(n *node) {
	n.number, n.site = c.number(&c.counts.strings), c.site(share.String, nil)
}

func (c *compiler) mapNode(n *node, t reflect.Type) {
	switch kind := t.Key().Kind(); {
	case reflect.PointerTo(t.Key()).Implements(jsonUnmarshaler):
		n.op = opRefuse // encoding/json calls this method, with the key in quotes
		return
	case reflect.PointerTo(t.Key()).Implements(textUnmarshaler):
		n.key = &node{op: opText, typ: c.typ(t.Key())}
	case kind == reflect.String, kind >= reflect.Int && kind <= reflect.Uintptr:
		n.key = &node{op: kindOps[kind], typ: c.typ(t.Key())}
		if kind == reflect.String {
			c.text(n.key)
		}
	default:
		n.op = opRefuse
		return
	}
	n.elem = c.node(t.Elem())
	n.scratch = c.number(&c.counts.maps)
	n.number, n.site = c.number(&c.counts.parts), c.site(share.Reference, t)
}

// object returns the object of a struct type.
func (c *compiler) object(t reflect.Type) *object {
	if o := c.objects[t]; o != nil {
		return o
	}
	o := &object{}
	c.objects[t] = o // the type may contain itself
	c.members(o, t, func(f goField) *node { return c.node(f.typ) })
	return o
}

func (c *compiler) members(o *object, t reflect.Type, nodeOf func(goField) *node) {
	o.number = c.number(&c.counts.objects)
	for _, f := range fieldsOf(t) {
		m := member{start: newStart(f.name), node: nodeOf(f)}
		if t == reflect.TypeFor[metav1.ObjectMeta]() && (f.name == "name" || f.name == "namespace") {
			m.node.op = opName
		}
		at := t
		for i, index := range f.index {
			sf := at.Field(index)
			m.offset += sf.Offset
			if at = sf.Type; i < len(f.index)-1 && at.Kind() == reflect.Pointer {
				at = at.Elem()
				m.outer = &outer{m.outer, m.offset, c.typ(at)}
				m.offset = 0
				if !sf.IsExported() {
					m.node = &node{op: opRefuse} // encoding/json can't set the pointer
				}
			}
		}
		if f.quoted || !plain(f.name) {
			m.node = &node{op: opRefuse}
		}
		o.members = append(o.members, m)
	}
	c.many = c.many || len(o.members) > maxMembers
	o.names = newNames(o.members)
}

// maxMembers bounds the members of a struct.
const maxMembers = 256

// plain reports whether a name needs no escapes in JSON.
func plain(name string) bool { return plainEnd([]byte(name), 0) == len(name) }

// root makes the node of an API object, with what is dropped.
func (c *compiler) root(t reflect.Type) (*node, error) {
	n := c.node(t)
	if n.op != opStruct {
		return nil, fmt.Errorf("%v is not a struct, or has methods of its own to decode it", t)
	}
	if !c.drop.ManagedFields && len(c.drop.Annotations) == 0 {
		return n, nil
	}
	o := *n.object
	o.members = nil
	hasMetadata := false
	c.members(&o, t, func(f goField) *node {
		if f.name == "metadata" && f.typ == reflect.TypeFor[metav1.ObjectMeta]() {
			hasMetadata = true
			return c.metadata()
		}
		return c.node(f.typ)
	})
	if !hasMetadata {
		return nil, fmt.Errorf("%v has no metadata of which something could be dropped", t)
	}
	n.object = &o
	return n, nil
}

// metadata makes the node of an object's own metadata.
func (c *compiler) metadata() *node {
	t := reflect.TypeFor[metav1.ObjectMeta]()
	o := &object{}
	c.members(o, t, func(f goField) *node {
		n := c.node(f.typ)
		switch f.name {
		case "managedFields":
			if c.drop.ManagedFields {
				n = &node{op: opManaged, typ: n.typ, site: c.site(share.Reference, nil)}
				for range managedSites - 1 {
					c.site(share.Reference, nil)
				}
			}
		case "annotations":
			n.drop = c.drop.Annotations
		}
		return n
	})
	return &node{op: opStruct, typ: c.typ(t), object: o}
}
