// SPDX-License-Identifier: Apache-2.0

// Package protowire finds the ends of protobuf fields. It decodes nothing.
package protowire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Bytes returns the tag of a length-delimited field.
func Bytes(number int) uint64 { return uint64(number)<<3 | 2 }

// AppendBytes appends a length-delimited field to a message.
func AppendBytes(dst []byte, number int, value []byte) []byte {
	dst = binary.AppendUvarint(dst, Bytes(number))
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// Field is one field of a message.
type Field struct {
	Tag   uint64
	Value []byte // nil unless the field is length-delimited
	Size  int    // of the whole field
}

// Next splits the first field off a message that isn't empty.
func Next(msg []byte) (f Field, rest []byte, err error) {
	if len(msg) > 1 && msg[0]&0x87 == 2 && msg[0] > 7 && msg[1] < 0x80 { // as most are
		if n := 2 + int(msg[1]); n <= len(msg) {
			return Field{uint64(msg[0]), msg[2:n:n], n}, msg[n:], nil
		}
		return f, nil, ErrField
	}
	tag, n := binary.Uvarint(msg)
	if n <= 0 {
		return f, nil, ErrField
	}
	if err := CheckNumber(tag); err != nil {
		return f, nil, err
	}
	rest = msg[n:]
	skip := 0
	switch tag & 7 {
	case 0:
		if _, skip = binary.Uvarint(rest); skip <= 0 {
			return f, nil, ErrField
		}
	case 1:
		skip = 8
	case 2:
		size, m := binary.Uvarint(rest)
		if m <= 0 || size > uint64(len(rest)-m) {
			return f, nil, ErrField
		}
		skip = m + int(size)
		f.Value = rest[m:skip:skip]
	case 5:
		skip = 4
	default:
		return f, nil, WireTypeError(tag)
	}
	if skip > len(rest) {
		return f, nil, ErrField
	}
	f.Tag, f.Size = tag, n+skip
	return f, rest[skip:], nil
}

// ErrField is the error of an incomplete field.
var ErrField = errors.New("a protobuf field extends beyond the end of its message")

// CheckNumber refuses tags with a field number that can't be declared.
func CheckNumber(tag uint64) error {
	if number := int32(tag >> 3); number <= 0 {
		return fmt.Errorf("a protobuf field has the invalid number %d", number)
	}
	return nil
}

// WireTypeError returns the error for a tag with an unknown wire type.
func WireTypeError(tag uint64) error {
	return fmt.Errorf("protobuf field %d has the unknown wire type %d", tag>>3, tag&7)
}
