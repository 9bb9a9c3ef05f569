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
	program   *Program
	predictor *share.Predictor // nil: nothing is shared
	parts     bool             // parts are shared, not only strings

	// Of the value at hand; nothing of it stays.
	in      []byte
	depth   int
	busy    bool
	text    layout.Text
	buf     []byte         // what an escaped text means
	base64  []byte         // what a text in base64 means
	word    uint64         // what a pointer points to
	pointed string         // the same, of strings
	none    layout.Pointer // nothing, as a part
	maps    maps
	before  []part  // by the numbers of nodes
	kept    []*part // those of before that are set
	floor   int     // parts of the input before it are not taken again

	// What is learned on the way, by the numbers of nodes. It is made when it is needed.
	objects      []*memberOrder
	strings      []*recent
	scratches    []*layout.Scratch
	mapScratches []*mapScratch
	quantities   *[quantitiesSize]quantity
	day          day
}

// NewDecoder returns a Decoder. With a table its objects share strings that repeat. With parts true
// the objects of all Decoders of the table share equal slices, maps and what pointers point to, so
// that nobody may ever change them. With a nil table each object has its own memory, but for the
// texts that a resource.Quantity remembers.
func (p *Program) NewDecoder(table *share.Table, parts bool) *Decoder {
	c := p.counts
	return &Decoder{
		day:     day{text: [len(epoch)]byte([]byte(epoch))},
		program: p, predictor: table.NewPredictor(&p.sites, parts), parts: parts && table != nil,
		objects: make([]*memberOrder, c.objects), strings: make([]*recent, c.strings), scratches: make([]*layout.Scratch, c.scratches),
		before:       make([]part, c.parts),
		mapScratches: make([]*mapScratch, c.maps),
	}
}

// Decode decodes the JSON object that input begins with, after white space maybe, into obj: a
// pointer to a zero value of the Program's type. It returns the number of bytes that it has read.
// With ok false obj must be thrown away; input may be invalid or just unusual.
func (d *Decoder) Decode(input []byte, obj any) (n int, ok bool) {
	v := reflect.ValueOf(obj)
	if v.Type() != d.program.pointer || v.IsNil() {
		panic(fmt.Sprintf("jsondec: decode into a %T by the program of %v", obj, d.program.pointer))
	}
	if d.busy { // a method of a type has panicked
		d.forget()
	}
	d.busy, d.in, d.depth, d.floor = true, input, 0, 0
	d.predictor.Begin()
	start := d.mark()
	n = -1
	if i := skipSpace(input, 0); i < len(input) && input[i] == '{' {
		n = d.members(d.program.root.object, i+1, v.UnsafePointer())
	}
	if n < 0 || !d.finish(start) {
		n = -1
		d.forget()
	}
	d.drop()
	d.busy, d.in = false, nil
	return n, n >= 0
}

// maxBuffer, in bytes, and maxEntries, of maps, bound what is kept for the next object.
const (
	maxBuffer  = 64 << 10
	maxEntries = 1 << 11
)

// drop lets go of the object.
func (d *Decoder) drop() {
	if cap(d.buf)+cap(d.base64) > maxBuffer {
		d.buf, d.base64 = nil, nil
	}
	if cap(d.maps.entries) > maxEntries {
		d.maps = maps{}
	}
	for _, p := range d.kept {
		*p = part{}
	}
	d.kept = d.kept[:0]
}

// forget drops what was left behind by a value that was not decoded to its end.
func (d *Decoder) forget() {
	d.text.Drop(layout.TextMark{})
	d.maps = maps{}
	d.drop()
	clear(d.scratches)
	clear(d.mapScratches)
}

// value decodes the value at in[i], or after white space there, into p, where a zero value is. It
// returns the index after it, or -1.
func (d *Decoder) value(n *node, i int, p layout.Pointer) int {
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
	if c == 'n' && n.op != opRaw {
		// What can be null is nil already. Everything else stays as it is, as encoding/json has it.
		if i = literalEnd(in, i, "null"); i < 0 || n.op == opRefuse || n.op == opDuration {
			return -1
		}
		return i
	}
	switch n.op {
	case opString:
		if c == '"' {
			return d.string(n, i+1, p)
		}
	case opName:
		if c == '"' {
			return d.name(n, i+1, p)
		}
	case opStruct:
		if c == '{' {
			return d.members(n.object, i+1, p)
		}
	case opTime:
		return d.time(n, i, p)
	case opBool:
		switch {
		case c == 't':
			*layout.As[bool](p) = true
			return literalEnd(in, i, "true")
		case c == 'f':
			return literalEnd(in, i, "false")
		}
	case opInt64, opInt32, opInt16, opInt8, opUint64, opUint32, opUint16, opUint8:
		return d.integer(n.op, i, p)
	case opFloat64, opFloat32:
		return d.float(n.op, i, p)
	case opScalarPointer:
		return d.scalar(n, i, p)
	case opStringPointer:
		if c == '"' {
			return d.stringPointer(n, i+1, p)
		}
	case opSlice:
		if c == '[' {
			return d.part(n, i, p)
		}
	case opMap:
		if c == '{' {
			return d.part(n, i, p)
		}
	case opPointer:
		if c == '{' || c == '[' {
			return d.part(n, i, p)
		}
		return d.pointer(n, i, p)
	case opArray:
		if c == '[' {
			return d.array(n, i+1, p)
		}
	case opBytes:
		if c == '"' {
			return d.bytes(i+1, p)
		}
	case opAny:
		v, end := d.any(i)
		*layout.As[any](p) = v
		return end
	case opMicroTime:
		return d.microTime(n, i, p)
	case opDuration:
		return d.duration(i, p)
	case opQuantity:
		return d.quantity(n, i, p)
	case opIntOrString:
		return d.intOrString(n, i, p)
	case opRaw:
		return d.raw(n, i, p)
	case opText:
		return d.ownText(n, i, p)
	case opManaged:
		return d.managed(n, i)
	}
	return -1
}
