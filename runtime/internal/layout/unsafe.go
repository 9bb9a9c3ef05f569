// SPDX-License-Identifier: Apache-2.0

// Package layout reads and writes the memory of values whose types are known only at run time.
//
// It is the only package of the module that imports unsafe, all in this file. Where a function's
// comment says "the caller knows", the caller must keep the rules of unsafe: nothing is checked at
// run time, except by the race detector and -d=checkptr, under which the tests run. The functions
// themselves keep the garbage collector's rules: memory that may hold pointers is allocated, copied
// and cleared with its type, and no address is kept as a number.
package layout

import (
	"reflect"
	"sync"
	"unsafe"
)

// Pointer is the address of a value of any type, for packages that don't import unsafe. It keeps
// its target alive, like any pointer.
type Pointer = unsafe.Pointer

// As returns the value at p as a T. The caller knows that it is a T, or has the memory of one: a
// named string type is a string, a map whose keys are of a string type is a map of the same values
// by strings.
func As[T any](p Pointer) *T { return (*T)(p) }

// Of returns v as a Pointer.
func Of[T any](v *T) Pointer { return Pointer(v) }

// At returns the address offset bytes after p. The caller knows that it is within the same value,
// array or allocation.
func At(p Pointer, offset uintptr) Pointer { return unsafe.Add(p, offset) }

// View returns b as a string without a copy. It is valid as long as b is not changed, and must not
// be kept.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// Data returns the address of the first byte of text, which is not empty.
func Data(text string) Pointer { return Pointer(unsafe.StringData(text)) }

// Bytes returns the n bytes of memory at p, for reading only. The caller knows that all of them are
// of one allocation.
func Bytes(p Pointer, n uintptr) []byte { return unsafe.Slice((*byte)(p), n) }

// Slice is the memory of a slice of any type. As[Slice] reads or sets a whole one.
type Slice struct {
	Data     Pointer
	Len, Cap int
}

// Interface is the memory of an interface without methods. Data is the value itself if that is a
// pointer or a map, and otherwise its address; the value there never changes.
type Interface struct{ Type, Data Pointer }

// Type allocates and copies values of one type. It is safe for concurrent use.
type Type struct {
	// Set once at construction.
	elem      reflect.Type
	size      uintptr
	isPointer bool // a value is one pointer

	once      sync.Once
	sliceType reflect.Type // of slices; set by once, because finding it takes long
}

var types sync.Map

// TypeOf returns the Type of t, always the same one.
func TypeOf(t reflect.Type) *Type {
	typ, ok := types.Load(t)
	if !ok {
		typ, _ = types.LoadOrStore(t, &Type{elem: t, size: t.Size(), isPointer: t.Kind() == reflect.Pointer || t.Kind() == reflect.Map})
	}
	return typ.(*Type)
}

func (t *Type) slice() reflect.Type {
	t.once.Do(func() { t.sliceType = reflect.SliceOf(t.elem) })
	return t.sliceType
}

// Size returns the distance in bytes between elements of an array.
func (t *Type) Size() uintptr { return t.size }

// Reflect returns t as a reflect.Type.
func (t *Type) Reflect() reflect.Type { return t.elem }

// New allocates a zero value, and nothing else.
func (t *Type) New() Pointer { return reflect.New(t.elem).UnsafePointer() }

// Make sets the slice at field to n zero values, with no room for more, and returns the address of
// the first. The caller knows that field is a nil slice of the type in memory of the heap. Make
// allocates nothing else. With n = 0 the slice is empty and not nil.
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
	reflect.NewAt(t.slice(), field).Elem().Grow(n) // unlike MakeSlice, it allocates no header
	s.Len, s.Cap = n, n
	return s.Data
}

// MakeCopy sets the slice at field, as Make does, to a copy of from.
func (t *Type) MakeCopy(field Pointer, from *Slice) {
	*(*Slice)(field) = Slice{}
	to := t.Make(field, from.Len)
	if from.Len == 1 {
		t.Copy(to, from.Data)
	} else {
		reflect.Copy(reflect.NewAt(t.slice(), field).Elem(), reflect.NewAt(t.slice(), Pointer(from)).Elem())
	}
}

var zero [0]uint64

// Copy copies the value at src to dst. The caller knows that both are of the type.
func (t *Type) Copy(dst, src Pointer) {
	if t.isPointer {
		*(*Pointer)(dst) = *(*Pointer)(src)
		return
	}
	reflect.NewAt(t.elem, dst).Elem().Set(reflect.NewAt(t.elem, src).Elem())
}

// Value returns the value at p as a settable reflect.Value. The caller knows that it is of the
// type.
func (t *Type) Value(p Pointer) reflect.Value { return reflect.NewAt(t.elem, p).Elem() }
