// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

var (
	quantityType     = reflect.TypeFor[resource.Quantity]()
	timeType         = reflect.TypeFor[time.Time]()
	unstructuredType = reflect.TypeFor[unstructured.Unstructured]()
	freeFormType     = reflect.TypeFor[map[string]any]()
)

// compare returns the path of the first difference of two objects. Fields are compared in the order
// of the struct, elements in the order of the slice, and map entries by sorted keys. Quantities of
// one value and format are equal, whatever text they have cached. A nil slice or map differs from
// an empty one.
func compare(before, after runtime.Object) (path string, differ bool) {
	var w walk
	a, b := reflect.ValueOf(before), reflect.ValueOf(after)
	switch {
	case a.IsValid() != b.IsValid(): // one is nil
	case !a.IsValid() || !w.differ(a, b):
		return "", false
	}
	slices.Reverse(w.path)
	if path = strings.Join(w.path, ""); path == "" {
		path = "." // the object itself
	}
	return path, true
}

// Equal reports whether two objects have equal content, as a Detector compares it. It skips parts
// that both share.
func Equal(a, b runtime.Object) bool {
	_, differ := compare(a, b)
	return !differ
}

// walk is one comparison. It has a path only if there is a difference.
type walk struct {
	path []string // from the difference up
}

// under adds a segment to the path. It always returns true, so that differ can return its result.
func (w *walk) under(segment string) bool {
	w.path = append(w.path, segment)
	return true
}

// differ reports whether two values differ, and notes the path. The values have the same type,
// unless two interfaces hold them.
func (w *walk) differ(a, b reflect.Value) bool {
	if a.Type() != b.Type() {
		return true
	}
	var same bool
	switch a.Kind() {
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			return false
		}
		if a.IsNil() || b.IsNil() {
			return true
		}
		return w.differ(a.Elem(), b.Elem())
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() != b.IsNil()
		}
		return w.differ(a.Elem(), b.Elem())
	case reflect.Struct:
		return w.structs(a, b)
	case reflect.Slice:
		if a.IsNil() != b.IsNil() {
			return true
		}
		if a.Pointer() == b.Pointer() && a.Len() == b.Len() {
			return false
		}
		if a.Type().Elem().Kind() == reflect.Uint8 {
			same = bytes.Equal(a.Bytes(), b.Bytes())
			break
		}
		return w.elements(a, b)
	case reflect.Array:
		return w.elements(a, b)
	case reflect.Map:
		if a.IsNil() != b.IsNil() {
			return true
		}
		return a.Pointer() != b.Pointer() && w.maps(a, b)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		same = a.IsNil() == b.IsNil()
	case reflect.Float32, reflect.Float64:
		same = math.Float64bits(a.Float()) == math.Float64bits(b.Float())
	case reflect.String:
		same = a.String() == b.String()
	default: // the other basic types
		same = a.Equal(b)
	}
	return !same
}

func (w *walk) structs(a, b reflect.Value) bool {
	t := a.Type()
	switch t {
	case quantityType:
		if a.CanInterface() {
			// They are copies, because Cmp converts what it is called on.
			x, y := a.Interface().(resource.Quantity), b.Interface().(resource.Quantity)
			return x.Format != y.Format || x.Cmp(y) != 0
		}
	case timeType:
		// By fields: Equal would miss another time zone. A zone itself is immutable, apart from its
		// caches.
		for i := range t.NumField() {
			if !a.Field(i).Equal(b.Field(i)) {
				return true
			}
		}
		return false
	}
	for i := range t.NumField() {
		if t == quantityType && t.Field(i).Name == "s" {
			continue // its text, cached by String
		}
		if w.differ(a.Field(i), b.Field(i)) {
			return w.under(fieldSegment(t, i))
		}
	}
	return false
}

func (w *walk) elements(a, b reflect.Value) bool {
	for i := range max(a.Len(), b.Len()) {
		x, y := element(a, i), element(b, i)
		if x.IsValid() && y.IsValid() && !w.differ(x, y) {
			continue
		}
		return w.under("[" + strconv.Itoa(i) + "]")
	}
	return false
}

// element returns an invalid value for an index that v does not have.
func element(v reflect.Value, i int) reflect.Value {
	if i < v.Len() {
		return v.Index(i)
	}
	return reflect.Value{}
}

func (w *walk) maps(a, b reflect.Value) bool {
	if sameMap(a, b) {
		return false
	}
	keys := a.MapKeys()
	for _, key := range b.MapKeys() {
		if !a.MapIndex(key).IsValid() {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(keyText(x), keyText(y)) })
	for _, key := range keys {
		x, y := a.MapIndex(key), b.MapIndex(key)
		if x.IsValid() && y.IsValid() && !w.differ(x, y) {
			continue
		}
		return w.under(keySegment(a.Type(), key))
	}
	return false
}

// sameMap is a shortcut for maps that have not changed: it compares their entries in any order.
func sameMap(a, b reflect.Value) bool {
	if a.Len() != b.Len() {
		return false
	}
	var w walk
	for entries := a.MapRange(); entries.Next(); {
		other := b.MapIndex(entries.Key())
		if !other.IsValid() || w.differ(entries.Value(), other) {
			return false
		}
	}
	return true
}
