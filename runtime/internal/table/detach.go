// SPDX-License-Identifier: Apache-2.0

package table

import (
	"reflect"
	"strconv"
	"strings"
)

// A string that stays in a table longer than its object must be a copy. Otherwise it keeps the
// object's text alive: a few bytes of a name may be part of a megabyte. This concerns index keys,
// which come from the first object that has them, and resourceVersions.

// detached returns a copy of key for an index to keep. It copies strings, including those in struct
// fields, array elements and interfaces, but not pointers and channels, because a key with a copy
// would not be equal.
func detached(key any) any {
	if text, ok := key.(string); ok {
		return strings.Clone(text)
	}
	from := reflect.ValueOf(key)
	switch from.Kind() {
	case reflect.String, reflect.Struct, reflect.Array:
	default:
		return key
	}
	own := reflect.New(from.Type()).Elem()
	own.Set(from)
	detach(own)
	return own.Interface()
}

// detach copies the strings in v, which must be settable.
func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(v.String()))
	case reflect.Array:
		for i := range v.Len() {
			detach(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// By its address, even an unexported field can be set.
			field := v.Field(i)
			detach(reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(reflect.ValueOf(detached(v.Elem().Interface())))
		}
	}
}

// revision is a resourceVersion that keeps no object's text alive. The zero revision is "".
type revision struct {
	number uint64  // if it is decimal, as servers write it
	text   *string // any other string
}

func revisionOf(text string) revision {
	if text == "" {
		return revision{}
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && text[0] != '0' {
		return revision{number: n}
	}
	own := strings.Clone(text)
	return revision{text: &own}
}

func (r revision) String() string {
	switch {
	case r.text != nil:
		return *r.text
	case r.number == 0:
		return ""
	}
	return strconv.FormatUint(r.number, 10)
}

// olderThan reports whether r is older than other. Both are decimal numbers without leading zeros
// (KEP-5504), or "", which is the oldest.
func (r revision) olderThan(other revision) bool {
	if r.text == nil && other.text == nil {
		return r.number < other.number
	}
	a, b := r.String(), other.String()
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
