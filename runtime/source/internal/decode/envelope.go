// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/object"
	"github.com/informer-gen/informer-gen/runtime/source/internal/dropped"
)

// protoMessage has the methods that Kubernetes generates for its types. Unmarshal doesn't keep its
// argument.
type protoMessage interface {
	Reset()
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// isProtobuf reports whether objects of the type of sample can be decoded from Kubernetes'
// protobuf. Having the methods is not enough, because a type gets the methods of a struct that it
// embeds. So every field must have a number, and the methods must decode the whole object, not a
// part of it.
func isProtobuf(sample object.Object) bool {
	if _, ok := sample.(protoMessage); !ok {
		return false
	}
	t := reflect.TypeOf(sample).Elem()
	if t.Kind() != reflect.Struct {
		return false
	}
	for f := range t.Fields() {
		number := strings.Contains(f.Tag.Get("protobuf"), ",")
		if !number && f.Type != reflect.TypeFor[metav1.TypeMeta]() && f.IsExported() {
			return false
		}
	}
	meta := metav1.ObjectMeta{Name: "name", ResourceVersion: "1"}
	raw, err := meta.Marshal()
	if err != nil {
		return false
	}
	probe := reflect.New(t).Interface().(protoMessage)
	if err := probe.Unmarshal(appendBytes(nil, 1, raw)); err != nil {
		return false
	}
	obj := probe.(object.Object)
	return obj.GetName() == meta.Name && obj.GetResourceVersion() == meta.ResourceVersion
}

// protoBytes returns the tag of a length-delimited field.
func protoBytes(number int) uint64 { return uint64(number)<<3 | 2 }

func appendBytes(dst []byte, number int, value []byte) []byte {
	dst = binary.AppendUvarint(dst, protoBytes(number))
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// protoField is one field of a message. value is nil unless the field is length-delimited; size
// counts the whole field.
type protoField struct {
	tag   uint64
	value []byte
	size  int
}

// nextField splits the first field off a message that isn't empty.
func nextField(msg []byte) (f protoField, rest []byte, err error) {
	tag, n := binary.Uvarint(msg)
	if n <= 0 {
		return f, nil, errField
	}
	if err := checkNumber(tag); err != nil {
		return f, nil, err
	}
	rest = msg[n:]
	skip := 0
	switch tag & 7 {
	case 0:
		if _, skip = binary.Uvarint(rest); skip <= 0 {
			return f, nil, errField
		}
	case 1:
		skip = 8
	case 2:
		size, m := binary.Uvarint(rest)
		if m <= 0 || size > uint64(len(rest)-m) {
			return f, nil, errField
		}
		skip = m + int(size)
		f.value = rest[m:skip:skip]
	case 5:
		skip = 4
	default:
		return f, nil, errWireType(tag)
	}
	if skip > len(rest) {
		return f, nil, errField
	}
	f.tag, f.size = tag, n+skip
	return f, rest[skip:], nil
}

var errField = fmt.Errorf("%w: a protobuf field goes beyond the end of its message", ErrMalformed)

// checkNumber refuses tags with a field number that can't be declared.
func checkNumber(tag uint64) error {
	if number := int32(tag >> 3); number <= 0 {
		return fmt.Errorf("%w: a protobuf field has the number %d", ErrMalformed, number)
	}
	return nil
}

func errWireType(tag uint64) error {
	return fmt.Errorf("%w: protobuf field %d has wire type %d, which there isn't", ErrMalformed, tag>>3, tag&7)
}

func errNoPrefix(data []byte) error {
	return fmt.Errorf("%w: the object begins with %q, in Kubernetes' protobuf it would be %q", ErrMalformed, data, protoPrefix)
}

// malformed wraps an error of a generated Unmarshal method. An EOF of that method is not the end of
// the stream, so it is hidden.
func malformed(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: protobuf: %v", ErrMalformed, err)
}

// parseEnvelope reads the envelope of an object.
func parseEnvelope(data []byte) (e envelope, err error) {
	if !bytes.HasPrefix(data, []byte(protoPrefix)) {
		return e, errNoPrefix(data[:min(len(data), len(protoPrefix))])
	}
	for rest := data[len(protoPrefix):]; len(rest) > 0; {
		var f protoField
		if f, rest, err = nextField(rest); err != nil {
			return e, err
		}
		switch f.tag {
		case protoBytes(1):
			e.apiVersion, e.kind, err = parseTypeMeta(f.value)
		case protoBytes(2):
			e.raw = f.value
		case protoBytes(3):
			err = checkEncoding(f.value)
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

func parseTypeMeta(msg []byte) (apiVersion, kind string, err error) {
	for len(msg) > 0 {
		var f protoField
		if f, msg, err = nextField(msg); err != nil {
			return "", "", err
		}
		switch f.tag {
		case protoBytes(1):
			apiVersion = string(f.value)
		case protoBytes(2):
			kind = string(f.value)
		}
	}
	return apiVersion, kind, nil
}

func checkEncoding(encoding []byte) error {
	if len(encoding) == 0 {
		return nil
	}
	return fmt.Errorf("%w: the object is encoded as %q, which is not known", ErrMalformed, encoding)
}

// The numbers of fields of ObjectMeta.
const (
	protoAnnotations   = 12
	protoManagedFields = 17
)

// dropProto removes the dropped parts from an encoded object, in place, and returns the shorter
// object.
func dropProto(msg []byte, drop *dropped.Parts) ([]byte, error) {
	// fields only get shorter, so it never overwrites bytes that are still to be read
	kept := msg[:0]
	for rest := msg; len(rest) > 0; {
		field := rest
		f, after, err := nextField(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		if f.tag != protoBytes(1) {
			kept = append(kept, field[:f.size]...)
			continue
		}
		meta, err := dropProtoMeta(f.value, drop)
		if err != nil {
			return nil, err
		}
		kept = binary.AppendUvarint(binary.AppendUvarint(kept, f.tag), uint64(len(meta)))
		kept = append(kept, meta...)
	}
	return kept, nil
}

// dropProtoMeta does the same with the metadata.
func dropProtoMeta(meta []byte, drop *dropped.Parts) ([]byte, error) {
	kept := meta[:0]
	for rest := meta; len(rest) > 0; {
		field := rest
		f, after, err := nextField(rest)
		if err != nil {
			return nil, err
		}
		rest = after
		switch f.tag {
		case protoBytes(protoManagedFields):
			if drop.ManagedFields {
				continue
			}
		case protoBytes(protoAnnotations):
			if drop.Annotations != nil {
				key, err := mapKey(f.value)
				if err != nil {
					return nil, err
				}
				if drop.Annotations[string(key)] {
					continue
				}
			}
		}
		kept = append(kept, field[:f.size]...)
	}
	return kept, nil
}

// mapKey returns the key of a map entry, {1: key, 2: value}.
func mapKey(entry []byte) (key []byte, err error) {
	for len(entry) > 0 {
		var f protoField
		if f, entry, err = nextField(entry); err != nil {
			return nil, err
		}
		if f.tag == protoBytes(1) {
			key = f.value
		}
	}
	return key, nil
}
