// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// filler fills values of any type with random content, of which some is shared.
type filler struct {
	r     *rand.Rand
	depth int
	// seen has values that were made, by type, to be referred to again.
	seen map[reflect.Type][]reflect.Value
}

func newFiller(seed uint64) *filler {
	return &filler{r: rand.New(rand.NewPCG(seed, 7)), seen: map[reflect.Type][]reflect.Value{}}
}

func (f *filler) fill(v reflect.Value) {
	if f.depth++; f.depth > 10 {
		f.depth--
		return
	}
	defer func() { f.depth-- }()
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = []time.Time{{}, time.Unix(f.r.Int64N(1e10), f.r.Int64N(1e9)), time.Unix(-5, 0).UTC(), time.Unix(7, 7).In(time.FixedZone("east", 3600))}[f.r.IntN(4)]
		return
	case *resource.Quantity:
		*p = []resource.Quantity{
			resource.MustParse("123456789012345678901234567890.5"), resource.MustParse("17"), *resource.NewMilliQuantity(5, resource.BinarySI),
		}[f.r.IntN(3)]
		return
	case **bytes.Buffer: // can't be written
		return
	case *any:
		*p = f.free(4)
		return
	}
	switch k := v.Kind(); k {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() && f.r.IntN(3) > 0 {
				f.fill(v.Field(i))
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.String:
		if seen := f.seen[v.Type()]; len(seen) > 3 && f.r.IntN(2) == 0 {
			v.Set(seen[f.r.IntN(len(seen))])
			return
		}
		f.refer(v)
		f.seen[v.Type()] = append(f.seen[v.Type()], reflect.ValueOf(v.Interface()))
	case reflect.Bool:
		v.SetBool(f.r.IntN(2) == 0)
	case reflect.Float64, reflect.Float32:
		v.SetFloat(float64(f.r.IntN(9)) / 4)
	default:
		if v.CanInt() {
			v.SetInt([]int64{0, 1, -1, f.r.Int64(), math.MinInt64}[f.r.IntN(5)])
		} else if v.CanUint() {
			v.SetUint([]uint64{0, 1, f.r.Uint64()}[f.r.IntN(3)])
		}
	}
}

// refer sets a value that refers to others.
func (f *filler) refer(v reflect.Value) {
	n := f.r.IntN(4)
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			f.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range n {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			f.fill(key)
			f.fill(value)
			v.SetMapIndex(key, value)
		}
	case reflect.String:
		v.SetString(f.text())
	}
}

func (f *filler) text() string {
	return []string{"", "word", fmt.Sprint("text ", f.r.Int()), strings.Repeat("long ", f.r.IntN(500))}[f.r.IntN(4)]
}

// free returns what an empty interface may hold.
func (f *filler) free(depth int) any {
	switch n := f.r.IntN(10); {
	case n < 3 && depth > 0:
		m := map[string]any{}
		for range f.r.IntN(4) {
			m[f.text()] = f.free(depth - 1)
		}
		return f.again(m)
	case n < 5 && depth > 0:
		list := []any{}
		for range f.r.IntN(4) {
			list = append(list, f.free(depth-1))
		}
		return f.again(list[:len(list):len(list)])
	case n < 8:
		return []any{nil, true, false, int64(-3), 2.5, map[string]any(nil), []any(nil)}[f.r.IntN(7)]
	}
	return f.again(f.text())
}

// again returns v, or a value of the same type that was made earlier.
func (f *filler) again(v any) any {
	t := reflect.TypeOf(v)
	f.seen[t] = append(f.seen[t], reflect.ValueOf(v))
	return f.seen[t][f.r.IntN(len(f.seen[t]))].Interface()
}
