// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// shared is a value that may be referred to again.
type shared struct {
	of    *form
	kind  fieldKind
	value layout.Slice // Data only, unless it is a slice
	list  any          // a slice in an empty interface
}

// reference reads the pointer, slice or map at p.
func (r *Reader) reference(f *field, p layout.Pointer) {
	n := r.number()
	switch {
	case n == isNil:
	case n == isHere:
		r.content(f, p)
	case n == isShared:
		number := r.reserve(f)
		// Other objects may refer to the value, so it keeps nothing of this one alive.
		mark := r.text.Mark()
		r.content(f, p)
		r.text.Set(mark)
		if f.kind == sliceField || f.kind == bytesField {
			r.values[number].value = *layout.As[layout.Slice](p)
		} else {
			r.values[number].value.Data = *layout.As[layout.Pointer](p)
		}
	default:
		v := r.shared(f, n-isNumber0)
		switch {
		case v == nil:
		case f.kind == sliceField || f.kind == bytesField:
			*layout.As[layout.Slice](p) = v.value
		default:
			*layout.As[layout.Pointer](p) = v.value.Data
		}
	}
}

// list is reference for a slice in an empty interface.
func (r *Reader) list(to *any) {
	f := &r.program.freeList
	n := r.number()
	if n > isShared {
		if v := r.shared(f, n-isNumber0); v != nil {
			*to = v.list
		}
		return
	}
	list := new([]any)
	switch n {
	case isNil:
		*to = *list
	case isHere:
		r.content(f, layout.Of(list))
		*to = *list
	default:
		number, mark := r.reserve(f), r.text.Mark()
		r.content(f, layout.Of(list))
		r.text.Set(mark)
		*to = *list
		r.values[number].list = *to
		r.values[number].value.Data = layout.Of(list)
	}
}

// reserve gives the value that is going to be read a number.
func (r *Reader) reserve(f *field) (number int) {
	r.values = append(r.values, shared{of: f.of, kind: f.kind})
	return len(r.values) - 1
}

// shared returns the value of a number for a field; nil if it is none, or none for this field.
func (r *Reader) shared(f *field, number uint64) *shared {
	if number < uint64(len(r.values)) {
		if v := &r.values[number]; v.of == f.of && v.kind == f.kind && v.value.Data != nil {
			return v
		}
	}
	r.fail()
	return nil
}

// content reads what is behind the reference at p.
func (r *Reader) content(f *field, p layout.Pointer) {
	if r.depth++; r.depth > maxDepth {
		r.fail()
	}
	switch f.kind {
	case pointerField:
		to := r.maker(f.of).New()
		*layout.As[layout.Pointer](p) = to
		r.value(f.of, to)
	case mapField:
		r.mapping(f, p)
	case bytesField:
		b := r.take(r.number())
		*layout.As[[]byte](p) = append(make([]byte, 0, len(b)), b...)
	default:
		n := r.length()
		to := r.maker(f.of).Make(p, n)
		for i := 0; i < n && !r.bad; i++ {
			r.value(f.of, layout.At(to, uintptr(i)*f.of.typ.Size()))
		}
	}
	r.depth--
}
