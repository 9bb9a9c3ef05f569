// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// ErrDamaged is returned by [Reader.Read] for bytes that no [Writer] has written.
var ErrDamaged = errors.New("the bytes are no object of this type")

// Reader reads objects. It serves one goroutine.
//
// The memory that it takes is in proportion to the bytes that it reads, whatever they are: a number
// of elements is believed only if at least as many bytes follow.
type Reader struct {
	// Set once at construction.
	program *Program

	in    []byte
	at    int  // in in; a number, since moving a slice costs a write barrier
	bad   bool // in can't be read; the rest of it is dropped
	depth int
	text  layout.Text // of the value that is read, up to the next one that is shared

	// The values that are shared, by number.
	texts  []string
	values []shared

	entries [][2]*layout.Scratch // keys and values of maps, by map number
	makers  []*layout.Maker      // by form number
}

// NewReader returns a Reader for what one Writer has written.
func (p *Program) NewReader() *Reader {
	return &Reader{program: p, entries: make([][2]*layout.Scratch, p.maps), makers: make([]*layout.Maker, p.forms)}
}

// Read reads an object from the beginning of in, which it doesn't keep. It returns a pointer to a
// new object of the Program's type, and the bytes after it. After an error the Reader must not be
// used any more.
func (r *Reader) Read(in []byte) (object layout.Pointer, rest []byte, err error) {
	r.in, r.at = in, 0
	object = r.maker(r.program.root).New()
	r.value(r.program.root, object)
	r.text.Set(layout.TextMark{})
	rest, r.in = in[r.at:], nil
	if r.bad {
		return nil, nil, ErrDamaged
	}
	return object, rest, nil
}

// maker returns what allocates values of a form.
func (r *Reader) maker(s *form) *layout.Maker {
	m := r.makers[s.number]
	if m == nil {
		m = s.typ.NewMaker()
		r.makers[s.number] = m
	}
	return m
}

// fail ends the reading: what follows reads zeros.
func (r *Reader) fail() { r.bad, r.at = true, len(r.in) }

// number reads an unsigned varint.
func (r *Reader) number() uint64 {
	if at := r.at; at < len(r.in) {
		if b := r.in[at]; b < 0x80 {
			r.at = at + 1
			return uint64(b)
		}
	}
	return r.longNumber()
}

// longNumber is number without the case of one byte, so that this one is compiled into its callers.
func (r *Reader) longNumber() uint64 {
	n, size := binary.Uvarint(r.in[r.at:])
	if size <= 0 {
		r.fail()
		return 0
	}
	r.at += size
	return n
}

// signed reads a signed varint.
func (r *Reader) signed() int64 {
	n := r.number()
	return int64(n>>1) ^ -int64(n&1)
}

// length reads the number of elements or bytes that follow, of which each takes at least a byte.
func (r *Reader) length() int {
	n := r.number()
	if n > uint64(len(r.in)-r.at) {
		r.fail()
		return 0
	}
	return int(n)
}

// take returns the next n bytes; fewer if there are no more.
func (r *Reader) take(n uint64) []byte {
	if n > uint64(len(r.in)-r.at) {
		r.fail()
		return nil
	}
	r.at += int(n)
	return r.in[r.at-int(n) : r.at]
}

// value reads a value into zero memory of the heap at p.
func (r *Reader) value(s *form, p layout.Pointer) {
	if s.single {
		r.field(&s.fields[0], p)
		return
	}
	for at := -1; ; {
		distance := r.number()
		if distance == 0 {
			return
		}
		if distance >= uint64(len(s.fields)-at) {
			r.fail()
			return
		}
		at += int(distance)
		f := &s.fields[at]
		r.field(f, layout.At(p, f.offset))
	}
}

// field reads the field at p.
func (r *Reader) field(f *field, p layout.Pointer) {
	switch f.kind {
	case stringField:
		r.string(p)
	case nameField:
		if text, b := r.anyText(); b != nil {
			*layout.As[string](p) = string(b)
		} else {
			*layout.As[string](p) = text
		}
	case boolField:
		if b := r.take(1); len(b) == 1 {
			*layout.As[bool](p) = b[0] != 0
		}
	case intField:
		writeBits(p, f.size, uint64(r.signed()))
	case uintField:
		writeBits(p, f.size, r.number())
	case floatField:
		var word [8]byte
		copy(word[:], r.take(uint64(f.size)))
		writeBits(p, f.size, binary.LittleEndian.Uint64(word[:]))
	case timeField:
		*layout.As[time.Time](p) = r.time()
	case anyField:
		r.any(p)
	case nilField:
	default:
		r.reference(f, p)
	}
}
