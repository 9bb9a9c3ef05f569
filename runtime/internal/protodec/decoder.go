// SPDX-License-Identifier: Apache-2.0

package protodec

import (
	"github.com/informer-gen/informer-gen/runtime/internal/layout"
	"github.com/informer-gen/informer-gen/runtime/internal/share"
)

// Decoder decodes objects one after the other. It serves one goroutine.
type Decoder struct {
	// Set once at construction.
	program     *Program
	finder      *share.Finder
	sharesParts bool // equal parts are shared

	text     layout.Text
	depth    int
	decoding bool            // an object is being decoded
	entering int             // nesting of parts being decoded for the table
	recent   recentSlices    // recent slices of the present object
	maps     []pendingMap    // of the present object
	entries  *layout.Scratch // of maps; each is an entry
	word     uint64          // the target of a pointer
}

// maxDepth bounds the nesting of messages. Only types that contain themselves come near it.
const maxDepth = 100

// NewDecoder returns a Decoder that finds parts in table and enters them there; a nil table shares
// nothing. Without shareParts an object shares only strings.
func (p *Program) NewDecoder(table *share.Table, shareParts bool) *Decoder {
	return &Decoder{
		program: p, finder: table.NewFinder(&p.compiler.sites, shareParts), sharesParts: shareParts && table != nil, entries: entryType.NewScratch(),
	}
}

// Decode decodes an object without its envelope into the zero value at into. The caller ensures
// that this is a value of the Program's type on the heap. Nothing refers to data afterwards. If
// Decode returns false, the value at into must be thrown away.
func (d *Decoder) Decode(data []byte, into layout.Pointer) bool {
	if d.decoding { // a method of a Go type has panicked
		d.forget()
	}
	d.decoding, d.depth, d.entering = true, 0, 0
	d.finder.Begin()
	ok := d.message(d.program.root, into, data) && d.end(scope{})
	d.forget()
	d.decoding = false
	return ok
}

func (d *Decoder) forget() {
	d.discard(scope{})
	d.recent = recentSlices{}
	if cap(d.maps) > keepMaps {
		d.maps = nil // memory needed only by rare objects isn't kept
	}
}

const keepMaps = 256

// scope is an object, or a part of one, with its own block of strings. Its maps are filled at its
// end, because they need the strings.
type scope struct {
	text    layout.TextMark
	maps    int
	entries int
}

func (d *Decoder) begin() scope {
	return scope{d.text.Mark(), len(d.maps), d.entries.Len()}
}

func (d *Decoder) end(s scope) bool {
	d.text.Set(s.text)
	for i := s.maps; i < len(d.maps); i++ {
		if !d.fill(d.maps[i]) {
			return false
		}
	}
	d.discard(s)
	return true
}

func (d *Decoder) discard(s scope) {
	d.text.Drop(s.text)
	d.entries.Drop(s.entries)
	clear(d.maps[s.maps:])
	d.maps = d.maps[:s.maps]
}

// message decodes a message, whose known fields must be in ascending order.
func (d *Decoder) message(m *message, p layout.Pointer, in []byte) bool {
	compiled := m.get()
	if d.depth++; d.depth > maxDepth || compiled.err != nil {
		return false
	}
	fields := compiled.fields
	at, last := 0, 0
	for at < len(in) { // an index, since moving a slice takes several times as long
		tag, start := shortTag(in, at)
		number := int(tag >> 3)
		if number >= len(fields) || fields[number].tag != tag {
			if at = skipUnknown(in, at, fields); at < 0 {
				return false
			}
			continue
		}
		if number <= last {
			return false
		}
		last = number
		f := &fields[number]
		if f.skipsZero && start < len(in) && in[start] == 0 { // written for an empty field
			at = start + 1
			continue
		}
		to, n, ok := layout.At(p, f.offset), 0, false
		switch {
		case f.container != containerField:
			n, ok = d.decodeShared(f, to, in[at:])
		case f.kind == kindString || f.kind == kindMessage:
			end := start + 1
			if start < len(in) && in[start] < 0x80 {
				start, end = end, end+int(in[start])
			} else {
				from, size := delimited(in[start:])
				start, end = start+from, start+size
			}
			if ok = start < end && end <= len(in); !ok {
				return false
			}
			if n = end - at; f.kind == kindString {
				d.string(f.text, to, in[start:end])
			} else {
				ok = d.message(f.msg, to, in[start:end])
			}
		default:
			n, ok = d.value(f, to, in[at:], start-at)
		}
		if !ok {
			return false
		}
		at += n
	}
	d.depth--
	return true
}

func (d *Decoder) decodeShared(f *field, p layout.Pointer, in []byte) (n int, ok bool) {
	site := int(f.site)
	if f.container == containerSlice && d.sharesParts && d.entering == 0 {
		if n := d.recent.find(f, p, in); n > 0 {
			return n, true
		}
	}
	if f.container == containerDropped || f.isScalar || !d.sharesParts || !d.finder.ShouldTry(site) {
		count, size := d.extent(f, in)
		return size, count > 0 && d.decodeField(f, p, in[:size], count)
	}
	count, size := d.extent(f, in)
	if count == 0 {
		return 0, false
	}
	part, enter := d.finder.Find(site, in[:size])
	switch {
	case part != nil:
		part.Put(p)
		return size, true
	case !enter:
		return size, d.decodeField(f, p, in[:size], count)
	}
	inner := d.begin()
	d.entering++
	if !d.decodeField(f, p, in[:size], count) || !d.end(inner) {
		return 0, false
	}
	d.entering--
	d.finder.Enter(site, in[:size], p)
	return size, true
}

// extent returns the number of consecutive elements of a field and their total length. A count of 0
// is an error.
func (d *Decoder) extent(f *field, in []byte) (count, size int) {
	if f.container != containerPointer {
		return consecutive(in, f.tag)
	}
	n := tagLen(f.tag)
	m, ok := skip(in[n:], f.tag&7)
	if !ok {
		return 0, 0
	}
	return 1, n + m
}

func (d *Decoder) decodeField(f *field, p layout.Pointer, in []byte, count int) bool {
	switch f.container {
	case containerDropped:
		return true
	case containerPointer:
		if f.isScalar {
			return d.scalar(f, p, in)
		}
		to := f.valueType.New()
		*layout.As[layout.Pointer](p) = to
		_, ok := d.value(f, to, in, tagLen(f.tag))
		return ok
	case containerSlice:
		return d.slice(f, p, in, count)
	}
	return d.readMap(f, p, in, count)
}

func (d *Decoder) scalar(f *field, p layout.Pointer, in []byte) bool {
	d.word = 0
	_, ok := d.value(f, layout.Of(&d.word), in, tagLen(f.tag))
	to := layout.As[layout.Pointer](p)
	if *to = d.finder.Scalar(f.valueType.Size(), d.word); *to == nil {
		*to = f.valueType.New()
		f.valueType.Copy(*to, layout.Of(&d.word))
	}
	return ok
}

func (d *Decoder) slice(f *field, p layout.Pointer, in []byte, count int) bool {
	raw, n := in, tagLen(f.tag)
	element := f.valueType.Make(p, count)
	for i := range count {
		if i > 0 {
			element = layout.At(element, f.valueType.Size())
		}
		size, ok := d.value(f, element, in, n)
		if !ok {
			return false
		}
		in = in[size:]
	}
	if d.sharesParts && d.entering == 0 {
		d.recent.add(f, p, raw)
	}
	return true
}

// value decodes one value after a tag of n bytes, and returns the length of both.
func (d *Decoder) value(f *field, p layout.Pointer, in []byte, n int) (size int, ok bool) {
	switch f.kind {
	case kindBool:
		v, m := uvarint(in[n:])
		*layout.As[bool](p) = v != 0
		return n + m, m > 0
	case kindInt32:
		v, m := uvarint(in[n:])
		*layout.As[int32](p) = int32(v)
		return n + m, m > 0
	case kindInt64:
		v, m := uvarint(in[n:])
		*layout.As[int64](p) = int64(v)
		return n + m, m > 0
	case kindFloat32, kindFloat64:
		return d.float(f, p, in, n)
	}
	start, end := delimited(in[n:])
	if end == 0 {
		return 0, false
	}
	return n + end, d.delimitedValue(f, p, in[n+start:n+end])
}

func (d *Decoder) delimitedValue(f *field, p layout.Pointer, b []byte) bool {
	switch f.kind {
	case kindString:
		d.string(f.text, p, b)
		return true
	case kindName:
		d.name(f.text, p, b)
		return true
	case kindMessage:
		return d.message(f.msg, p, b)
	}
	return d.otherValue(f, p, b)
}

func (d *Decoder) string(site int32, p layout.Pointer, b []byte) {
	if s, ok := d.finder.String(int(site), b); ok {
		*layout.As[string](p) = s
	} else {
		d.text.Add(p, b)
	}
}

// name decodes a name or namespace. Programs often keep these as keys after the object is gone, so
// they keep nothing else alive.
func (d *Decoder) name(site int32, p layout.Pointer, b []byte) {
	if s, ok := d.finder.String(int(site), b); ok {
		*layout.As[string](p) = s
	} else {
		*layout.As[string](p) = string(b)
	}
}
