// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/informer-gen/informer-gen/runtime/internal/dropped"
	"github.com/informer-gen/informer-gen/runtime/internal/gotype"
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

type op uint8

const (
	opDecline op = iota // declined: the type is unusual
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
	opDuration
	opQuantity
	opIntOrString
	opJSONUnmarshaler // by the type's UnmarshalJSON
	opTextUnmarshaler // by the type's UnmarshalText
	opManagedFields   // dropped managed fields
)

// plan describes how to read one field, element or key. A Pod has a thousand plans, so they are
// small.
type plan struct {
	op      op
	number  uint32 // index in the Decoder's learned list for the op
	scratch uint32 // of a slice or map
	site    uint32 // site of the table, for strings and values that may be shared
	length  int    // of an array

	typ    *layout.Type
	elem   *plan // of a pointer, slice, array or map
	key    *plan // of a map
	object *object
	drop   map[string]bool // omitted keys of a map
}

// object describes how to read the members of a struct. All plans of the type share one.
type object struct {
	// Set once at construction.
	number uint32
	typ    *gotype.Type
	drop   *dropped.Parts // left out of an API object, or of its metadata; may be nil

	once    sync.Once
	members []member // set once, like byName; too many of them are refused
	byName  map[string]uint16
}

type member struct {
	prefix memberPrefix
	offset uintptr
	plan   *plan
	outer  *embeddedPointer // the embedded pointer that leads to the field, or nil
}

type embeddedPointer struct {
	outer  *embeddedPointer // the pointer that leads to it, or nil
	offset uintptr          // of the pointer
	typ    *layout.Type
}

// compiler makes the plans of types. It compiles each struct at the first JSON object with its
// members: most objects have few of the structs of their types. It is safe for concurrent use.
type compiler struct {
	sites share.Sites

	objects  sync.Map // *object by *gotype.Type
	metadata sync.Map // *object of metadata with dropped parts, by metadataKey

	// the lengths of a Decoder's lists
	counts struct{ objects, scratches, maps, parts atomic.Uint32 }
}

var processCompiler compiler

var knownOps = map[gotype.Known]op{
	gotype.Time: opTime, gotype.Duration: opDuration, gotype.Quantity: opQuantity,
	gotype.IntOrString: opIntOrString, gotype.Number: opDecline,
}

var kindOps = [...]op{
	reflect.Bool: opBool, reflect.String: opString,
	reflect.Int: opInt, reflect.Int8: opInt8, reflect.Int16: opInt16, reflect.Int32: opInt32, reflect.Int64: opInt64,
	reflect.Uint: opUint, reflect.Uint8: opUint8, reflect.Uint16: opUint16, reflect.Uint32: opUint32, reflect.Uint64: opUint64, reflect.Uintptr: opUint,
	reflect.Float32: opFloat32, reflect.Float64: opFloat64,
	reflect.Struct: opStruct, reflect.Pointer: opPointer, reflect.Slice: opSlice, reflect.Array: opArray, reflect.Map: opMap,
	reflect.Interface: opAny,
	reflect.Chan:      opDecline, reflect.Func: opDecline, reflect.Complex64: opDecline, reflect.Complex128: opDecline,
	reflect.UnsafePointer: opDecline,
}

var opInt, opUint = func() (op, op) {
	if reflect.TypeFor[int]().Size() == 4 {
		return opInt32, opUint32
	}
	return opInt64, opUint64
}()

func (c *compiler) plan(of *gotype.Type) *plan {
	t := of.Go
	pl := &plan{op: kindOps[t.Kind()], typ: of.Memory}
	switch op, known := knownOps[of.Known]; {
	case known:
		pl.op = op
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface:
		// encoding/json calls methods on the address of a value, if its type has a name.
	case (of.Methods.JSON || of.Methods.Text) && t.Name() == "":
		pl.op = opDecline
	case of.Methods.JSON:
		pl.op = opJSONUnmarshaler
	case of.Methods.Text:
		pl.op = opTextUnmarshaler
	}
	if pl.op >= opPointer && pl.op <= opMap && isEndless(t) {
		pl.op = opDecline
	}
	switch pl.op {
	case opString, opIntOrString:
		c.text(pl)
	case opStruct:
		pl.object = c.object(of)
	case opPointer:
		pl.elem = c.plan(of.Elem())
		switch op := pl.elem.op; {
		case op >= opBool && op <= opUint64, op == opDuration:
			pl.op = opScalarPointer
		case op == opString:
			pl.op = opStringPointer
		default:
			pl.number, pl.site = numberOf(&c.counts.parts), c.site(share.Reference, t)
		}
	case opSlice:
		if t.Elem().Kind() == reflect.Uint8 {
			pl.op = opBytes
			break
		}
		pl.elem = c.plan(of.Elem())
		pl.scratch = numberOf(&c.counts.scratches)
		pl.number, pl.site = numberOf(&c.counts.parts), c.site(share.Slice, t)
	case opArray:
		pl.elem, pl.length = c.plan(of.Elem()), t.Len()
	case opMap:
		c.mapPlan(pl, of)
	case opAny:
		if t.NumMethod() > 0 {
			pl.op = opDecline
		}
	}
	return pl
}

// isEndless reports whether the elements of a type lead back to a type without a struct between, as
// in type T []T.
func isEndless(t reflect.Type) bool {
	var names []reflect.Type // only a type with a name can refer to itself
	for {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		default:
			return false
		}
		if t.Name() != "" {
			if slices.Contains(names, t) {
				return true
			}
			names = append(names, t)
		}
		t = t.Elem()
	}
}

func numberOf(n *atomic.Uint32) uint32 { return n.Add(1) - 1 }

func (c *compiler) site(form share.Form, t reflect.Type) uint32 { return uint32(c.sites.Add(form, t)) }

func (c *compiler) text(pl *plan) { pl.site = c.site(share.String, nil) }

func (c *compiler) mapPlan(pl *plan, of *gotype.Type) {
	key := gotype.Of(of.Go.Key())
	switch kind := key.Kind(); {
	case key.Methods.JSON:
		pl.op = opDecline // encoding/json calls this method, with the key in quotes
		return
	case key.Methods.Text:
		pl.key = &plan{op: opTextUnmarshaler, typ: key.Memory}
	case kind == reflect.String, kind >= reflect.Int && kind <= reflect.Uintptr:
		pl.key = &plan{op: kindOps[kind], typ: key.Memory}
		if kind == reflect.String {
			c.text(pl.key)
		}
	default:
		pl.op = opDecline
		return
	}
	pl.elem = c.plan(of.Elem())
	pl.scratch = numberOf(&c.counts.maps)
	pl.number, pl.site = numberOf(&c.counts.parts), c.site(share.Reference, of.Go)
}

// object returns the object of a struct type, always the same one.
func (c *compiler) object(t *gotype.Type) *object {
	o, ok := c.objects.Load(t)
	if !ok {
		o, _ = c.objects.LoadOrStore(t, &object{number: numberOf(&c.counts.objects), typ: t})
	}
	return o.(*object)
}

type metadataKey struct {
	typ     *gotype.Type
	dropped string
}

func (c *compiler) metadataWithout(t *gotype.Type, drop *dropped.Parts) *object {
	key := metadataKey{t, drop.String()}
	o, ok := c.metadata.Load(key)
	if !ok {
		o, _ = c.metadata.LoadOrStore(key, &object{number: numberOf(&c.counts.objects), typ: t, drop: drop})
	}
	return o.(*object)
}

func (c *compiler) compile(o *object) {
	o.once.Do(func() {
		o.byName = map[string]uint16{}
		for i, f := range o.typ.JSON() {
			o.members = append(o.members, c.member(o, f))
			o.byName[f.Name] = uint16(i)
		}
	})
}

const maxMembers = 256

func (c *compiler) member(o *object, f gotype.JSONField) member {
	m := member{prefix: newMemberPrefix(f.Name), plan: c.memberPlan(o, f)}
	at := o.typ.Go
	for i, index := range f.Index {
		sf := at.Field(index)
		m.offset += sf.Offset
		if at = sf.Type; i < len(f.Index)-1 && at.Kind() == reflect.Pointer {
			at = at.Elem()
			m.outer = &embeddedPointer{m.outer, m.offset, layout.TypeOf(at)}
			m.offset = 0
			if !sf.IsExported() {
				m.plan = &plan{op: opDecline} // encoding/json can't set the pointer
			}
		}
	}
	if f.Quoted || !isPlain(f.Name) {
		m.plan = &plan{op: opDecline}
	}
	return m
}

func (c *compiler) memberPlan(o *object, f gotype.JSONField) *plan {
	isMetadata := gotype.IsMetadata(o.typ.Go)
	switch {
	case o.drop != nil && !isMetadata && f.Name == "metadata" && gotype.IsMetadata(f.Type):
		return &plan{op: opStruct, typ: layout.TypeOf(f.Type), object: c.metadataWithout(gotype.Of(f.Type), o.drop)}
	case o.drop != nil && isMetadata && f.Name == "managedFields" && o.drop.ManagedFields:
		return &plan{op: opManagedFields, typ: layout.TypeOf(f.Type)}
	}
	pl := c.plan(gotype.Of(f.Type))
	switch {
	case !isMetadata:
	case pl.op == opString && (f.Name == "name" || f.Name == "namespace"):
		pl.op = opName
	case f.Name == "annotations" && o.drop != nil:
		pl.drop = o.drop.Annotations
	}
	return pl
}

func isPlain(name string) bool { return plainEnd([]byte(name), 0) == len(name) }

func (c *compiler) program(t reflect.Type, drop dropped.Parts) (*Program, error) {
	root, err := c.root(t, drop)
	if err != nil {
		return nil, fmt.Errorf("can't compile a decoder: %w", err)
	}
	return &Program{compiler: c, root: root, pointer: reflect.PointerTo(t), loose: gotype.IsProjection(t)}, nil
}

func (c *compiler) root(t reflect.Type, drop dropped.Parts) (*object, error) {
	of := gotype.Of(t)
	pl := c.plan(of)
	if pl.op != opStruct {
		return nil, fmt.Errorf("%v is not a struct, or has its own decoding methods", t)
	}
	o := pl.object
	if !drop.None() {
		o = &object{number: numberOf(&c.counts.objects), typ: of, drop: &drop}
	}
	c.compile(o)
	if len(o.members) > maxMembers {
		return nil, fmt.Errorf("%v has too many fields", t)
	}
	hasMetadata := slices.ContainsFunc(o.members, func(m member) bool {
		return m.prefix.name() == "metadata" && m.plan.op == opStruct && gotype.IsMetadata(m.plan.object.typ.Go)
	})
	if !drop.None() && !hasMetadata {
		return nil, fmt.Errorf("%v has no metadata to drop parts of", t)
	}
	return o, nil
}
