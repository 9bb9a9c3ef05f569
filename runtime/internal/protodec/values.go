// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"encoding/binary"
	"math"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/quantity"
)

func (d *Decoder) float(f *field, p layout.Pointer, in []byte, n int) (size int, ok bool) {
	if f.kind == kindFloat32 {
		if len(in) < n+4 {
			return 0, false
		}
		*layout.As[float32](p) = math.Float32frombits(binary.LittleEndian.Uint32(in[n:]))
		return n + 4, true
	}
	if len(in) < n+8 {
		return 0, false
	}
	*layout.As[float64](p) = math.Float64frombits(binary.LittleEndian.Uint64(in[n:]))
	return n + 8, true
}

// otherValue decodes length-delimited values other than strings and ordinary messages.
func (d *Decoder) otherValue(f *field, p layout.Pointer, b []byte) bool {
	switch f.kind {
	case kindTime:
		if len(b) == 0 {
			return true
		}
		seconds, _, ok := timestamp(b)
		layout.As[metav1.Time](p).Time = time.Unix(seconds, 0).Local()
		return ok
	case kindMicroTime:
		if len(b) == 0 {
			return true
		}
		seconds, nanos, ok := timestamp(b)
		nanos = int64(time.Duration(nanos).Truncate(time.Microsecond))
		layout.As[metav1.MicroTime](p).Time = time.Unix(seconds, nanos).Local()
		return ok
	case kindQuantity:
		return d.quantity(f, layout.As[resource.Quantity](p), b)
	case kindBytes:
		*layout.As[[]byte](p) = copyOf(b)
		return true
	}
	return f.unmarshal(f.valueType.Value(p), b)
}

func (f *field) unmarshal(v reflect.Value, b []byte) bool {
	list := v.Kind() == reflect.Slice
	if list && f.container != containerField {
		// as the generated methods do for elements and map values
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	}
	if v.Addr().Interface().(unmarshaler).Unmarshal(b) != nil {
		return false
	}
	if list {
		v.SetCap(v.Len())
	}
	return true
}

func copyOf(b []byte) []byte {
	dst := make([]byte, len(b))
	copy(dst, b)
	return dst
}

// timestamp reads {1: seconds, 2: nanoseconds}, in this order.
func timestamp(b []byte) (seconds, nanos int64, ok bool) {
	if hasTag(b, 1<<3) {
		v, n := uvarint(b[1:])
		if n == 0 {
			return 0, 0, false
		}
		seconds, b = int64(v), b[1+n:]
	}
	if hasTag(b, 2<<3) {
		v, n := uvarint(b[1:])
		if n == 0 {
			return 0, 0, false
		}
		nanos, b = int64(int32(v)), b[1+n:]
	}
	return seconds, nanos, len(b) == 0
}

func (d *Decoder) quantity(f *field, q *resource.Quantity, b []byte) bool {
	b, ok := quantityText(b)
	if !ok || len(b) == 0 {
		return ok
	}
	text, ok := d.finder.String(int(f.text), b)
	if !ok {
		text = string(b)
	}
	return parseQuantity(q, text)
}

// quantityText reads {1: text}. An empty message is a zero Quantity.
func quantityText(b []byte) (text []byte, ok bool) {
	if len(b) == 0 {
		return nil, true
	}
	if !hasTag(b, 1<<3|2) {
		return nil, false
	}
	start, end := delimited(b[1:])
	return b[1+start:], end == len(b)-1 && end > start
}

func parseQuantity(q *resource.Quantity, text string) (ok bool) {
	var err error
	*q, err = quantity.Parse(text)
	return err == nil
}
