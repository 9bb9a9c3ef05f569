// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informer-gen/informer-gen/runtime/internal/protowire"
	"github.com/informer-gen/informer-gen/runtime/object"
)

// unmarshaler is the method that Kubernetes generates for its types.
type unmarshaler interface{ Unmarshal([]byte) error }

// unmarshals reports whether a type has the method.
func unmarshals(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[unmarshaler]())
}

// unmarshal decodes msg into a new object, by the type's method or, for a projection, which has
// none of its own, by the numbers of its fields.
func (c *Codec) unmarshal(msg []byte, obj object.Object) error {
	if err := protowire.CheckDepth(msg); err != nil {
		return err
	}
	if c.projection {
		return readMessage(reflect.ValueOf(obj).Elem(), msg)
	}
	return obj.(protoMessage).Unmarshal(msg)
}

// isNumbered reports whether all fields have numbers, of a projection and of the structs in it that
// have no method.
func isNumbered(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	for f := range t.Fields() {
		if f.Type == reflect.TypeFor[metav1.TypeMeta]() || f.Type == reflect.TypeFor[object.NoMeta]() {
			continue
		}
		if numberOf(f) == 0 || !f.IsExported() {
			return false
		}
		elem := f.Type
		for !unmarshals(elem) && (elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Slice || elem.Kind() == reflect.Map) {
			elem = elem.Elem()
		}
		if elem.Kind() == reflect.Struct && !unmarshals(elem) && !isNumbered(elem, seen) {
			return false
		}
	}
	return true
}

// readMessage decodes the fields of a message into a struct, with the results of the methods that
// Kubernetes generates: fields may come in any order; of several values of one field the last one
// counts, but messages are merged, and lists and maps get longer. Fields that the struct doesn't
// have are skipped.
func readMessage(to reflect.Value, msg []byte) error {
	for len(msg) > 0 {
		f, rest, err := protowire.Next(msg)
		if err != nil {
			return err
		}
		if at := fieldNumbered(to.Type(), f.Tag>>3); at >= 0 {
			_, n := binary.Uvarint(msg)
			if err := readField(to.Field(at), f, msg[n:f.Size]); err != nil {
				return fmt.Errorf("field %s of %v: %w", to.Type().Field(at).Name, to.Type(), err)
			}
		}
		msg = rest
	}
	return nil
}

// fieldNumbered returns the index of the field with a number, or -1.
func fieldNumbered(t reflect.Type, number uint64) int {
	for i := range t.NumField() {
		if numberOf(t.Field(i)) == number {
			return i
		}
	}
	return -1
}

// readField decodes a value of a field; raw is the field without its tag.
func readField(to reflect.Value, f protowire.Field, raw []byte) error {
	if unmarshals(to.Type()) {
		return readValue(to, f, raw)
	}
	switch to.Kind() {
	case reflect.Pointer:
		if to.IsNil() || to.Type().Elem().Kind() != reflect.Struct {
			to.Set(reflect.New(to.Type().Elem()))
		}
		return readValue(to.Elem(), f, raw)
	case reflect.Map:
		return readEntry(to, f)
	case reflect.Slice:
		if to.Type().Elem().Kind() != reflect.Uint8 {
			return readElements(to, f, raw)
		}
	}
	return readValue(to, f, raw)
}

// readElements decodes an element of a list, or several numbers in one field.
func readElements(to reflect.Value, f protowire.Field, raw []byte) error {
	elem := to.Type().Elem()
	packed := f.Tag&7 == 2 && elem.Kind() >= reflect.Bool && elem.Kind() <= reflect.Float64
	if !packed {
		to.Set(reflect.Append(to, newValue(elem)))
		return readField(to.Index(to.Len()-1), f, raw)
	}
	for rest := f.Value; len(rest) > 0; {
		one := protowire.Field{Tag: f.Tag &^ 7}
		_, n := binary.Uvarint(rest)
		switch elem.Kind() {
		case reflect.Float32:
			one.Tag, n = one.Tag|5, 4
		case reflect.Float64:
			one.Tag, n = one.Tag|1, 8
		}
		if n <= 0 || n > len(rest) {
			return protowire.ErrField
		}
		to.Set(reflect.Append(to, reflect.Zero(elem)))
		if err := readValue(to.Index(to.Len()-1), one, rest[:n]); err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// readEntry decodes an entry of a map.
func readEntry(to reflect.Value, f protowire.Field) error {
	if f.Tag&7 != 2 {
		return errWireType
	}
	key, value := newValue(to.Type().Key()), newValue(to.Type().Elem())
	for rest := f.Value; len(rest) > 0; {
		part, after, err := protowire.Next(rest)
		if err != nil {
			return err
		}
		_, n := binary.Uvarint(rest)
		switch part.Tag >> 3 {
		case 1:
			err = readField(key, part, rest[n:part.Size])
		case 2:
			err = readField(value, part, rest[n:part.Size])
		}
		if err != nil {
			return err
		}
		rest = after
	}
	if to.IsNil() {
		to.Set(reflect.MakeMap(to.Type()))
	}
	to.SetMapIndex(key, value)
	return nil
}

// newValue returns an element of a list, or a key or value of a map, before it is decoded: a slice
// is empty then, and not nil.
func newValue(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	if t.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(t, 0, 0))
	}
	return v
}

var (
	errWireType = errors.New("the wire type is that of another type of field")
	errGoType   = errors.New("fields of this type can't be decoded from protobuf")
)

// wireTypes are those of the values that have no method of their own.
var wireTypes = map[reflect.Kind]uint64{
	reflect.Bool: 0, reflect.Int32: 0, reflect.Int64: 0, reflect.Uint32: 0, reflect.Uint64: 0, reflect.Float32: 5, reflect.Float64: 1,
	reflect.String: 2, reflect.Slice: 2, reflect.Struct: 2,
}

// readValue decodes one value.
func readValue(to reflect.Value, f protowire.Field, raw []byte) error {
	own := unmarshals(to.Type())
	want, ok := wireTypes[to.Kind()]
	switch {
	case own && f.Tag&7 == 2:
		return to.Addr().Interface().(unmarshaler).Unmarshal(f.Value)
	case !own && !ok:
		return errGoType
	case own || f.Tag&7 != want:
		return errWireType
	}
	switch number, _ := binary.Uvarint(raw); to.Kind() {
	case reflect.Bool:
		to.SetBool(number != 0)
	case reflect.Int32:
		to.SetInt(int64(int32(number)))
	case reflect.Int64:
		to.SetInt(int64(number))
	case reflect.Uint32:
		to.SetUint(uint64(uint32(number)))
	case reflect.Uint64:
		to.SetUint(number)
	case reflect.Float32:
		to.SetFloat(float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
	case reflect.Float64:
		to.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(raw)))
	case reflect.String:
		to.SetString(string(f.Value))
	case reflect.Slice:
		to.SetBytes(append([]byte{}, f.Value...))
	case reflect.Struct:
		return readMessage(to, f.Value)
	}
	return nil
}
