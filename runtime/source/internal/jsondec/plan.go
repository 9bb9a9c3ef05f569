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

// op is the way in which values are read.
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

// plan describes how to read the values of one field, element or key. A Pod has a thousand plans,
// so they are small.
type plan struct {
	op      op
	number  uint16 // index in the Decoder's list of what it has learned, for the op
	scratch uint16 // of a slice or map
	site    uint16 // site of the table, for strings and values that may be shared
	length  int    // of an array

	typ    *layout.Type
	elem   *plan // of a pointer, slice, array or map
	key    *plan // of a map
	object *object
	drop   map[string]bool // keys of a map that are not kept
}

// object describes how to read the members of a struct. All plans of the type use the same one.
type object struct {
	number  uint16
	members []member
	names   names
}

type member struct {
	start  start
	offset uintptr
	plan   *plan
	outer  *outer // the embedded pointer that leads to the field, or nil
}

// outer is an embedded pointer to a struct.
type outer struct {
	outer  *outer  // the pointer that leads to it, or nil
	offset uintptr // of the pointer
	typ    *layout.Type
}

// compiler makes the plans of a type.
type compiler struct {
	drop    dropped.Parts
	sites   share.Sites
	objects map[reflect.Type]*object
	types   map[reflect.Type]*layout.Type
	counts  counts
	many    bool // the type has too many plans for a number
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

// plan makes a plan of a type.
func (c *compiler) plan(t reflect.Type) *plan {
	pl := &plan{op: kindOps[t.Kind()], typ: c.typ(t)}
	// encoding/json calls methods on the address of a value, if its type has a name.
	if p := reflect.PointerTo(t); t.Kind() != reflect.Pointer && t.Kind() != reflect.Interface {
		own := p.Implements(jsonUnmarshaler) || p.Implements(textUnmarshaler)
		switch op, ok := knownTypes[t]; {
		case ok:
			pl.op = op
		case own && t.Name() == "", t == reflect.TypeFor[json.Number]():
			pl.op = opRefuse
		case p.Implements(jsonUnmarshaler):
			pl.op = opRaw
		case own:
			pl.op = opText
		}
	}
	switch pl.op {
	case opString:
		c.text(pl)
	case opIntOrString:
		c.text(pl)
	case opStruct:
		pl.object = c.object(t)
	case opPointer:
		pl.elem = c.plan(t.Elem())
		switch op := pl.elem.op; {
		case op >= opBool && op <= opUint64, op == opDuration:
			pl.op = opScalarPointer
		case op == opString:
			pl.op = opStringPointer
		default:
			pl.number, pl.site = c.number(&c.counts.parts), c.site(share.Reference, t)
		}
	case opSlice:
		if t.Elem().Kind() == reflect.Uint8 {
			pl.op = opBytes
			break
		}
		pl.elem = c.plan(t.Elem())
		pl.scratch = c.number(&c.counts.scratches)
		pl.number, pl.site = c.number(&c.counts.parts), c.site(share.Slice, t)
	case opArray:
		pl.elem, pl.length = c.plan(t.Elem()), t.Len()
	case opMap:
		c.mapPlan(pl, t)
	case opAny:
		if t.NumMethod() > 0 {
			pl.op = opRefuse
		}
	}
	return pl
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

// text prepares the plan of a string.
func (c *compiler) text(pl *plan) {
	pl.number, pl.site = c.number(&c.counts.strings), c.site(share.String, nil)
}

func (c *compiler) mapPlan(pl *plan, t reflect.Type) {
	switch kind := t.Key().Kind(); {
	case reflect.PointerTo(t.Key()).Implements(jsonUnmarshaler):
		pl.op = opRefuse // encoding/json calls this method, with the key in quotes
		return
	case reflect.PointerTo(t.Key()).Implements(textUnmarshaler):
		pl.key = &plan{op: opText, typ: c.typ(t.Key())}
	case kind == reflect.String, kind >= reflect.Int && kind <= reflect.Uintptr:
		pl.key = &plan{op: kindOps[kind], typ: c.typ(t.Key())}
		if kind == reflect.String {
			c.text(pl.key)
		}
	default:
		pl.op = opRefuse
		return
	}
	pl.elem = c.plan(t.Elem())
	pl.scratch = c.number(&c.counts.maps)
	pl.number, pl.site = c.number(&c.counts.parts), c.site(share.Reference, t)
}

// object returns the object of a struct type.
func (c *compiler) object(t reflect.Type) *object {
	if o := c.objects[t]; o != nil {
		return o
	}
	o := &object{}
	c.objects[t] = o // the type may contain itself
	c.members(o, t, func(f goField) *plan { return c.plan(f.typ) })
	return o
}

func (c *compiler) members(o *object, t reflect.Type, planOf func(goField) *plan) {
	o.number = c.number(&c.counts.objects)
	for _, f := range fieldsOf(t) {
		m := member{start: newStart(f.name), plan: planOf(f)}
		if t == reflect.TypeFor[metav1.ObjectMeta]() && (f.name == "name" || f.name == "namespace") {
			m.plan.op = opName
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
					m.plan = &plan{op: opRefuse} // encoding/json can't set the pointer
				}
			}
		}
		if f.quoted || !plain(f.name) {
			m.plan = &plan{op: opRefuse}
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

// root makes the plan of an API object, with what is dropped.
func (c *compiler) root(t reflect.Type) (*plan, error) {
	pl := c.plan(t)
	if pl.op != opStruct {
		return nil, fmt.Errorf("%v is not a struct, or has methods of its own to decode it", t)
	}
	if !c.drop.ManagedFields && len(c.drop.Annotations) == 0 {
		return pl, nil
	}
	o := *pl.object
	o.members = nil
	hasMetadata := false
	c.members(&o, t, func(f goField) *plan {
		if f.name == "metadata" && f.typ == reflect.TypeFor[metav1.ObjectMeta]() {
			hasMetadata = true
			return c.metadata()
		}
		return c.plan(f.typ)
	})
	if !hasMetadata {
		return nil, fmt.Errorf("%v has no metadata of which something could be dropped", t)
	}
	pl.object = &o
	return pl, nil
}

// metadata makes the plan of an object's own metadata.
func (c *compiler) metadata() *plan {
	t := reflect.TypeFor[metav1.ObjectMeta]()
	o := &object{}
	c.members(o, t, func(f goField) *plan {
		pl := c.plan(f.typ)
		switch f.name {
		case "managedFields":
			if c.drop.ManagedFields {
				pl = &plan{op: opManaged, typ: pl.typ, site: c.site(share.Reference, nil)}
				for range managedSites - 1 {
					c.site(share.Reference, nil)
				}
			}
		case "annotations":
			pl.drop = c.drop.Annotations
		}
		return pl
	})
	return &plan{op: opStruct, typ: c.typ(t), object: o}
}
