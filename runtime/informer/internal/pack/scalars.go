// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// What begins a string, in the two lowest bits.
const (
	textHere = iota
	textShared
	textNumber
)

// The types of values in empty interfaces.
const (
	anyNil = iota
	anyString
	anyFalse
	anyTrue
	anyInt
	anyFloat
	anyMap
	anyList
)

// The zones of times.
const (
	zoneUTC = iota
	zoneLocal
	zoneOther
)

// readBits returns the number of so many bytes at p.
func readBits(p layout.Pointer, size uint8) uint64 {
	switch size {
	case 1:
		return uint64(*layout.As[uint8](p))
	case 2:
		return uint64(*layout.As[uint16](p))
	case 4:
		return uint64(*layout.As[uint32](p))
	}
	return *layout.As[uint64](p)
}

func (w *Writer) time(t time.Time) {
	zone := uint64(zoneOther)
	switch t.Location() {
	case time.UTC:
		zone = zoneUTC
	case time.Local:
		zone = zoneLocal
	}
	w.number(zone)
	w.signed(t.Unix())
	w.number(uint64(t.Nanosecond()))
	if zone == zoneOther {
		name, offset := t.Zone()
		w.text(name)
		w.signed(int64(offset))
	}
}

// text writes a string.
func (w *Writer) text(text string) {
	kind := uint64(textHere)
	if text != "" && w.isShared(layout.Data(text)) {
		id := identity{at: layout.Data(text), length: len(text)}
		if number, ok := w.texts[id]; ok {
			w.number(number<<2 | textNumber)
			return
		}
		w.texts[id] = uint64(len(w.texts))
		kind = textShared
	}
	w.number(uint64(len(text))<<2 | kind)
	w.buf = append(w.buf, text...)
}

// any writes the value of the empty interface at p.
func (w *Writer) any(p layout.Pointer) {
	if f := w.program.freeField(p); f != nil {
		w.buf = append(w.buf, anyMap)
		if f.kind == listField {
			w.buf[len(w.buf)-1] = anyList
		}
		w.reference(f, layout.Of(&layout.As[layout.Interface](p).Data))
		return
	}
	switch v := (*layout.As[any](p)).(type) {
	case nil:
		w.buf = append(w.buf, anyNil)
	case string:
		w.buf = append(w.buf, anyString)
		w.text(v)
	case bool:
		if v {
			w.buf = append(w.buf, anyTrue)
		} else {
			w.buf = append(w.buf, anyFalse)
		}
	case map[string]any: // nil
		w.buf = append(w.buf, anyMap, isNil)
	case []any: // nil
		w.buf = append(w.buf, anyList, isNil)
	case int64:
		w.buf = append(w.buf, anyInt)
		w.signed(v)
	case float64:
		w.buf = append(w.buf, anyFloat)
		w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(v))
	default:
		w.fail(fmt.Errorf("an empty interface has a %T, which can't be written", v))
	}
}

// freeField returns the description of the value in the empty interface at p if that is a map or a
// slice, and not nil.
func (p *Program) freeField(at layout.Pointer) *field {
	switch v := (*layout.As[any](at)).(type) {
	case map[string]any:
		if v != nil {
			return &p.freeMap
		}
	case []any:
		if v != nil {
			return &p.freeList
		}
	}
	return nil
}
