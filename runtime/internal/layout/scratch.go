// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"math/bits"
	"reflect"
)

// Scratch holds elements of slices of unknown length. It is a stack, since an element may contain
// slices of the same type: note Len, Push each element, Take the pushed ones. Addresses returned by
// Push stay valid until then. It serves one goroutine.
type Scratch struct {
	// Set once at construction.
	typ      *Type
	from, to *Slice // of the moving values
	moves    [2]reflect.Value

	chunks []Pointer // of firstChunk, 2*firstChunk, … elements
	n      int
}

const firstChunk = 8

// NewScratch returns an empty Scratch.
func (t *Type) NewScratch() *Scratch {
	s := &Scratch{typ: t, from: new(Slice), to: new(Slice)}
	s.moves[0] = reflect.NewAt(t.slice(), Pointer(s.from)).Elem()
	s.moves[1] = reflect.NewAt(t.slice(), Pointer(s.to)).Elem()
	return s
}

// Len returns the number of elements pushed and not taken.
func (s *Scratch) Len() int { return s.n }

// Push adds a zero element and returns its address.
func (s *Scratch) Push() Pointer {
	chunk, at, _ := locate(s.n)
	if chunk == len(s.chunks) {
		var room Slice
		s.chunks = append(s.chunks, s.typ.Make(Pointer(&room), firstChunk<<chunk))
	}
	s.n++
	return At(s.chunks[chunk], uintptr(at)*s.typ.size)
}

// At returns the address of element i.
func (s *Scratch) At(i int) Pointer {
	chunk, at, _ := locate(i)
	return At(s.chunks[chunk], uintptr(at)*s.typ.size)
}

// locate returns the position of element n, and the number of elements from it to the end of its
// chunk.
func locate(n int) (chunk, at, left int) {
	chunk = bits.Len(uint(n/firstChunk+1)) - 1
	at = n - firstChunk*(1<<chunk-1)
	return chunk, at, firstChunk<<chunk - at
}

// Take sets the slice at field to the elements from number mark on, exactly as long as needed, and
// removes them. Strings that text must set in them, since textMark, are set in the slice's
// elements. The caller knows that field is a nil slice of the type, in memory of the heap. Without
// elements the slice is empty and not nil.
func (s *Scratch) Take(mark int, field Pointer, text *Text, textMark TextMark) {
	first, to := mark, s.typ.Make(field, s.n-mark)
	for mark < s.n {
		chunk, at, left := locate(mark)
		n := min(left, s.n-mark)
		from := At(s.chunks[chunk], uintptr(at)*s.typ.size)
		*s.from, *s.to = Slice{from, n, n}, Slice{to, n, n}
		reflect.Copy(s.moves[1], s.moves[0])
		s.moves[0].Clear()
		text.Move(textMark, from, to, uintptr(n)*s.typ.size)
		if mark += n; mark < s.n {
			to = At(to, uintptr(n)*s.typ.size)
		}
	}
	*s.from, *s.to = Slice{}, Slice{}
	s.shrink(first)
}

// Drop removes the elements from number mark on.
func (s *Scratch) Drop(mark int) {
	for at := mark; at < s.n; {
		chunk, first, left := locate(at)
		n := min(left, s.n-at)
		*s.from = Slice{At(s.chunks[chunk], uintptr(first)*s.typ.size), n, n}
		s.moves[0].Clear()
		at += n
	}
	*s.from = Slice{}
	s.shrink(mark)
}

// shrink keeps n elements. Memory needed only by rare objects isn't kept.
func (s *Scratch) shrink(n int) {
	s.n = n
	for last := len(s.chunks) - 1; n == 0 && last > 0 && s.typ.size<<last*firstChunk > maxKept; last-- {
		s.chunks[last] = nil
		s.chunks = s.chunks[:last]
	}
}

// maxKept is the maximum size in bytes of reused memory.
const maxKept = 64 << 10
