// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"fmt"
	"reflect"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// Decoder decodes values of a Program's type, for one goroutine.
type Decoder struct {
	// Set once at construction.
	program     *Program
	finder      *share.Finder // nil: nothing is shared
	sharesParts bool          // parts are shared, not only strings

	// About the present value; cleared after it.
	in       []byte
	depth    int
	decoding bool
	text     layout.Text
	buf      []byte // an escaped text, unquoted
	base64   []byte // a base64 text, decoded
	word     uint64 // the target of a pointer
	maps     maps
	// of an untyped object
	dropManaged, inMetadata bool
	lastValues              pages[lastValue] // by plan number
	usedValues              []*lastValue     // the used ones of lastValues
	reuseFrom               int              // earlier parts of the input are not reused

	// Learned by the Decoder, by plan number. Allocated when needed.
	objects      pages[memberOrder]
	scratches    pages[layout.Scratch]
	mapScratches pages[mapScratch]
	anyNames     map[string]string // of members of untyped objects
}

// NewDecoder returns a Decoder. With a table its objects share repeated strings. With parts true
// the objects of all Decoders of the table share equal slices, maps and targets of pointers, which
// must then never be changed. With a nil table each object has its own memory, except for the texts
// cached by a resource.Quantity.
func (p *Program) NewDecoder(table *share.Table, parts bool) *Decoder {
	return &Decoder{
		program: p, finder: table.NewFinder(&p.compiler.sites, parts), sharesParts: parts && table != nil,
	}
}

// Decode decodes the JSON object at the start of input, after optional white space, into obj: a
// pointer to a zero value of the Program's type. It returns the number of bytes read. If ok is
// false, obj must be thrown away; the input may be invalid or only unusual.
func (d *Decoder) Decode(input []byte, obj any) (n int, ok bool) {
	v := reflect.ValueOf(obj)
	if v.Type() != d.program.pointer || v.IsNil() {
		panic(fmt.Sprintf("jsondec: decode into a %T by the program of %v", obj, d.program.pointer))
	}
	if d.decoding { // a method of a Go type has panicked
		d.reset()
	}
	d.decoding, d.in, d.depth, d.reuseFrom = true, input, 0, 0
	d.finder.Begin()
	start := d.mark()
	n = -1
	if i := skipSpace(input, 0); i < len(input) && input[i] == '{' {
		n = d.members(d.program.root, i+1, v.UnsafePointer())
	}
	if n < 0 || !d.finish(start) {
		n = -1
		d.reset()
	}
	d.release()
	d.decoding, d.in = false, nil
	return n, n >= 0
}

// Bounds, in bytes and in maps' entries, of the scratch memory kept for the next object.
const (
	maxBuffer  = 64 << 10
	maxEntries = 1 << 11
)

func (d *Decoder) release() {
	if cap(d.buf)+cap(d.base64) > maxBuffer {
		d.buf, d.base64 = nil, nil
	}
	if cap(d.maps.entries) > maxEntries {
		d.maps = maps{}
	}
	for _, p := range d.usedValues {
		*p = lastValue{}
	}
	d.usedValues = d.usedValues[:0]
}

func (d *Decoder) reset() {
	d.text.Drop(layout.TextMark{})
	d.maps = maps{}
	d.release()
	d.scratches, d.mapScratches = nil, nil
}

// value decodes the value at in[i], after optional white space, into p, which must have a zero
// value.
//
// Methods that decode at an index return the index after the value, or -1 if they decline it. The
// index is after the opening quote, brace or bracket for methods of strings, objects and arrays.
func (d *Decoder) value(pl *plan, i int, p layout.Pointer) int {
	in := d.in
	if i >= len(in) {
		return -1
	}
	c := in[i]
	if c <= ' ' {
		if i = skipSpace(in, i); i >= len(in) {
			return -1
		}
		c = in[i]
	}
	if c == 'n' && pl.op != opJSONUnmarshaler {
		// Nullable types are nil already. All others stay unchanged, as in encoding/json.
		if i = literalEnd(in, i, "null"); i < 0 || pl.op == opDecline || pl.op == opDuration {
			return -1
		}
		return i
	}
	switch pl.op {
	case opString:
		if c == '"' {
			return d.string(pl, i+1, p)
		}
	case opName:
		if c == '"' {
			return d.name(pl, i+1, p)
		}
	case opStruct:
		if c == '{' {
			return d.members(pl.object, i+1, p)
		}
	case opTime:
		return d.time(pl, i, p)
	case opBool:
		switch {
		case c == 't':
			*layout.As[bool](p) = true
			return literalEnd(in, i, "true")
		case c == 'f':
			return literalEnd(in, i, "false")
		}
	case opInt64, opInt32, opInt16, opInt8, opUint64, opUint32, opUint16, opUint8:
		return d.integer(pl.op, i, p)
	case opFloat64, opFloat32:
		return d.float(pl.op, i, p)
	case opScalarPointer:
		return d.scalar(pl, i, p)
	case opStringPointer:
		if c == '"' {
			return d.stringPointer(pl, i+1, p)
		}
	case opSlice:
		if c == '[' {
			return d.decodeShared(pl, i, p)
		}
	case opMap:
		if c == '{' {
			return d.decodeShared(pl, i, p)
		}
	case opPointer:
		if c == '{' || c == '[' {
			return d.decodeShared(pl, i, p)
		}
		return d.pointer(pl, i, p)
	case opArray:
		if c == '[' {
			return d.array(pl, i+1, p)
		}
	case opBytes:
		if c == '"' {
			return d.bytes(i+1, p)
		}
	case opAny:
		v, end := d.any(i)
		*layout.As[any](p) = v
		return end
	case opDuration:
		return d.duration(i, p)
	case opQuantity:
		return d.quantity(i, p)
	case opIntOrString:
		return d.intOrString(pl, i, p)
	case opJSONUnmarshaler:
		return d.jsonUnmarshaler(pl, i, p)
	case opTextUnmarshaler:
		return d.textUnmarshaler(pl, i, p)
	case opManagedFields:
		return d.managedFields(i)
	}
	return -1
}
