// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// maxDepth is how deep values may be nested: more than any API type needs, and few enough for a
// stack.
const maxDepth = 1000

// Writer writes objects. It serves one goroutine.
type Writer struct {
	// Set once at construction.
	program *Program

	// met counts, by a hash of the address, how often a value was met in the first pass: never,
	// once, or more often. Each count takes two bits. Two values may have the same hash; then they
	// count as shared.
	met    []uint64
	shift  int
	memory int64 // of the values that were met, in bytes

	// numbers has the numbers of the values that were written and are shared.
	numbers map[identity]uint64
	texts   map[identity]uint64

	buf   []byte
	depth int
	err   error // the first one of an object
}

// identity is what makes two values the same.
type identity struct {
	at     layout.Pointer
	length int
	kind   fieldKind
	of     *form
}

// Bounds of the number of counts in Writer.met, which is a power of two. An object has some 50
// values, so few of them have the hash of another one.
const (
	metPerObject   = 512
	minMet, maxMet = 1 << 14, 1 << 28
	metPerWord     = 32
	wordBits       = 64
)

// NewWriter returns a Writer for about so many objects.
func (p *Program) NewWriter(objects int) *Writer {
	n := minMet
	for n < objects*metPerObject && n < maxMet {
		n *= 2
	}
	return &Writer{
		program: p, met: make([]uint64, n/metPerWord), shift: wordBits - bits.Len(uint(n-1)),
		numbers: map[identity]uint64{}, texts: map[identity]uint64{},
	}
}

// Append is the second pass: it appends an object to dst. It returns an error that names the field
// if a value can't be written. Then the Writer must not be used any more.
func (w *Writer) Append(dst []byte, p layout.Pointer) ([]byte, error) {
	w.buf = dst
	w.value(w.program.root, p)
	dst, w.buf = w.buf, nil
	return dst, w.err
}

// value writes the value at p.
func (w *Writer) value(s *form, p layout.Pointer) {
	if w.depth++; w.depth > maxDepth {
		w.fail(errors.New("values are nested too deep"))
	}
	if w.err == nil {
		if s.single {
			w.field(&s.fields[0], p)
		} else {
			w.fields(s, p)
		}
	}
	w.depth--
}

// fields writes those fields of a struct that are not zero.
func (w *Writer) fields(s *form, p layout.Pointer) {
	last := -1
	for i := range s.fields {
		f := &s.fields[i]
		if at := layout.At(p, f.offset); !f.isZero(at) {
			w.number(uint64(i - last))
			last = i
			w.field(f, at)
		}
	}
	w.number(0)
}

// isZero reports whether the field at p has its zero value.
func (f *field) isZero(p layout.Pointer) bool {
	switch f.kind {
	case boolField:
		return !*layout.As[bool](p)
	case intField, uintField, floatField:
		return readBits(p, f.size) == 0
	case timeField:
		return *layout.As[time.Time](p) == time.Time{}
	case stringField, nameField:
		return len(*layout.As[string](p)) == 0
	case nilField:
		return f.typ.Value(p).IsZero()
	}
	return *layout.As[layout.Pointer](p) == nil // the first word: an address or a type
}

// field writes the field at p.
func (w *Writer) field(f *field, p layout.Pointer) {
	switch f.kind {
	case boolField:
		w.buf = append(w.buf, byte(readBits(p, 1)))
	case intField:
		shift := wordBits - 8*int(f.size)
		w.signed(int64(readBits(p, f.size)<<shift) >> shift)
	case uintField:
		w.number(readBits(p, f.size))
	case floatField:
		w.buf = binary.LittleEndian.AppendUint64(w.buf, readBits(p, f.size))[:len(w.buf)+int(f.size)]
	case timeField:
		w.time(*layout.As[time.Time](p))
	case stringField, nameField:
		w.text(*layout.As[string](p))
	case anyField:
		w.any(p)
	case nilField:
		if !f.isZero(p) {
			w.fail(fmt.Errorf("%s has a %v, which can't be written", f.path, f.typ.Reflect()))
		}
	default:
		w.reference(f, p)
	}
}

func (w *Writer) number(n uint64) { w.buf = binary.AppendUvarint(w.buf, n) }
func (w *Writer) signed(n int64)  { w.buf = binary.AppendVarint(w.buf, n) }

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
