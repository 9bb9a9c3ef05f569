// SPDX-License-Identifier: Apache-2.0

package adopt

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/informer-gen/informer-gen/runtime/internal/layout"
)

// filler fills values of any type with random content, much of it equal.
type filler struct {
	r     *rand.Rand
	share float64 // the share of filled fields
	depth int
}

func (f *filler) fill(v reflect.Value) {
	if f.depth++; f.depth > 12 {
		f.depth--
		return
	}
	defer func() { f.depth-- }()
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = time.Unix(f.r.Int64N(4), 0).Local()
		if f.r.IntN(4) == 0 {
			*p = p.UTC()
		}
		return
	case *resource.Quantity:
		*p = *resource.NewMilliQuantity(f.r.Int64N(3), resource.DecimalSI)
		switch f.r.IntN(6) {
		case 0:
			*p = resource.MustParse("123456789012345678901234567890.5")
		case 1:
			*p = resource.MustParse("17") // caches its text
		}
		return
	case *any:
		*p = f.untyped(4)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && f.r.Float64() < f.share {
				f.fill(v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		n := f.r.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n+f.r.IntN(2)))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range f.r.IntN(4) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(f.r.Int64N(4))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(f.r.Uint64N(4))
	case reflect.Float64, reflect.Float32:
		v.SetFloat(f.r.Float64())
	}
}

func (f *filler) text() string {
	switch f.r.IntN(12) {
	case 0:
		return ""
	case 1:
		return fmt.Sprint("text-", f.r.Int64())
	case 2:
		return strings.Repeat("x", f.r.IntN(2*layout.MaxShort))
	case 3:
		return strings.Repeat("long", maxText/4+f.r.IntN(2))
	}
	return fmt.Sprint("word", f.r.IntN(4))
}

// untyped returns a value for an empty interface.
func (f *filler) untyped(depth int) any {
	switch n := f.r.IntN(12); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range f.r.IntN(4) {
			m[f.text()] = f.untyped(depth - 1)
		}
		return m
	case n < 5 && depth > 0:
		list := make([]any, 0, 4)
		for range f.r.IntN(4) {
			list = append(list, f.untyped(depth-1))
		}
		return list
	case n == 5:
		return nil
	case n == 6:
		return []any{map[string]any(nil), []any(nil), struct{ X *int }{new(7)}, []string{"other"}, map[string]string{"a": "b"}}[f.r.IntN(5)]
	case n == 7:
		return f.r.IntN(2) == 0
	case n == 8:
		return int64(f.r.IntN(3))
	case n == 9:
		return float64(f.r.IntN(3)) / 2
	}
	return f.text()
}
