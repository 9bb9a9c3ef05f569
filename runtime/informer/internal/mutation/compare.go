// SPDX-License-Identifier: Apache-2.0

package mutation

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
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

// Equal reports whether two objects have equal content. It skips parts shared by both.
func Equal(a, b runtime.Object) bool {
	_, differ := compare(a, b)
	return !differ
}

// compare returns the path of the first difference of two objects. Fields are compared in the order
// of the struct, elements in the order of the slice; among map entries that differ, the lowest key
// counts. Quantities of one value and format are equal, whatever text they have cached. A nil slice
// or map differs from an empty one.
func compare(a, b runtime.Object) (path string, differ bool) {
	path, differ = difference(reflect.ValueOf(a), reflect.ValueOf(b))
	if differ && path == "" {
		path = "." // the object itself
	}
	return path, differ
}

// difference is compare for any values, whose types may differ.
func difference(a, b reflect.Value) (path string, differ bool) {
	if a.Type() != b.Type() {
		return "", true
	}
	switch a.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map, reflect.Func:
		if a.IsNil() || b.IsNil() {
			return "", a.IsNil() != b.IsNil()
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			return "", false
		}
		return difference(a.Elem(), b.Elem())
	case reflect.Interface:
		return difference(a.Elem(), b.Elem())
	case reflect.Struct:
		return structDifference(a, b)
	case reflect.Slice:
		switch {
		case a.Pointer() == b.Pointer() && a.Len() == b.Len():
			return "", false
		case a.Type().Elem().Kind() == reflect.Uint8:
			return "", !bytes.Equal(a.Bytes(), b.Bytes())
		}
		return elementDifference(a, b)
	case reflect.Array:
		return elementDifference(a, b)
	case reflect.Map:
		if a.Pointer() == b.Pointer() {
			return "", false
		}
		return mapDifference(a, b)
	case reflect.Func:
		return "", false
	}
	return "", !a.Equal(b)
}

func structDifference(a, b reflect.Value) (path string, differ bool) {
	t := a.Type()
	switch {
	case t == timeType:
		return "", !a.Equal(b) // with its zone
	case t == quantityType && a.CanInterface():
		// Copies, because Cmp converts its receiver.
		x, y := a.Interface().(resource.Quantity), b.Interface().(resource.Quantity)
		return "", x.Format != y.Format || x.Cmp(y) != 0
	}
	for i := range t.NumField() {
		if path, differ := difference(a.Field(i), b.Field(i)); differ {
			return fieldSegment(t, i) + path, true
		}
	}
	return "", false
}

func elementDifference(a, b reflect.Value) (path string, differ bool) {
	both := min(a.Len(), b.Len())
	for i := range both {
		if path, differ := difference(a.Index(i), b.Index(i)); differ {
			return fmt.Sprintf("[%d]%s", i, path), true
		}
	}
	return fmt.Sprintf("[%d]", both), a.Len() != b.Len()
}

func mapDifference(a, b reflect.Value) (path string, differ bool) {
	lowest := ""
	found := func(key reflect.Value, rest string) {
		if text := fmt.Sprint(key); !differ || text < lowest {
			lowest, path, differ = text, keySegment(a.Type(), key)+rest, true
		}
	}
	for entries := a.MapRange(); entries.Next(); {
		if other := b.MapIndex(entries.Key()); !other.IsValid() {
			found(entries.Key(), "")
		} else if rest, differ := difference(entries.Value(), other); differ {
			found(entries.Key(), rest)
		}
	}
	if a.Len() == b.Len() && !differ {
		return "", false // no key is in b only
	}
	for entries := b.MapRange(); entries.Next(); {
		if !a.MapIndex(entries.Key()).IsValid() {
			found(entries.Key(), "")
		}
	}
	return path, differ
}

// fieldSegment returns "." and the field's JSON name, or its Go name if it has none; "" for a field
// inlined by JSON.
func fieldSegment(t reflect.Type, i int) string {
	field := t.Field(i)
	name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name != "" && name != "-":
		return "." + name
	case field.Anonymous, strings.Contains(options, "inline"), t == unstructuredType:
		return ""
	}
	return "." + field.Name
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keySegment returns ["key"] or, in free-form JSON, whose maps are objects, .key if key is an
// identifier.
func keySegment(t reflect.Type, key reflect.Value) string {
	switch {
	case key.Kind() != reflect.String:
		return fmt.Sprintf("[%v]", key)
	case t == freeFormType && identifier.MatchString(key.String()):
		return "." + key.String()
	}
	return fmt.Sprintf("[%q]", key.String())
}
