// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

const (
	maxDepth = 1000
	maxBytes = 16 << 20
	maxParts = 1 << 18
	// maxText is the length from which on a string is written as its address, and is equal only to
	// itself.
	maxText = 8 << 10

	wordSize = uintptr(4) << (^uintptr(0) >> 63)
)

// The byte before a value that may be absent, or of several types.
const (
	isNil = iota
	isPresent
	isMap
	isList
	isString
	isBool
	isInt
	isFloat
	isOther
)

// write appends a value to buf in a form in which equal bytes mean equal values. It returns false
// if the value is too large.
func (a *Adopter) write(s *shape, p layout.Pointer) bool {
	for i := range s.fields {
		f := &s.fields[i]
		at := layout.At(p, f.offset)
		switch f.kind {
		case memoryField:
			a.writeMemory(at, f.size)
		case stringField, nameField:
			a.writeText(*layout.As[string](at))
		case anyField:
			if !a.writeAny(at, 0) {
				return false
			}
		default:
			if *layout.As[layout.Pointer](at) == nil {
				a.buf = append(a.buf, isNil)
				continue
			}
			a.buf = append(a.buf, isPresent)
			if !a.writeReference(f, f.site, at) {
				return false
			}
		}
	}
	return true
}

func (a *Adopter) writeMemory(p layout.Pointer, size uintptr) {
	a.buf = append(a.buf, layout.Bytes(p, size)...)
}

func (a *Adopter) writeLen(n int) { a.buf = binary.AppendUvarint(a.buf, uint64(n)) }

func (a *Adopter) writeText(s string) {
	if a.writeLen(len(s)); len(s) < maxText {
		a.buf = append(a.buf, s...)
	} else {
		a.writeMemory(layout.Of(&s), wordSize)
		a.longStrings++
	}
}

// writeReference writes the value behind a pointer, a slice or a map. Parts are numbered by their
// start.
func (a *Adopter) writeReference(f *field, site int, p layout.Pointer) bool {
	switch {
	case f.kind == scalarField:
		a.writeMemory(*layout.As[layout.Pointer](p), f.elem.typ.Size())
		return true
	case f.kind == sliceField && layout.As[layout.Slice](p).Len == 0:
		a.writeLen(0)
		return true
	}
	if a.depth++; a.depth > maxDepth || len(a.buf) > maxBytes || len(a.parts) > maxParts {
		return false
	}
	number, longs, ok := len(a.parts), a.longStrings, true
	a.parts = append(a.parts, part{field: f, site: site, start: len(a.buf)})
	switch f.kind {
	case pointerField:
		ok = a.write(f.elem, *layout.As[layout.Pointer](p))
	case sliceField:
		ok = a.writeSlice(f.elem, layout.As[layout.Slice](p))
	case mapField:
		ok = a.writeMap(f, number, p)
	case boxField:
		list := **layout.As[*[]any](p)
		a.writeLen(len(list))
		for i := range list {
			ok = ok && a.writeAny(layout.Of(&list[i]), site-f.site)
		}
	}
	a.parts[number].end, a.parts[number].next, a.parts[number].hasLongString = len(a.buf), len(a.parts), a.longStrings > longs
	a.depth--
	return ok
}

func (a *Adopter) writeSlice(s *shape, from *layout.Slice) bool {
	a.writeLen(from.Len)
	if s.plain {
		size := uintptr(from.Len) * s.typ.Size()
		if size > maxBytes {
			return false
		}
		a.writeMemory(from.Data, size)
		return true
	}
	for i := range from.Len {
		if !a.write(s, layout.At(from.Data, uintptr(i)*s.typ.Size())) {
			return false
		}
	}
	return true
}

// writeMap writes a map in the order of its keys. Its entries are copied, for read.
func (a *Adopter) writeMap(f *field, number int, p layout.Pointer) bool {
	first := len(a.entries)
	switch f.elem.typ.Reflect() {
	case typeOf[string]():
		gather[string](a, f, p)
	case typeOf[any]():
		gather[any](a, f, p)
	default:
		a.gatherAny(f, p)
	}
	n := len(a.entries) - first
	a.parts[number].entries, a.parts[number].n = first, n
	slices.SortFunc(a.entries[first:], func(x, y keyedValue) int { return strings.Compare(x.key, y.key) })
	a.writeLen(n)
	untyped := f.elem == a.program.untypedMap.elem
	for i := range n {
		e := a.entries[first+i]
		a.writeText(e.key)
		if untyped {
			if !a.writeAny(e.value, siteOffset(e.key)) {
				return false
			}
		} else if !a.write(f.elem, e.value) {
			return false
		}
	}
	return true
}
