// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// Count is the first pass: it is called with each object before any is written. The caller knows
// that p points to an object of the Program's type.
func (w *Writer) Count(p layout.Pointer) {
	w.memory += int64(w.program.root.typ.Size())
	w.count(w.program.root, p)
}

// Memory returns about how many bytes of memory the objects take that were counted.
func (w *Writer) Memory() int64 { return w.memory }

// meet counts a value of so many bytes, and reports whether it was not met before.
func (w *Writer) meet(at layout.Pointer, size uintptr) bool {
	n := layout.Hash(at) >> w.shift
	word, once := &w.met[n/metPerWord], uint64(1)<<(2*(n%metPerWord))
	first := *word&once == 0
	if !first {
		*word |= once << 1
	} else {
		w.memory += int64(size)
	}
	*word |= once
	return first
}

// isShared reports whether a value was met more than once.
func (w *Writer) isShared(at layout.Pointer) bool {
	n := layout.Hash(at) >> w.shift
	return w.met[n/metPerWord]>>(2*(n%metPerWord)+1)&1 != 0
}

// count counts what the value at p refers to. What a shared value refers to is counted once.
func (w *Writer) count(s *form, p layout.Pointer) {
	if w.depth++; w.depth > maxDepth { // value will return an error
		w.depth--
		return
	}
	for _, n := range s.refers {
		f := &s.fields[n]
		w.countField(f, layout.At(p, f.offset))
	}
	w.depth--
}

func (w *Writer) countField(f *field, p layout.Pointer) {
	switch f.kind {
	case stringField, nameField:
		if text := *layout.As[string](p); text != "" {
			w.meet(layout.Data(text), uintptr(len(text)))
		}
	case anyField:
		if free := w.program.freeField(p); free != nil {
			w.countField(free, layout.Of(&layout.As[layout.Interface](p).Data))
		} else if text, ok := (*layout.As[any](p)).(string); ok && text != "" {
			w.meet(layout.Data(text), uintptr(len(text)))
		}
	case pointerField:
		if to := *layout.As[layout.Pointer](p); to != nil && w.meet(to, f.of.typ.Size()) {
			w.count(f.of, to)
		}
	case mapField:
		if to := *layout.As[layout.Pointer](p); to != nil && w.meet(to, mapMemory) {
			w.countMap(f, p)
		}
	case bytesField:
		if list := layout.As[layout.Slice](p); list.Len > 0 {
			w.meet(list.Data, uintptr(list.Len))
		}
	case listField: // p points to the pointer to the slice
		p = *layout.As[layout.Pointer](p)
		fallthrough
	case sliceField:
		list := layout.As[layout.Slice](p)
		if list.Len == 0 || !w.meet(list.Data, uintptr(list.Len)*f.of.typ.Size()) || len(f.of.refers) == 0 {
			return
		}
		for i := range list.Len {
			w.count(f.of, layout.At(list.Data, uintptr(i)*f.of.typ.Size()))
		}
	}
}

// mapMemory is what a map takes besides its entries.
const mapMemory = 64

// countMap counts what the entries of the map at p refer to.
func (w *Writer) countMap(f *field, p layout.Pointer) {
	size := 2 * (stringType.Size() + f.of.typ.Size()) // half of the room is free
	f.entries(p, func(key, value layout.Pointer) {
		w.memory += int64(size)
		if f.key != nil {
			w.count(f.key, key)
		} else if text := *layout.As[string](key); text != "" {
			w.meet(layout.Data(text), uintptr(len(text)))
		}
		w.count(f.of, value)
	})
}
