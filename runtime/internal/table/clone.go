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

// cloneKey returns a copy of key for an index to keep. It copies strings, including those in struct
// fields, array elements and interfaces, but not pointers and channels, because a key with a copy
// would not be equal.
func cloneKey(key any) any {
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
	cloneStrings(own)
	return own.Interface()
}

// cloneStrings copies the strings in v, which must be settable.
func cloneStrings(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(strings.Clone(v.String()))
	case reflect.Array:
		for i := range v.Len() {
			cloneStrings(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			// By its address, even an unexported field can be set.
			field := v.Field(i)
			cloneStrings(reflect.NewAt(field.Type(), field.Addr().UnsafePointer()).Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			v.Set(reflect.ValueOf(cloneKey(v.Elem().Interface())))
		}
	}
}

// resourceVersion keeps no object's text alive. The zero resourceVersion is "".
type resourceVersion struct {
	number uint64  // if it is decimal, as servers write it
	text   *string // any other string
}

func parseResourceVersion(text string) resourceVersion {
	if text == "" {
		return resourceVersion{}
	}
	if n, err := strconv.ParseUint(text, 10, 64); err == nil && text[0] != '0' {
		return resourceVersion{number: n}
	}
	own := strings.Clone(text)
	return resourceVersion{text: &own}
}

func (r resourceVersion) String() string {
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
func (r resourceVersion) olderThan(other resourceVersion) bool {
	if r.text == nil && other.text == nil {
		return r.number < other.number
	}
	a, b := r.String(), other.String()
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	return a < b
}
