// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// writeBits sets the number of so many bytes at p.
func writeBits(p layout.Pointer, size uint8, n uint64) {
	switch size {
	case 1:
		*layout.As[uint8](p) = uint8(n)
	case 2:
		*layout.As[uint16](p) = uint16(n)
	case 4:
		*layout.As[uint32](p) = uint32(n)
	case 8:
		*layout.As[uint64](p) = n
	}
}

func (r *Reader) time() time.Time {
	zone, seconds, nanos := r.number(), r.signed(), r.number()
	if nanos >= uint64(time.Second) {
		r.fail()
	}
	t := time.Unix(seconds, int64(nanos))
	switch zone {
	case zoneUTC:
		return t.UTC()
	case zoneLocal:
		return t
	}
	name, b := r.anyText()
	if b != nil {
		name = string(b)
	}
	return t.In(time.FixedZone(name, int(r.signed())))
}

// anyText reads a string: one that has a number, or the bytes of another one.
func (r *Reader) anyText() (text string, b []byte) {
	n := r.number()
	switch n & 3 {
	case textHere:
		return "", r.take(n >> 2)
	case textShared:
		return r.newText(n >> 2), nil
	case textNumber:
		if n >>= 2; n < uint64(len(r.texts)) {
			return r.texts[n], nil
		}
	}
	r.fail()
	return "", nil
}

// string reads the string at p. It is set at once, or with the other strings of its object.
func (r *Reader) string(p layout.Pointer) {
	switch n := r.number(); {
	case n&3 == textHere:
		r.text.Add(p, r.take(n>>2))
	case n&3 == textNumber && n>>2 < uint64(len(r.texts)):
		*layout.As[string](p) = r.texts[n>>2]
	case n&3 == textShared:
		*layout.As[string](p) = r.newText(n >> 2)
	default:
		r.fail()
	}
}

// newText reads a string of so many bytes that gets the next number.
func (r *Reader) newText(n uint64) string {
	text := string(r.take(n))
	r.texts = append(r.texts, text)
	return text
}

// any reads the value of the empty interface at p.
func (r *Reader) any(p layout.Pointer) {
	typ := byte(anyNil)
	if b := r.take(1); len(b) == 1 {
		typ = b[0]
	}
	switch to := layout.As[any](p); typ {
	case anyNil:
	case anyString:
		if text, b := r.anyText(); b != nil {
			*to = string(b)
		} else {
			*to = text
		}
	case anyFalse, anyTrue:
		*to = typ == anyTrue
	case anyInt:
		*to = r.signed()
	case anyFloat:
		if b := r.take(8); len(b) == 8 {
			*to = math.Float64frombits(binary.LittleEndian.Uint64(b))
		}
	case anyMap:
		m := new(map[string]any)
		r.reference(&r.program.freeMap, layout.Of(m))
		*to = *m
	case anyList:
		r.list(to)
	default:
		r.fail()
	}
}
