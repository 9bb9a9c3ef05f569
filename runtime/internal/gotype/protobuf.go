// SPDX-License-Identifier: Apache-2.0

package gotype

import (
	"reflect"
	"strconv"
	"strings"
)

// ProtobufTag reads the tag written by go-to-protobuf: the encoding of the field, such as "bytes",
// and its number, which is 0 if it can't be read. ok is false for a field without a tag.
func ProtobufTag(f reflect.StructField) (encoding string, number int, ok bool) {
	tag, ok := f.Tag.Lookup("protobuf")
	if !ok || tag == "-" {
		return "", 0, false
	}
	encoding, rest, _ := strings.Cut(tag, ",")
	text, _, _ := strings.Cut(rest, ",")
	n, _ := strconv.ParseUint(text, 10, 29)
	return encoding, int(n), true
}
