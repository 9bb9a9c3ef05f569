// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"math"
	"reflect"
	"sync"
)

// Text gathers the strings of an object and makes blocks of them, exactly as large as they are together. It serves one goroutine; the
// zero value is ready.
//
// A string that a program keeps may keep others alive that stand in its block: at most MaxBlock bytes. Longer strings than MaxShort,
// and those of AddAlone, have memory of their own.
type Text struct {
	buf    []byte
	fields []textField
	latest [64]uint16 // fields by what their strings look like; any number is fine
	alone  string     // the last one of AddAlone
}

// What a string shares memory with, in bytes.
const (
	MaxShort = 256     // the longest string that shares a block
	MaxBlock = 2 << 10 // the largest block
)

type textField struct {
	field     Pointer // to a string
	from, end int     // in buf
	again     int     // 0, or 1 + the number of the field that has the same string
}

// keepFields is the number of fields up to which room is used again.
var keepFields = keep / int(reflect.TypeFor[textField]().Size())

// TextMark is a place in a Text: what came later is an object, or a part of one, with blocks of its own.
type TextMark struct{ bytes, fields int }

// Mark is the place where Text is now.
func (t *Text) Mark() TextMark { return TextMark{len(t.buf), len(t.fields)} }

// Add sets the string at field, of the heap, to a copy of s: at once if it is long, else when Set is called. The caller knows that a
// string is there.
func (t *Text) Add(field Pointer, s []byte) {
	switch {
	case len(s) == 0:
		return
	case len(s) > MaxShort:
		*(*string)(field) = string(s)
		return
	}
	t.latest[latestOf(s)] = uint16(len(t.fields))
	from := len(t.buf)
	t.buf = append(t.buf, s...)
	t.fields = append(t.fields, textField{field: field, from: from, end: len(t.buf)})
}

// AddAlone sets the string at field to a copy of s that shares memory with equal strings only: who keeps it keeps nothing else.
func (t *Text) AddAlone(field Pointer, s []byte) {
	t.alone = string(s)
	*(*string)(field) = t.alone
}

// AddAgain is Add of a string that was added shortly before, which is not copied again. It returns false, and has done nothing, if it
// doesn't find it.
func (t *Text) AddAgain(field Pointer, s []byte) bool {
	if len(s) == 0 {
		return true
	}
	if t.alone == string(s) {
		*(*string)(field) = t.alone
		return true
	}
	at := int(t.latest[latestOf(s)])
	if at >= len(t.fields) {
		return false
	}
	f := &t.fields[at]
	if f.again > 0 || string(t.buf[f.from:f.end]) != string(s) {
		return false
	}
	t.fields = append(t.fields, textField{field, f.from, f.end, at + 1})
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
	switch {
	case !ok:
	case len(buf)-from > MaxShort:
		*(*string)(field) = string(buf[from:])
		t.buf = buf[:from]
	default:
		t.buf = buf
		t.fields = append(t.fields, textField{field: field, from: from, end: len(buf)})
	}
	return ok
}

// Set sets all strings that were added since mark, and forgets them.
func (t *Text) Set(mark TextMark) {
	var block string
	start, end := mark.bytes, mark.bytes // of the block
	for i := mark.fields; i < len(t.fields); i++ {
		f := &t.fields[i]
		switch {
		case f.again > mark.fields:
			*(*string)(f.field) = *(*string)(t.fields[f.again-1].field)
			continue
		case f.again > 0: // it is the string of another block, too
			*(*string)(f.field) = string(t.buf[f.from:f.end])
			continue
		case f.from == end:
			start, end = end, t.cut(end, t.fields[i:])
			block = string(t.buf[start:end])
		}
		*(*string)(f.field) = block[f.from-start : f.end-start]
	}
	t.Drop(mark)
}

// cut returns where to end the block that begins at from, with the first one of fields: behind all of them or between two, so that it is
// not too large, and that little is left over because memory comes in certain sizes.
func (t *Text) cut(from int, fields []textField) int {
	size := len(t.buf) - from
	if size < minCut {
		return len(t.buf)
	}
	sizes := blockSizes()
	cut, least := len(t.buf), math.MaxInt
	if size <= MaxBlock {
		if least = sizes.of(size); least-size < size/maxWaste {
			return cut
		}
	}
	for i := range fields {
		f := &fields[i]
		if f.again > 0 {
			continue
		}
		block := f.end - from
		if block > MaxBlock {
			break
		}
		rest := size - block
		if size <= MaxBlock {
			rest = sizes.of(rest)
		} else if block < MaxBlock-2*MaxShort {
			continue
		}
		if both := sizes.of(block) + rest; both < least {
			cut, least = f.end, both
		}
	}
	return cut
}

const (
	minCut   = 512 // bytes; smaller blocks are rounded up by little
	maxWaste = 64  // of a block may be one part in so many
)

// roundings are the numbers of words in which memory without pointers comes, by the number of words that are asked for.
type roundings [MaxBlock/8 + 1]uint16

// of is how many bytes come if size, up to MaxBlock, are asked for.
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
	if len(t.fields) == 0 {
		t.alone = ""
		if cap(t.buf) > keep || cap(t.fields) > keepFields {
			t.buf, t.fields = nil, nil
		}
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
			f.field = At(to, offset)
		}
	}
}
