// SPDX-License-Identifier: Apache-2.0

package jsondec

import (
	"math"
	"strconv"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

func (d *Decoder) integer(op op, i int, p layout.Pointer) int {
	v, end := integer(d.in, i)
	if end < 0 {
		return -1
	}
	if op >= opUint8 && (v < 0 || d.in[i] == '-') {
		return -1
	}
	fits := true
	switch op {
	case opInt64:
		*layout.As[int64](p) = v
	case opInt32:
		fits = v == int64(int32(v))
		*layout.As[int32](p) = int32(v)
	case opInt16:
		fits = v == int64(int16(v))
		*layout.As[int16](p) = int16(v)
	case opInt8:
		fits = v == int64(int8(v))
		*layout.As[int8](p) = int8(v)
	case opUint64:
		*layout.As[uint64](p) = uint64(v)
	case opUint32:
		fits = v <= math.MaxUint32
		*layout.As[uint32](p) = uint32(v)
	case opUint16:
		fits = v <= math.MaxUint16
		*layout.As[uint16](p) = uint16(v)
	case opUint8:
		fits = v <= math.MaxUint8
		*layout.As[uint8](p) = uint8(v)
	}
	if !fits {
		return -1
	}
	return end
}

func (d *Decoder) float(op op, i int, p layout.Pointer) int {
	end, _ := numberEnd(d.in, i)
	if end < 0 {
		return -1
	}
	text := layout.View(d.in[i:end])
	if op == opFloat32 {
		v, err := strconv.ParseFloat(text, 32)
		if err != nil {
			return -1
		}
		*layout.As[float32](p) = float32(v)
		return end
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return -1
	}
	*layout.As[float64](p) = v
	return end
}

func (d *Decoder) scalar(pl *plan, i int, p layout.Pointer) int {
	d.word = 0
	end := d.value(pl.elem, i, layout.Of(&d.word))
	if end < 0 {
		return -1
	}
	to := layout.As[layout.Pointer](p)
	if *to = d.finder.Scalar(pl.elem.typ.Size(), d.word); *to == nil {
		*to = pl.elem.typ.New()
		pl.elem.typ.Copy(*to, layout.Of(&d.word))
	}
	return end
}
