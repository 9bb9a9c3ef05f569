// SPDX-License-Identifier: Apache-2.0

package protodec

// uvarint reads a number and returns its length, or 0 if there is none.
func uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return longUvarint(b)
}

func longUvarint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 10 {
		c := b[n]
		v |= uint64(c&0x7f) << (7 * n)
		n++
		if c < 0x80 {
			if n == 10 && c > 1 {
				return 0, 0
			}
			return v, n
		}
	}
	return 0, 0
}

// delimited reads a length and returns the start and end of the bytes after it. end is 0 if b is
// too short.
func delimited(b []byte) (start, end int) {
	size, n := uvarint(b)
	if n == 0 || size > uint64(len(b)-n) {
		return 0, 0
	}
	return n, n + int(size)
}

// skip returns the length of a value of a wire type, or false if b is too short or the type belongs
// to groups.
func skip(b []byte, wire uint32) (n int, ok bool) {
	switch wire {
	case 0:
		_, n = uvarint(b)
		return n, n > 0
	case 1:
		return 8, len(b) >= 8
	case 2:
		_, n = delimited(b)
		return n, n > 0
	case 5:
		return 4, len(b) >= 4
	}
	return 0, false
}

// shortTag reads the tag at an index of b, and returns the index after it. The tag is 0 unless it
// has at most two bytes in its shortest form, as all tags of types do.
func shortTag(b []byte, at int) (tag uint32, next int) {
	tag, next = uint32(b[at]), at+1
	if tag < 0x80 {
		return tag, next
	}
	if next == len(b) || b[next] == 0 || b[next] >= 0x80 {
		return 0, next
	}
	return tag&0x7f | uint32(b[next])<<7, next + 1
}

// skipUnknown returns the index after an unknown field at an index of b. It returns -1 if the field
// is incomplete, or is one that Decode declines.
func skipUnknown(b []byte, at int, fields []field) int {
	tag, n := readTag(b[at:])
	if number := int(tag >> 3); n == 0 || number < len(fields) && fields[number].tag != 0 {
		return -1
	}
	size, ok := skip(b[at+n:], tag&7)
	if !ok {
		return -1
	}
	return at + n + size
}

// readTag reads a field's tag; n is 0 if there is none, or its number is 0 or larger than the
// generated methods handle.
func readTag(b []byte) (tag uint32, n int) {
	if len(b) > 0 && b[0] < 0x80 {
		tag, n = uint32(b[0]), 1
	} else {
		v, m := longUvarint(b)
		if v >= 1<<32 {
			return 0, 0
		}
		tag, n = uint32(v), m
	}
	if tag < 8 {
		return 0, 0
	}
	return tag, n
}

// hasTag reports whether b begins with the tag, in its shortest form.
func hasTag(b []byte, tag uint32) bool {
	if tag < 0x80 {
		return len(b) > 0 && b[0] == byte(tag)
	}
	return len(b) > 1 && b[0] == byte(tag)|0x80 && b[1] == byte(tag>>7)
}

func tagLen(tag uint32) int {
	if tag < 0x80 {
		return 1
	}
	return 2
}

// consecutive returns the number of fields with one tag at the start of b, and their total length.
// n is 0 if there is none, or if one is cut off.
func consecutive(b []byte, tag uint32) (n, size int) {
	for hasTag(b[size:], tag) {
		at := size + tagLen(tag)
		m, ok := skip(b[at:], tag&7)
		if !ok {
			return 0, 0
		}
		n, size = n+1, at+m
	}
	return n, size
}

// splitEntry reads an entry of a map, {1: key, 2: value}, in this order. Either may be missing.
func splitEntry(b []byte, valueWire uint32) (key, value []byte, ok bool) {
	if hasTag(b, 1<<3|2) {
		start, end := delimited(b[1:])
		if end == 0 {
			return nil, nil, false
		}
		key, b = b[1+start:1+end], b[1+end:]
	}
	if hasTag(b, 2<<3|valueWire) {
		n, ok := skip(b[1:], valueWire)
		if !ok {
			return nil, nil, false
		}
		start := 0
		if valueWire == 2 {
			start, _ = delimited(b[1:])
		}
		value, b = b[1+start:1+n], b[1+n:]
	}
	return key, value, len(b) == 0
}
