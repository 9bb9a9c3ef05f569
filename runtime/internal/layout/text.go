// SPDX-License-Identifier: Apache-2.0

package layout

import "reflect"

// Text collects the strings of an object and puts them into blocks exactly as large as needed. It
// serves one goroutine; the zero value is ready.
//
// A string kept by a program may keep the other strings of its block alive: at most MaxBlock bytes.
// Strings longer than MaxShort have memory of their own.
type Text struct {
	buf    []byte
	fields []textField
}

// Bounds of the memory shared by strings, in bytes.
const (
	MaxShort = 256     // the longest string that shares a block
	MaxBlock = 2 << 10 // the largest block
)

// textField is a field whose string follows that of the previous field in buf.
type textField struct {
	field Pointer // to a string
	end   int     // in buf
}

var maxKeptFields = maxKept / int(reflect.TypeFor[textField]().Size())

// TextMark is a position in a Text. The strings after it belong to an object, or a part of one,
// with blocks of its own.
type TextMark struct{ bytes, fields int }

// Mark returns the present position.
func (t *Text) Mark() TextMark { return TextMark{len(t.buf), len(t.fields)} }

// Add sets the string at field, which must be on the heap, to a copy of s: at once if s is long,
// else when Set is called. The caller knows that field is a string.
func (t *Text) Add(field Pointer, s []byte) {
	switch {
	case len(s) == 0:
		return
	case len(s) > MaxShort:
		*(*string)(field) = string(s)
		return
	}
	t.buf = append(t.buf, s...)
	t.fields = append(t.fields, textField{field, len(t.buf)})
}

// AddUnquoted is Add with the bytes that unquote appends to its argument, if unquote returns true.
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
		t.fields = append(t.fields, textField{field, len(buf)})
	}
	return ok
}

// Set sets all strings added since mark, and forgets them.
func (t *Text) Set(mark TextMark) {
	var block string
	from, start, end := mark.bytes, mark.bytes, mark.bytes // of the string, and of the block
	for i := mark.fields; i < len(t.fields); i++ {
		f := &t.fields[i]
		if f.end > end {
			start, end = end, t.cut(end, t.fields[i:])
			block = string(t.buf[start:end])
		}
		*(*string)(f.field) = block[from-start : f.end-start]
		from = f.end
	}
	t.Drop(mark)
}

// cut returns the end of a block that begins at from with the first of fields: after as many
// strings as fit.
func (t *Text) cut(from int, fields []textField) (end int) {
	if len(t.buf)-from <= MaxBlock {
		return len(t.buf)
	}
	for i := range fields {
		if fields[i].end-from > MaxBlock {
			break
		}
		end = fields[i].end
	}
	return end
}

// Drop forgets the strings added since mark.
func (t *Text) Drop(mark TextMark) {
	clear(t.fields[mark.fields:])
	t.fields, t.buf = t.fields[:mark.fields], t.buf[:mark.bytes]
	if len(t.fields) == 0 && (cap(t.buf) > maxKept || cap(t.fields) > maxKeptFields) {
		t.buf, t.fields = nil, nil
	}
}

// Move records that values, of size bytes together, have moved: their strings added since mark will
// be set at their new address.
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
