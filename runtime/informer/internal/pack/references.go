// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// What begins a reference.
const (
	isNil     = iota
	isHere    // the value follows
	isShared  // the value follows, and has a number
	isNumber0 // the value number 0; those after it stand for the numbers after 0
)

// reference writes what the pointer, slice or map at p refers to.
func (w *Writer) reference(f *field, p layout.Pointer) {
	to := *layout.As[layout.Pointer](p)
	if to == nil {
		w.number(isNil)
		return
	}
	id := identity{at: to, kind: f.kind, of: f.of}
	if f.kind == listField {
		p = to // the slice is behind one more pointer
		id.at = *layout.As[layout.Pointer](p)
	}
	isList := f.kind == sliceField || f.kind == bytesField || f.kind == listField
	if isList {
		id.length = layout.As[layout.Slice](p).Len
	}
	switch {
	case isList && id.length == 0, !w.isShared(id.at):
		w.number(isHere)
	default:
		if number, ok := w.numbers[id]; ok {
			w.number(isNumber0 + number)
			return
		}
		w.number(isShared)
		// The number is that of the beginning, since the value may have others in it.
		w.numbers[id] = uint64(len(w.numbers))
	}
	w.content(f, p)
}

// content writes what is behind the reference at p, which is not nil.
func (w *Writer) content(f *field, p layout.Pointer) {
	switch f.kind {
	case pointerField:
		w.value(f.of, *layout.As[layout.Pointer](p))
	case mapField:
		w.mapping(f, p)
	case bytesField:
		list := layout.As[layout.Slice](p)
		w.number(uint64(list.Len))
		w.buf = append(w.buf, layout.Bytes(list.Data, uintptr(list.Len))...)
	default:
		list := layout.As[layout.Slice](p)
		w.number(uint64(list.Len))
		for i := range list.Len {
			w.value(f.of, layout.At(list.Data, uintptr(i)*f.of.typ.Size()))
		}
	}
}
