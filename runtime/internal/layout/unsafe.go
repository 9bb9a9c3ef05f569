// SPDX-License-Identifier: Apache-2.0

// Package layout reads and writes the memory of values whose types are known only at run time. The decoders are built on it: they
// find out once how a type is laid out, and then fill its fields without the cost of package reflect for each of them.
//
// It is the only package of the module that imports unsafe, all in this file. The rules of unsafe stay with the caller where a
// function says "the caller knows": nothing is checked at run time, except by the race detector and -d=checkptr, under which the
// tests run. The functions keep the collector's rules by themselves: what may hold pointers is allocated, copied and cleared
// with its type, and no address is kept as a number.
package layout

import (
	"math/bits"
	"reflect"
	"sync"
	"unsafe"
)

// Pointer is the address of a value of any type, so that others name it without importing unsafe. It keeps what it points into
// alive, like any pointer.
type Pointer = unsafe.Pointer

// As is the value at p as a T. The caller knows that a T is there, or something with the memory of one: a named string type is a
// string, a map whose keys are of a string type is a map of the same values by strings.
func As[T any](p Pointer) *T { return (*T)(p) }

// Of is the address of what v points to.
func Of[T any](v *T) Pointer { return Pointer(v) }

// At is the address offset bytes after p. The caller knows that it is within the same value, array or allocation.
func At(p Pointer, offset uintptr) Pointer { return unsafe.Add(p, offset) }

// View is b as a string that is valid as long as nobody changes b. It must not be kept.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Bytes is the memory of n bytes at p, to be read only. The caller knows that all of it is of one allocation.
func Bytes(p Pointer, n uintptr) []byte { return unsafe.Slice((*byte)(p), n) }

// Slice is what a slice of any type is in memory. As[Slice] reads or sets one whole.
type Slice struct {
	Data     Pointer
	Len, Cap int
}

// Type allocates and copies values of one type. It is safe for concurrent use.
type Type struct {
	// Set once at construction.
	elem  reflect.Type
	slice reflect.Type
	size  uintptr
	word  bool // a value is one pointer
}

// NewType returns the Type of t.
func NewType(t reflect.Type) *Type {
	return &Type{elem: t, slice: reflect.SliceOf(t), size: t.Size(), word: t.Kind() == reflect.Pointer || t.Kind() == reflect.Map}
}

// Size is the distance in bytes of the elements of an array.
func (t *Type) Size() uintptr { return t.size }

// Reflect is the type.
func (t *Type) Reflect() reflect.Type { return t.elem }

// New allocates a zero value, and nothing else.
func (t *Type) New() Pointer { return reflect.New(t.elem).UnsafePointer() }

// Make sets the slice at field, which the caller knows to be a nil slice of the type in memory of the heap, to n zero values, with
// no room for more, and returns the first of them. It allocates nothing else. With n = 0 the slice is empty and not nil.
func (t *Type) Make(field Pointer, n int) Pointer {
	s := (*Slice)(field)
	if n == 0 {
		*s = Slice{Data: Pointer(&zero)}
		return s.Data
	}
	if n == 1 {
		*s = Slice{t.New(), 1, 1}
		return s.Data
	}
	reflect.NewAt(t.slice, field).Elem().Grow(n) // unlike MakeSlice, it allocates no header
	s.Len, s.Cap = n, n
	return s.Data
}

// zero is where empty slices point.
var zero [0]uint64

// Copy copies the value at src to dst. The caller knows that both are of the type.
func (t *Type) Copy(dst, src Pointer) {
	if t.word {
		*(*Pointer)(dst) = *(*Pointer)(src)
		return
	}
	reflect.NewAt(t.elem, dst).Elem().Set(reflect.NewAt(t.elem, src).Elem())
}

// Value is the value at p for package reflect, settable. The caller knows that it is of the type.
func (t *Type) Value(p Pointer) reflect.Value { return reflect.NewAt(t.elem, p).Elem() }

// Scratch holds elements of slices whose length isn't known yet. It is a stack, so that an element may have slices of the same type
// in it: note Len, Push each element, Take what was pushed. What Push returned stays valid until then. It serves one goroutine.
type Scratch struct {
	// Set once at construction.
	t        *Type
	from, to *Slice // what moves refers to
	moves    [2]reflect.Value

	chunks []Pointer // of firstChunk, 2*firstChunk, … elements
	n      int
}

const firstChunk = 8

// NewScratch returns an empty Scratch.
func (t *Type) NewScratch() *Scratch {
	s := &Scratch{t: t, from: new(Slice), to: new(Slice)}
	s.moves[0] = reflect.NewAt(t.slice, Pointer(s.from)).Elem()
	s.moves[1] = reflect.NewAt(t.slice, Pointer(s.to)).Elem()
	return s
}

// Len is the number of elements pushed and not taken.
func (s *Scratch) Len() int { return s.n }

// Push adds a zero element and returns its address.
func (s *Scratch) Push() Pointer {
	chunk, at, _ := place(s.n)
	if chunk == len(s.chunks) {
		var room Slice
		s.chunks = append(s.chunks, s.t.Make(Pointer(&room), firstChunk<<chunk))
	}
	s.n++
	return unsafe.Add(s.chunks[chunk], uintptr(at)*s.t.size)
}

// At is the address of element i.
func (s *Scratch) At(i int) Pointer {
	chunk, at, _ := place(i)
	return unsafe.Add(s.chunks[chunk], uintptr(at)*s.t.size)
}

// place is where element n is, and how many elements there are from it on in its chunk.
func place(n int) (chunk, at, left int) {
	chunk = bits.Len(uint(n/firstChunk+1)) - 1
	at = n - firstChunk*(1<<chunk-1)
	return chunk, at, firstChunk<<chunk - at
}

// Take sets the slice at field to the elements from number mark on, exactly as long as needed, and removes them. The strings that
// text has to set in them, since textMark, are set in the slice's elements. The caller knows that a nil slice of the type, in
// memory of the heap, is at field. Without elements the slice is empty and not nil.
func (s *Scratch) Take(mark int, field Pointer, text *Text, textMark TextMark) {
	first, to := mark, s.t.Make(field, s.n-mark)
	for mark < s.n {
		chunk, at, left := place(mark)
		n := min(left, s.n-mark)
		from := unsafe.Add(s.chunks[chunk], uintptr(at)*s.t.size)
		*s.from, *s.to = Slice{from, n, n}, Slice{to, n, n}
		reflect.Copy(s.moves[1], s.moves[0])
		s.moves[0].Clear()
		text.Move(textMark, from, to, uintptr(n)*s.t.size)
		if mark += n; mark < s.n {
			to = unsafe.Add(to, uintptr(n)*s.t.size)
		}
	}
	*s.from, *s.to = Slice{}, Slice{}
	s.shrink(first)
}

// Drop removes the elements from number mark on.
func (s *Scratch) Drop(mark int) {
	for at := mark; at < s.n; {
		chunk, first, left := place(at)
		n := min(left, s.n-at)
		*s.from = Slice{unsafe.Add(s.chunks[chunk], uintptr(first)*s.t.size), n, n}
		s.moves[0].Clear()
		at += n
	}
	*s.from = Slice{}
	s.shrink(mark)
}

// shrink leaves n elements. Room that only a rare object needs isn't kept.
func (s *Scratch) shrink(n int) {
	s.n = n
	for last := len(s.chunks) - 1; n == 0 && last > 0 && s.t.size<<last*firstChunk > keep; last-- {
		s.chunks[last] = nil
		s.chunks = s.chunks[:last]
	}
}

// keep is the size in bytes up to which room is used again, keepFields the same in fields of a Text.
const (
	keep       = 64 << 10
	keepFields = keep / int(unsafe.Sizeof(textField{}))
)

// Text gathers the strings of an object and makes one block of them, exactly as large as they are together. It serves one
// goroutine; the zero value is ready.
type Text struct {
	buf    []byte
	fields []textField
	latest [64]uint16 // fields by what their strings look like; any number is fine
}

type textField struct {
	field     Pointer // to a string
	from, end int     // in buf
}

// TextMark is a place in a Text: what came later is an object, or a part of one, with a block of its own.
type TextMark struct{ bytes, fields int }

// Mark is the place where Text is now.
func (t *Text) Mark() TextMark { return TextMark{len(t.buf), len(t.fields)} }

// Add notes that the string at field, of the heap, will be s, which is copied. The caller knows that a string is there.
func (t *Text) Add(field Pointer, s []byte) {
	if len(s) == 0 {
		return
	}
	t.latest[latestOf(s)] = uint16(len(t.fields))
	from := len(t.buf)
	t.buf = append(t.buf, s...)
	t.fields = append(t.fields, textField{field, from, len(t.buf)})
}

// AddAgain is Add of a string that was added shortly before, which is not copied again. It returns false, and has done nothing, if it
// doesn't find it.
func (t *Text) AddAgain(field Pointer, s []byte) bool {
	if len(s) == 0 {
		return true
	}
	at := int(t.latest[latestOf(s)])
	if at >= len(t.fields) {
		return false
	}
	f := t.fields[at]
	if string(t.buf[f.from:f.end]) != string(s) {
		return false
	}
	t.fields = append(t.fields, textField{field, f.from, f.end})
	return true
}

// latestOf is the place in latest of a string, which is not empty.
func latestOf(s []byte) int {
	return (len(s) + int(s[len(s)-1]) + 3*int(s[len(s)/2])) % len(Text{}.latest)
}

// AddUnquoted is Add of what unquote appends to its argument, if it returns true.
func (t *Text) AddUnquoted(field Pointer, unquote func(dst []byte) ([]byte, bool)) bool {
	from := len(t.buf)
	buf, ok := unquote(t.buf)
	if ok {
		t.buf = buf
		t.fields = append(t.fields, textField{field, from, len(buf)})
	}
	return ok
}

// Set sets all strings that were added since mark, which share a block or two, and forgets them.
func (t *Text) Set(mark TextMark) {
	for i := range t.fields[mark.fields:] {
		if f := &t.fields[mark.fields+i]; f.from < mark.bytes { // it is the string of another block, too
			from := len(t.buf)
			t.buf = append(t.buf, t.buf[f.from:f.end]...)
			f.from, f.end = from, len(t.buf)
		}
	}
	cut := t.cut(mark)
	block, rest := string(t.buf[mark.bytes:cut]), string(t.buf[cut:])
	for _, f := range t.fields[mark.fields:] {
		if f.from < cut {
			*(*string)(f.field) = block[f.from-mark.bytes : f.end-mark.bytes]
		} else {
			*(*string)(f.field) = rest[f.from-cut : f.end-cut]
		}
	}
	t.Drop(mark)
}

// cut returns where to begin a second block, because one alone would be rounded up by much: at the end, or between two strings.
func (t *Text) cut(mark TextMark) int {
	size := len(t.buf) - mark.bytes
	if size < minCut || size > maxBlock {
		return len(t.buf)
	}
	sizes := blockSizes()
	cut, least := len(t.buf), sizes.of(size)
	if least-size < size/maxWaste {
		return cut
	}
	last := cut
	for i := range t.fields[mark.fields:] {
		end := t.fields[mark.fields+i].end
		if end == last { // of a string that was added again
			continue
		}
		last = end
		if both := sizes.of(end-mark.bytes) + sizes.of(len(t.buf)-end); both < least {
			cut, least = end, both
		}
	}
	return cut
}

const (
	minCut   = 512 // bytes; smaller blocks are rounded up by little
	maxWaste = 64  // of a block may be one part in so many
)

// roundings are the numbers of words in which memory without pointers comes, by the number of words that are asked for.
type roundings [maxBlock/8 + 1]uint16

const maxBlock = 32<<10 - 8

// of is how many bytes come if size, up to maxBlock, are asked for.
func (r *roundings) of(size int) int { return 8 * int(r[(size+7)/8]) }

var blockSizes = sync.OnceValue(func() *roundings {
	r := &roundings{}
	for words := 0; words < len(r); {
		size := cap(append([]byte(nil), make([]byte, 8*words)...)) / 8
		for ; words <= size && words < len(r); words++ {
			r[words] = uint16(size)
		}
	}
	return r
})

// Drop forgets the strings that were added since mark.
func (t *Text) Drop(mark TextMark) {
	clear(t.fields[mark.fields:])
	t.fields, t.buf = t.fields[:mark.fields], t.buf[:mark.bytes]
	if len(t.fields) == 0 && (cap(t.buf) > keep || cap(t.fields) > keepFields) {
		t.buf, t.fields = nil, nil
	}
}

// Move follows values of size bytes together that have moved: strings in them that were added since mark will be set at to.
func (t *Text) Move(mark TextMark, from, to Pointer, size uintptr) {
	if t == nil {
		return
	}
	for i := range t.fields[mark.fields:] {
		f := &t.fields[mark.fields+i]
		if offset := uintptr(f.field) - uintptr(from); offset < size {
			f.field = unsafe.Add(to, offset)
		}
	}
}
